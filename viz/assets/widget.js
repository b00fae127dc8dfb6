// What all widgets of frames use: elements, keys, buttons.
const SVG = "http://www.w3.org/2000/svg";
const TIES = / (?=[%✗!*](?:[ ,，。；]|$))|(?<= [*]) |(?<=\d\)?) (?=[×+−=] [-(\d])|(?<=\d\)? [×+−=]) (?=[-(\d])|(?<=\d) (?=[个份] ?[\u4e00-\u9fff])/g; // spaces at which no line ends
const PHRASES = /(?<=[，。：；、！？])(?![，。：；、！？）]|$)|(?=（)/; // after and before which a Chinese line may end, if it has to
const PATIENCE = 700; // milliseconds for which a player is seen at rest before it plays

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {string} className @param {Element | null} [parent]
 * @returns {HTMLElementTagNameMap[T]}
 */
function make(tag, className, parent) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (parent) parent.append(element);
  if (["button", "input", "section"].includes(tag)) mine(element);
  return element;
}

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag @param {Record<string, unknown>} attributes @param {Element | null} [parent]
 */
function shape(tag, attributes, parent) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  parent?.append(element);
  return element;
}

const AROUND = 4; // pixels between the border of a card and its halo

/** What a card is lit with from outside: while it happens, or has the focus. @param {Element} g */
function halo(g) {
  const card = g.querySelector(".mg-card");
  if (!card || g.querySelector(".mg-halo")) return;
  const [wide, high, round] = ["width", "height", "rx"].map((name) => Number(card.getAttribute(name)));
  const size = { width: wide + 2 * AROUND, height: high + 2 * AROUND, rx: round + AROUND };
  card.after(shape("rect", { class: "mg-halo", x: -AROUND, y: -AROUND, ...size }));
}

/** Both halves of a word in a drawing, of which a page shows one, or both. @param {Pair} word @param {Element} parent */
function bilingual(word, parent) {
  word.forEach((half, i) => {
    if (i) parent.append(" ");
    shape("tspan", { lang: i ? "zh" : "en" }, parent).textContent = half;
  });
}

/** What cards say of themselves, and its class. @type {WeakMap<Element, [ChildNode[], string]>} */
const OWN = new WeakMap();

/** What became of a card, in place of the word for what it is. @param {Element} g @param {Pair | false | undefined} word */
function reword(g, word) {
  const what = /** @type {SVGElement | null} */ (g.querySelector(":is(.mg-what, .mg-word)")); // an arrow has none
  if (!what) return;
  const [own, kind] = OWN.get(what) ?? [[...what.childNodes], what.getAttribute("class") ?? ""];
  OWN.set(what, [own, kind]);
  what.setAttribute("class", word ? "mg-word" : kind);
  what.replaceChildren(...(word ? [`${own[0].textContent?.[0]} `] : own)); // its sign stays
  if (word) bilingual(word, what);
}

/** JupyterLab leaves the keys to the focused element only if that very element says so. @param {Element} element */
function mine(element) {
  element.setAttribute("data-lm-suppress-shortcuts", "true");
}

/** What scrolls, or is drawn on, is reached by keys. @template {HTMLElement} T @param {T} element */
function scrolls(element) {
  element.tabIndex = 0;
  mine(element);
  return element;
}

/** Whether the reader wants nothing to move. */
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** @param {string} sign @param {string} label @param {Element} parent @param {() => void} action */
function button(sign, label, parent, action) {
  const b = make("button", "", parent);
  b.type = "button";
  b.textContent = sign;
  b.setAttribute("aria-label", label);
  b.title = label;
  b.addEventListener("click", action);
  return b;
}

/**
 * Words in both languages, each marked with its own; halves that are the same are written once.
 * @param {Element} parent @param {Pair | null | undefined} pair
 * @param {keyof HTMLElementTagNameMap} [tag]
 */
