// A page to read: each view plays what the page keeps for it, all code unfolds with one button.
document.querySelectorAll(".view").forEach((place, i) => {
  const values = unpacked(place.querySelector("script").textContent);
  const model = modelOf(values, programs[place.dataset.program]);
  widgets[place.dataset.widget].render({ model, el: place });
  const view = place.querySelector("section"); // who hears the page tells them apart by number
  view?.setAttribute("aria-label", `${view.getAttribute("aria-label") ?? ""} ${i + 1}`);
});

const code = [...document.querySelectorAll("details.code")];
const unfold = (open) => code.forEach((each) => { each.open = open; });
const button = document.querySelector(".all-code");
button?.addEventListener("click", () => {
  const open = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(open));
  unfold(open);
});

// What answers a prediction, text and all, stays folded until the reader has chosen; it opens at once.
// Without a script it is open.
const held = [...document.querySelectorAll(".held")];
let question, answer;
for (const each of document.querySelectorAll(".mg-ask:not(.held *), .held")) {
  if (!held.includes(each)) [question, answer] = [each, []];
  else {
    const all = answer;
    each.open = false;
    each.classList.toggle("rest", all.push(each) > 1);
    const open = () => { for (const one of all) one.open = true; };
    each.addEventListener("toggle", () => { if (each.open) open(); reach(); });
    question.addEventListener("toggle", open, { capture: true, once: true });
  }
}

// The parts of the page are in its margin, where it has one; the one that is being read is marked.
const parts = document.querySelector(".parts details");
const margin = matchMedia("(min-width: 1240px)");
const lay = () => { if (parts) parts.open = margin.matches; };
margin.addEventListener("change", lay);
lay();
const links = new Map([...document.querySelectorAll(".parts a")].map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
const heads = [...document.querySelectorAll("h2[id]")].filter(({ id }) => links.has(id));
const mark = () => {
  const read = heads.findLast((head) => head.getBoundingClientRect().top < innerHeight / 3);
  for (const [id, a] of links) id === read?.id ? a.setAttribute("aria-current", "true") : a.removeAttribute("aria-current");
};
addEventListener("scroll", mark, { passive: true });
mark();

// What scrolls sideways can be reached and scrolled with the keys.
const reach = () => document.querySelectorAll(".shown, .prose :is(p:has(> img), table)").forEach((each) => {
  if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
  else each.removeAttribute("tabindex");
});
addEventListener("resize", reach);
addEventListener("load", reach);
reach();

// No line of a question or of a heading ends within an equation or a shape.
document.querySelectorAll(".mg-ask-question, h2, h3").forEach((head) => {
  const texts = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    if (!text.parentElement.closest("code")) text.data = text.data.replace(/ (?=[=*×+−<>] )|(?<= [=*×+−<>]) |(?<=\(-?\d,) (?=-?\d)/g, "\u00a0");
  }
});

// Nor does one begin with the mark after code.
document.querySelectorAll(".mg-ask code").forEach((code) => {
  const after = code.nextSibling;
  const [mark] = /^[.,:;?!)，。：；？！）、]+/.exec(after?.data ?? "") ?? [];
  if (!mark) return;
  const kept = document.createElement("span");
  kept.className = "mg-ask-kept";
  code.before(kept);
  kept.append(code, mark);
  after.data = after.data.slice(mark.length);
});

// Pictures play once; another address of the same picture plays it again. Those who ask for less
// motion have the end before them until they press: an image doesn't hear what its page is told.
const MOVES = "(prefers-reduced-motion: no-preference)";
const calm = !matchMedia(MOVES).matches;
document.querySelectorAll(".again").forEach((again) => {
  const forms = [...again.closest("p").querySelectorAll("source, img")].map((form) => {
    const name = form.localName === "img" ? "src" : "srcset";
    const svg = atob(form[name].split(/;base64,/)[1]);
    return { form, name, svg, ends: Math.max(...[...svg.matchAll(/(?:duration|delay):([\d.]+)s/g)].map((found) => Number(found[1]))) };
  });
  let count = 0;
  const play = (when) => {
    for (const { form, name, svg } of forms) form[name] = `data:image/svg+xml;play=${count};base64,${btoa(svg.replaceAll(MOVES, when))}`;
  };
  if (calm) play("not all");
  else {
    again.style.visibility = "hidden"; // nothing is said of again before it is over
    setTimeout(() => { again.style.visibility = ""; }, 1000 * Math.max(...forms.map(({ ends }) => ends)));
  }
  again.addEventListener("click", () => {
    count += 1;
    play("all");
  });
});

// On paper all code is open, and nothing is held back.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...code, ...held].filter((each) => !each.open);
  folded.forEach((each) => { each.open = true; });
});
addEventListener("afterprint", () => folded.forEach((each) => { each.open = false; }));
