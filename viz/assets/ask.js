// Questions: radio buttons or lines to put in order. The kernel judges, this file only shows.
let count = 0;
const EQUATION = / (?=[=*×+−<>] )|(?<= [=*×+−<>]) |(?<=\(-?\d,) (?=-?\d)/g; // spaces in an equation or a shape, at which no line ends
const TICKED = /`([^`]*)`([.,:;?!)，。：；？！）、]*)/; // code, and the mark after it, with which no line begins

// Text in both languages; what stands between backticks is code. Nothing is parsed as HTML.
function speak(parent, pair, tag = "span") {
  const halves = pair[0] === pair[1] ? [[null, pair[0]]] : [["en", pair[0]], ["zh", pair[1]]];
  for (const [lang, text] of halves) {
    const part = document.createElement(tag);
    if (lang) part.lang = lang;
    let kept = part;
    text.split(TICKED).forEach((piece, i) => {
      if (i % 3 === 1) {
        kept = make("span", "mg-ask-kept", part);
        make("code", "", kept).textContent = piece;
      } else if (i % 3) kept.append(piece);
      else part.append(parent.localName === "legend" ? piece.replace(EQUATION, "\u00a0") : piece);
    });
    parent.append(part);
  }
  return parent;
}

function make(tag, className, parent) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  // arrows and Enter are for the element in focus, not for Jupyter's own shortcuts
  if (tag === "input" || tag === "button") element.dataset.lmSuppressShortcuts = "true";
  parent?.append(element);
  return element;
}

function button(parent, pair, action) {
  const made = speak(make("button", "", parent), pair);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}

function choices(box, question, labels, answer, send) {
  const name = `mg-ask-${count++}`;
  let chosen = answer;
  question.options.forEach((text, i) => {
    const letter = String.fromCharCode(65 + i);
    const line = make("label", "mg-ask-option", box);
    const radio = make("input", "", line);
    Object.assign(radio, { type: "radio", name, value: letter, checked: answer === letter });
    radio.addEventListener("change", () => { chosen = letter; });
    make("b", "", line).textContent = letter;
    speak(make("span", "mg-ask-text", line), text);
    verdictPlace(box);
  });
  button(box, labels.ask_check, () => chosen && send(chosen));
}

function verdictPlace(box) {
  make("div", "mg-ask-verdict", box).setAttribute("aria-live", "polite");
}

function lines(box, question, labels, answer, send) {
  const order = Array.isArray(answer) ? [...answer] : [];
  const part = (label) => {
    const title = speak(make("p", "mg-ask-part", box), label);
    title.id = `mg-ask-${count++}`;
    const list = make("ul", "", box);
    list.setAttribute("aria-labelledby", title.id);
    return list;
  };
  const [left, mine] = [part(labels.ask_lines), part(labels.ask_yours)];
  const row = (list, number, label, action) => {
    const item = make("li", "", list);
    make("b", "", item).textContent = number;
    make("code", "", item).textContent = question.lines[number - 1];
    const code = question.lines[number - 1];
    button(item, label, action).title = code;
  };
  const show = () => {
    left.replaceChildren();
    mine.replaceChildren();
    question.lines.forEach((_, i) => {
      if (order.includes(i + 1)) return;
      row(left, i + 1, labels.ask_add, () => { order.push(i + 1); show(); focusOn(left); });
    });
    order.forEach((number, place) => {
      row(mine, number, labels.ask_remove, () => { order.splice(place, 1); show(); focusOn(mine); });
    });
  };
  // the pressed button is gone: its neighbour takes the focus, so that the keyboard can go on
  const focusOn = (list) => (list.querySelector("button") ?? check).focus();
  show();
  const check = button(box, labels.ask_check, () => order.length && send([...order]));
  verdictPlace(box);
}

function render({ model, el }) {
  const labels = model.get("labels");
  const boxes = model.get("questions").map((question, i) => {
    const box = make("fieldset", "mg-ask", el);
    const legend = make("legend", "", box);
    make("span", "mg-ask-id", legend).textContent = `${question.id} `;
    speak(legend, question.text);
    const kind = question.lines.length ? lines : choices;
    kind(box, question, labels, model.get("answers")[i], (answer) => {
      const answers = [...model.get("answers")];
      answers[i] = answer;
      model.set("answers", answers);
      model.save_changes();
    });
    return box;
  });
  const show = () => {
    model.get("verdicts").forEach((verdict, i) => {
      const right = verdict ? String(verdict.right) : "";
      const chosen = boxes[i].querySelector(`input[value="${model.get("answers")[i]}"]`)?.parentElement;
      for (const option of boxes[i].querySelectorAll("label")) option.dataset.right = option === chosen ? right : "";
      const places = [...boxes[i].querySelectorAll(".mg-ask-verdict")];
      for (const place of places) place.replaceChildren();
      if (!verdict) return;
      const place = chosen?.nextElementSibling ?? places.at(-1);
      place.dataset.right = right;
      const word = make("b", "", place);
      word.append(verdict.right ? "✓ " : "✗ ");
      speak(word, verdict.right ? labels.right : labels.wrong);
      place.append(" ");
      speak(place, verdict.text);
    });
  };
  model.on("change:verdicts", show);
  show();
  return () => model.off("change:verdicts", show);
}

export default { render };