function say(parent, pair, tag = "span") {
  if (!pair) return parent;
  const halves = pair[0] === pair[1] ? [["", pair[0]]] : [["en", pair[0]], ["zh", pair[1]]];
  halves.forEach(([lang, text], i) => {
    if (i) parent.append(" ");
    const part = make(tag, "", parent);
    if (lang) part.lang = lang;
    const phrases = text.replace(TIES, "\u00a0").split(lang === "zh" ? PHRASES : /(?<=: )(?=∂\S+\/∂)/);
    if (phrases.length < 2) part.textContent = phrases[0];
    else for (const phrase of phrases) {
      make("span", "mg-phrase", part).textContent = phrase.trimEnd();
      if (/ $/.test(phrase)) part.append(" "); // within it, none is seen at its end
    }
  });
  return parent;
}

/**
 * A place that is as high as the highest of what will be written in it, so that nothing below moves.
 * @template T
 * @param {string} className @param {Element} parent @param {(parent: HTMLElement, content: T) => unknown} write
 */
function steady(className, parent, write) {
  const box = make("div", `mg-sized ${className}`, parent);
  const hidden = make("div", "mg-sizes", box);
  hidden.setAttribute("aria-hidden", "true");
  return {
    box,
    place: make("div", "", box),
    /** @param {T[]} all what will be written */
    fit(all) {
      hidden.replaceChildren();
      const different = new Map(all.map((content) => [JSON.stringify(content), content]));
      for (const content of different.values()) write(make("div", "", hidden), content);
    },
  };
}

/**
 * The last of [step, what] that happened by now.
 * @template T
 * @param {[number, T][] | undefined} entries @param {number} index
 * @returns {T | undefined}
 */
function latest(entries, index) {
  let found;
  for (const entry of entries ?? []) if (entry[0] <= index) found = entry;
  return found?.[1];
}

/**
 * Both halves on one line, for an attribute, which no style rule reaches; on a page to read, which
 * speaks one language, that half. @param {Pair} pair
 */
const halves = ([en, zh]) => {
  const only = document.body.dataset.mgOnly;
  if (only) return only === "zh" ? zh : en;
  return en === zh ? en : `${en} / ${zh}`;
};

/** Milliseconds of a step, so that a long film does not last for ever. @param {number} last @param {number} [slow] */
const pace = (last, slow = 900) => Math.max(90, Math.min(slow, 20_000 / last));

/**
 * Buttons, a slider, a counter and the keys that go from step to step, or play them all. The widget
 * says where it is (`at`, `last`) and goes there (`show`; it jumps where the slider was dragged, and
 * it is not touched where it plays by itself, and ends where it rests). Where it is `fresh`, at its
 * end, the first step begins anew.
 * @param {Element} controls @param {Labels} labels @param {string} title @param {number} pace
 * @param {Steps} place @param {Element} [track] where the slider is
 */
function stepper(controls, labels, title, pace, { at, last, rest = last, show, words, fresh = () => false }, track = controls) {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  const go = (/** @type {number} */ to, jump = false, touched = true) =>
    show(Math.max(0, Math.min(last(), to)), jump, touched);
  let ended = () => {};
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    mark();
    ended();
  };
  const start = (touched = true, then = () => {}) => {
    ended = then;
    const goal = touched ? last() : rest();
    if (at() === last() || !touched) go(0, true, touched);
    timer = setInterval(() => {
      const on = at() < last();
      go(on ? at() + 1 : goal, !on, touched);
      if (!on || (at() === last() && goal === last())) stop();
    }, pace);
    mark();
  };
  const by = (/** @type {() => number} */ to) => () => {
    stop();
    go(to());
  };
  const anew = () => fresh() && at() === last();
  /** @type {Keys} */
  const keys = {
    ArrowRight: by(() => (anew() ? 1 : at() + 1)),
    ArrowLeft: by(() => at() - 1),
    Home: by(() => 0),
    End: by(last),
    " ": () => (timer ? stop() : start()),
  };
  const buttons = make("div", "mg-buttons", controls);
  button("|←", labels.first, buttons, keys.Home);
  button("←", labels.back, buttons, keys.ArrowLeft);
  const playing = button("", labels.play, buttons, keys[" "]);
  playing.classList.add("mg-play");
  const faces = ["∥", "▶", "▶"].map((sign, i) => {
    const face = make("span", "", playing);
    face.append(sign);
    if (i === 2 && words) say(face, [` ${words.replay[0]}`, ` ${words.replay[1]}`]);
    return face;
  });
  button("→", labels.forward, buttons, keys.ArrowRight);
  button("→|", labels.last, buttons, keys.End);
  const slider = make("input", "mg-steps", track);
  slider.type = "range";
  slider.min = "0";
  slider.setAttribute("aria-label", title);
  slider.addEventListener("input", () => {
    stop();
    go(Number(slider.value), true);
  });
  slider.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight" && anew()) keys.ArrowRight(); // it stands at its end
  });
  const counter = make("output", "", controls);
  // The three stand in one place, so that the button never changes its size.
  function mark() {
    const now = timer ? 0 : at() < last() ? 1 : 2;
    faces.forEach((face, i) => { face.style.visibility = i === now ? "visible" : "hidden"; });
  }
  return {
    go,
    keys,
    start,
    stop,
    fresh,
    plays: () => timer !== undefined,
    end: () => go(rest(), true, false),
    /** @param {string} said @param {string} [place] */
    tell(said, place) {
      slider.max = String(last());
      slider.value = String(at());
      slider.setAttribute("aria-valuetext", `${at()}: ${said}`);
      const all = make("span", last() < 10 ? "" : last() < 1000 ? "mg-many-steps" : "mg-most"); // of which a phone has no room for so many
      all.textContent = ` / ${last()}`;
      counter.replaceChildren(...(place ? [place] : [String(at()), all]));
      counter.classList.toggle("mg-few", !place);
      mark();
    },
    leave: () => clearInterval(timer),
  };
}

/**
 * Play once when most of it is seen, and end where it rested: unless the reader was there
 * first or wants nothing to move. Only one player at a time does so.
 * @param {HTMLElement} root @param {HTMLElement} told what is read aloud of it
 * @param {ReturnType<typeof stepper>} steps
 * @returns {() => void} what ends it
 */
function onceSeen(root, told, steps) {
  if (calm()) return () => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  const begin = () => {
    if (!steps.fresh()) return leave();
    if (document.querySelector(".mg-playing")) return wait();
    root.classList.add("mg-playing");
    told.setAttribute("aria-live", "off");
    steps.start(false, leave);
  };
  const wait = () => { waiting = setTimeout(begin, PATIENCE); };
  const watch = new IntersectionObserver(([entry]) => {
    const seen = entry.intersectionRatio > 0.6;
    clearTimeout(waiting);
    if (seen && !steps.plays()) wait();
    if (!seen && steps.plays()) {
      steps.stop();
      steps.end();
    }
  }, { threshold: [0, 0.6] });
  const touched = () => {
    if (steps.plays()) steps.stop();
    leave();
  };
  function leave() {
    clearTimeout(waiting);
    watch.disconnect();
    root.classList.remove("mg-playing");
    told.setAttribute("aria-live", "polite");
    for (const event of ["pointerdown", "keydown"]) root.removeEventListener(event, touched, true);
  }
  for (const event of ["pointerdown", "keydown"]) root.addEventListener(event, touched, true);
  watch.observe(root);
  return leave;
}

/** @param {Element} element @param {string} label */
function region(element, label) {
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", label);
}

/**
 * A button that opens a panel above what is drawn; it closes again by the button, by Escape, or by a
 * click elsewhere, and nothing moves.
 * @param {string} sign @param {string} label @param {Element} tools @param {HTMLElement} parent
 * @param {(panel: HTMLElement) => void} fill when it opens for the first time
 */
function overlay(sign, label, tools, parent, fill) {
  const panel = scrolls(make("div", "mg-overlay", parent));
  region(panel, label);
  panel.hidden = true;
  const show = (/** @type {boolean} */ open) => {
    if (open && !panel.firstChild) fill(panel);
    panel.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
  };
  const opener = button(sign, label, tools, () => show(panel.hidden === true));
  show(false);
  parent.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || panel.hidden) return;
    event.stopPropagation();
    show(false);
    opener.focus();
  });
  parent.addEventListener("click", (event) => {
    const inside = event.target instanceof Node && (panel.contains(event.target) || opener.contains(event.target));
    if (!inside && !panel.hidden) show(false);
  });
  return opener;
}

/**
 * Inputs that the reader moves; in a saved page there is no kernel that could follow. The widget says
 * what it knows without the kernel. Returns what moves them to where the inputs are that are shown.
 * @param {Model} model @param {{sliders: SliderData[], labels: Labels, words: Words}} data
 * @param {Element} parent @param {(values: number[]) => boolean} [known]
 */
function movable(model, { sliders, labels, words }, parent, known = () => false) {
  region(parent, labels.inputs);
  const fields = sliders.map((about) => {
    const field = make("label", "", parent);
    say(make("span", "", field), typeof about.label === "string" ? [about.label, about.label] : about.label);
    const input = make("input", "", field);
    input.type = "range";
    input.min = String(about.low);
    input.max = String(about.high);
    input.step = String(about.step);
    input.value = String(about.value);
    const shown = make("output", "", field);
    const show = (/** @type {number | string} */ value) => {
      shown.textContent = String(Number(Number(value).toPrecision(4)));
    };
    show(about.value);
    input.disabled = !(model.widget_manager || model.kept);
    input.addEventListener("input", () => {
      show(input.value);
      const values = fields.map((f) => Number(f.input.value));
      if (known(values)) return;
      model.set("inputs", values);
      model.save_changes();
    });
    return { input, show };
  });
  if (fields.length && fields[0].input.disabled) say(make("span", "mg-note", parent), words.need_kernel);
  return (/** @type {number[]} */ values) => {
    if (parent.contains(document.activeElement)) return; // the reader moves them now
    fields.forEach(({ input, show }, i) => {
      input.value = String(values[i]);
      show(values[i]);
    });
  };
}

/**
 * What the keys do in a widget, but for those that a button or a field in it wants for itself.
 * @param {HTMLElement} root @param {() => Keys} keys
 */
function listen(root, keys) {
  root.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const target = /** @type {HTMLElement & {type?: string}} */ (event.target);
    const move = keys()[event.key];
    const pressed = ["BUTTON", "SUMMARY"].includes(target.tagName) || target.type === "checkbox";
    if (!move || (event.key === " " ? pressed : target.tagName === "INPUT")) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  });
}

/**
 * A reference beside a reader leads to the card of the value that it names, and shows which it is.
 * @param {Element} box @param {(id: string) => void} lead
 * @param {(ids: string[], on: boolean) => void} [point]
 */
function referring(box, lead, point = () => {}) {
  for (const ref of /** @type {NodeListOf<SVGGElement>} */ (box.querySelectorAll(".mg-ref"))) {
    const ids = (ref.getAttribute("data-of") ?? "").split(" ");
    ref.setAttribute("role", "link");
    ref.setAttribute("tabindex", "-1");
    ref.setAttribute("aria-label", ref.querySelector("title")?.textContent ?? "");
    mine(ref);
    ref.addEventListener("click", (event) => {
      event.stopPropagation(); // it is no click on the arrow
      lead(ids[0]);
    });
    ref.addEventListener("keydown", (event) => {
      if (event.key === "Enter") lead(ids[0]);
    });
    ref.addEventListener("pointerenter", () => point(ids, true));
    ref.addEventListener("pointerleave", () => point(ids, false));
  }
}
