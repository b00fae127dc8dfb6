// The page: two lanes that compute the same, one by a tape, one by a program; and what one can do.

const find = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const dark = matchMedia("(prefers-color-scheme: dark)");
const PAUSE = 420; // ms between the steps when it is slow, and at least between two entrances
const LANES = ["dynamic", "static"];
const OPENING = [[4.6, 3.6], [6.1, 2.2], [8.3, 1.8], [10.3, 2.8], [10.5, 4.7], [9, 6.1], [7, 6.5], [9.4, 6.9], [11, 8.4], [10.7, 10.5], [8.7, 11.8], [6.3, 11.7], [4.4, 10.5]];

// ---- What is given: words, networks, stored digits --------------------------------------------

const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

// The parameters come as float16, which not every browser can read.
function fromHalf(bits) {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

const NETWORKS = Object.fromEntries(Object.entries(PROGRAMS).map(([name, { cards, operators, programs }]) => {
  const parameters = Object.fromEntries(Object.entries(GIVEN.parameters[name]).map(([key, { shape, float16 }]) => {
    const halves = new Uint16Array(fromBase64(float16).buffer);
    return [key, { shape, value: Float32Array.from(halves, fromHalf) }];
  }));
  const made = programs.map((make, k) => {
    const program = make();
    for (const [key, values] of Object.entries(program.variables)) values.set(parameters[key].value);
    return { ...program, built: operators[k], text: String(make), place: new Map(program.steps.map((step, k) => [step.name, k])) };
  });
  return [name, { cards, parameters, programs: made }];
}));
const SAMPLES = GIVEN.samples.map((text) => Float32Array.from(fromBase64(text), (byte) => byte / 255));

// The reader's language, which the lessons follow, too: the one chosen last, or the browser's.
const KEY = "minigrad-language";
const stored = (write = () => {}) => {
  try {
    write(localStorage);
    return localStorage.getItem(KEY);
  } catch { // a page in a frame may have no storage
    return null;
  }
};
let language = stored();
if (language !== "en" && language !== "zh") language = /^zh/i.test(navigator.language) ? "zh" : "en";

function say(key, fields = {}) {
  const pair = GIVEN.words[key] ?? GIVEN.operators[key];
  return pair[language === "zh" ? 1 : 0].replace(/\{(\w+)\}/g, (_, name) => fields[name]);
}

// ---- Computing, both ways ---------------------------------------------------------------------

const drawing = new Drawing();
let network = "mlp";
let backward = true;
let slow = false;
let pick = -1; // the answer whose pixels are asked for; −1: the one the network gives
let totals; // of the moves before this one
let moves;
let move = null; // what is computed of the drawing, as far as it has come
let times = [];

function forget() {
  totals = { built: 0, run: 0, static: 0 };
  moves = { dynamic: [], static: [] };
  move = null;
  times = [];
  planned = new Set();
  plan();
}

// The static graph that is needed has been built. Its two programs share their operators.
let planned = new Set();
function plan() {
  const { programs } = NETWORKS[network];
  const before = built();
  planned.add(Number(backward));
  return Math.max(0, built() - before);
  function built() { return Math.max(0, ...[...planned].map((k) => programs[k].built)); }
}
const staticBuilt = () => Math.max(...[...planned].map((k) => NETWORKS[network].programs[k].built));

const indexOfLargest = (values) => values.indexOf(Math.max(...values));
const oneHot = (k) => Float32Array.from({ length: 10 }, (_, i) => Number(i === k));
const seedOf = (answers) => (backward ? oneHot(pick < 0 ? indexOfLargest(answers) : pick) : null);

// Begin a move: a new tape for one lane, new data for the program of the other.
function begin(slowly) {
  if (move) {
    finish();
    totals.built += move.tape.records.length;
    totals.run += move.tape.runs;
    totals.static += move.watched.length;
  }
  const { image, place } = drawing.seen();
  const { parameters, programs } = NETWORKS[network];
  const start = performance.now();
  const steps = recorded(network, image, parameters, seedOf);
  move = { image, place, steps, tape: null, x: null, watched: [], backward, done: false, same: null };
  if (slowly) advance();
  else while (advance());
  // The program wants to know at once where its gradients begin, and a slow tape isn't there yet.
  const ahead = slowly ? [...recorded(network, image, parameters)].at(-1).tape : move.tape;
  const answers = ahead.records.at(-1).value;
  move.seed = seedOf(answers);
  move.answers = answers;
  const feeds = move.seed ? { x: image, seed: move.seed } : { x: image };
  move.program = programs[Number(backward)];
  const fresh = plan();
  move.program.run(feeds, (_, values) => move.watched.push(values.slice()));
  if (!slowly) {
    times = [...times, performance.now() - start].slice(-25);
    compare();
  }
  moves.dynamic.push({ built: LAYERS[network].length, run: true, back: backward });
  moves.static.push({ built: fresh || (moves.static.length === 0 && staticBuilt()), run: true, back: backward });
}

// One more operator of the tape, forward or backward. Returns whether there was one.
function advance() {
  const { value, done } = move.steps.next();
  if (done) move.done = true;
  else Object.assign(move, value);
  return !done;
}

function finish() {
  clearInterval(clock);
  while (move && !move.done) advance();
  if (move && !move.same) compare();
}

// Compare all that both lanes have computed, number by number.
function compare() {
  let [count, difference] = [0, 0];
  cardsOf().forEach((_, k) => {
    for (const kind of ["value", "gradient"]) {
      const [mine, theirs] = LANES.map((lane) => shown(lane, k, kind));
      if (k === 0 && kind === "value") continue; // it is given
      if (!mine !== !theirs || mine?.length !== theirs?.length) difference = NaN;
      mine?.forEach((value, i) => {
        count += 1;
        if (!Object.is(value, theirs?.[i])) difference = Math.max(difference, Math.abs(value - theirs[i]));
      });
    }
  });
  move.same = { count, difference };
}

const cardsOf = () => NETWORKS[network].cards;

// What a lane has computed for a card so far: a "value" or its "gradient"; undefined: nothing yet.
function shown(lane, k, kind) {
  if (!move) return undefined;
  if (k === 0 && kind === "value") return move.image;
  if (lane === "dynamic") {
    const made = k ? move.tape.records[k - 1] : move.x;
    return (kind === "value" ? made?.value : made?.grad) ?? undefined;
  }
  const name = cardsOf()[k][kind];
  if (name === null || (kind === "gradient" && !move.backward)) return undefined;
  // The program has run, all at once; step by step, its lane shows as much as the tape has done.
  if (name === "seed") return move.tape.records.length === LAYERS[network].length && returned(k) ? move.seed : undefined;
  const place = move.program.place.get(name);
  return place < ahead() && move.tape.records.length >= k ? move.watched[place] : undefined;
}
const ahead = () => (move.done ? Infinity : move.tape.runs);
const returned = (k) => move.done || Boolean(move.tape.records[k - 1]?.grad);

// ---- Cards: made once for each network; then only their pictures change ---------------------------

const cards = { dynamic: [], static: [] };

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const drawn = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);

// An arrow: its line and its head.
function drawnArrow(classes) {
  const made = drawn("g");
  made.setAttribute("class", classes);
  made.append(drawn("path"), drawn("path"));
  return made;
}

function makeCards() {
  for (const lane of LANES) {
    const box = find(lane).querySelector(".cards");
    box.dataset.network = network;
    const arrows = drawn("svg");
    arrows.setAttribute("aria-hidden", "true");
    cards[lane] = cardsOf().map(({ sign, op, gradient }, k) => {
      const value = element("canvas", { className: "value" });
      const slope = element("canvas", { className: "slope" });
      const card = element("div", { className: "card" }, element("b", { textContent: sign, className: sign.length > 5 ? "long" : "" }), element("small"), value, slope);
      card.classList.toggle("input", k === 0);
      card.classList.toggle("no-slope", gradient === null);
      const [to, back] = [drawnArrow("to"), drawnArrow("back")];
      if (k) arrows.append(to);
      if (k && gradient !== null) arrows.append(back);
      return { card, value, slope, to, back, op };
    });
    const gone = element("div", { className: "gone" }, ...cardsOf().map(() => element("i")));
    box.replaceChildren(arrows, gone, ...cards[lane].map(({ card }) => card));
  }
  layOut();
}

// The arrows, from card to card and round the end of a row; and how pictures fit their places.
function layOut() {
  for (const lane of LANES) {
    cards[lane].forEach((each, k) => {
      const { card, value, slope, to, back } = each;
      each.aspects = [value, slope].map(({ clientWidth, clientHeight }) => clientWidth / clientHeight || 1);
      if (!k) return;
      const before = cards[lane][k - 1];
      const [from, into] = [before.card.offsetLeft + before.card.offsetWidth + 2, card.offsetLeft - 2];
      const bottom = before.card.offsetTop + before.card.offsetHeight;
      for (const [group, picture, turned] of [[to, before.value, false], [back, before.slope, true]]) {
        const dy = picture.offsetTop + picture.offsetHeight / 2;
        const lines = arrow(from, before.card.offsetTop + dy, into, card.offsetTop + dy, turned, bottom);
        [...group.children].forEach((path, i) => path.setAttribute("d", lines[i]));
      }
    });
  }
}

function arrow(x1, y1, x2, y2, turned, bottom) {
  const head = turned ? `M${x1} ${y1}l5 -4v8z` : `M${x2} ${y2}l-5 -4v8z`;
  if (y1 === y2) return [turned ? `M${x2} ${y1}H${x1 + 4}` : `M${x1} ${y1}H${x2 - 4}`, head];
  const between = bottom + (turned ? 10 : 6); // rows leave this much room
  const [out, into] = turned ? [9, 9] : [5, 5];
  return [`M${x1} ${y1}h${out}V${between}H${x2 - into}V${y2}h${into}`, head];
}

// ---- Showing ------------------------------------------------------------------------------------

function showCards() {
  for (const lane of LANES) {
    const box = find(lane).querySelector(".cards");
    box.classList.toggle("empty", !move);
    const [values, slopes] = ["value", "gradient"].map((kind) => cardsOf().map((_, k) => shown(lane, k, kind)));
    cards[lane].forEach(({ card, value, slope, to, back, aspects }, k) => {
      const { shape } = cardsOf()[k];
      card.classList.toggle("has", Boolean(values[k]));
      card.classList.toggle("has-slope", Boolean(slopes[k]));
      to.classList.toggle("on", Boolean(values[k]));
      back.classList.toggle("on", Boolean(slopes[k - 1]));
      if (values[k]) paintValues(value, values[k], shape, k ? VALUE : INK, aspects[0]);
      if (slopes[k]) paintValues(slope, slopes[k], shape, SLOPE, aspects[1]);
      card.classList.toggle("now", k === nowAt());
    });
  }
}

// Step by step: the card that something has just happened to.
function nowAt() {
  if (!move || move.done || !slow) return -1;
  const { records } = move.tape;
  const first = records.findIndex(({ grad }) => grad);
  if (move.x.grad) return 0;
  return first < 0 || records.length < LAYERS[network].length ? records.length : first + 1;
}

function showWords() {
  const [count, whole] = NETWORKS[network].programs.map(({ built }) => built);
  const graph = (key) => say(backward ? `${key}_back` : key, { count, back: whole - count });
  const sign = cardsOf()[Math.max(0, nowAt())].sign;
  const isBack = move?.tape.records.at(-2)?.grad;
  const step = nowAt() < 0 ? null : isBack ? "returns" : "now";
  const words = {
    dynamic: !move ? say("empty") : step ? say(step === "now" ? "records" : step, { sign }) : graph("recorded"),
    static: !move ? graph("planned") : step ? say(step === "now" ? "fills" : step, { sign }) : graph("filled"),
  };
  const { tape } = move ?? {};
  const counts = {
    dynamic: [totals.built + (tape?.records.length ?? 0), totals.run + (tape?.runs ?? 0)],
    static: [staticBuilt(), totals.static + Math.min(ahead0(), move?.watched.length ?? 0)],
  };
  const gone = Math.max(0, moves.dynamic.length - Number(Boolean(move)));
  const told = { dynamic: say(gone > 1 ? "gone" : gone ? "gone_one" : "gone_none", { count: gone }), static: say("kept") };
  for (const lane of LANES) {
    const place = find(lane);
    place.querySelector(".say").textContent = words[lane];
    place.querySelector(".b").textContent = number(counts[lane][0]);
    place.querySelector(".r").textContent = number(counts[lane][1]);
    place.querySelector(".moves span").textContent = told[lane];
    paintMoves(place.querySelector(".moves canvas"), moves[lane], lane === "static", Boolean(move));
  }
  const same = find("same");
  const { same: found } = move ?? {};
  same.textContent = !found ? "" : found.difference === 0 ? say("equal", { count: number(found.count) })
    : say("near", { count: number(found.count), difference: found.difference.toExponential(0) });
  same.classList.toggle("ok", found?.difference === 0);
  if (found && times.length > 4) {
    const time = [...times].sort((a, b) => a - b)[times.length >> 1];
    same.append(` · ${say("time", { time: time < 1 ? time.toFixed(2) : time.toFixed(1) })}`);
  }
}
const ahead0 = () => (move ? ahead() : 0);
const number = (count) => count.toLocaleString("en");

function showAnswers() {
  const answers = move?.tape.records[LAYERS[network].length - 1]?.value;
  const best = answers ? indexOfLargest(answers) : -1;
  const asked = pick < 0 ? best : pick;
  const percents = answers && shares(answers);
  [...find("bars").children].forEach((bar, k) => {
    bar.querySelector("i").style.setProperty("--share", answers ? answers[k] : 0);
    bar.querySelector("span").textContent = answers ? `${percents[k]} %` : "";
    bar.classList.toggle("best", k === best);
    bar.setAttribute("aria-pressed", String(Boolean(answers) && backward && k === asked));
  });
  find("word").innerHTML = answers && backward ? say("votes", { digit: asked }) : say("ask");
  return best;
}

/** Probabilities in tenths of a percent that add up to 100: those cut most get what is left. */
function shares(answers) {
  const exact = [...answers].map((share) => 1000 * share);
  const tenths = exact.map(Math.floor);
  const most = exact.map((_, k) => k).sort((a, b) => exact[b] - tenths[b] - (exact[a] - tenths[a]));
  const left = 1000 - tenths.reduce((sum, each) => sum + each, 0);
  most.slice(0, Math.max(0, left)).forEach((k) => { tenths[k] += 1; });
  return tenths.map((each) => (each / 10).toFixed(1));
}

function showPad() {
  const votes = move?.done && move.backward ? move.x.grad : null;
  paintPad(find("draw"), drawing, votes, move?.place, penAt);
}

let due = false;
// Show what there is, once for each frame however many moves there were.
function show() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    showNow();
  });
}

function showNow() {
  showCards();
  showWords();
  showAnswers();
  showPad();
}

// ---- Entrances: the old graph leaves, the new one is built, the kept one is filled ----------------

let entered = -Infinity;
function enter() {
  const now = performance.now();
  if (calm.matches || now - entered < PAUSE) return;
  entered = now;
  const gone = find("dynamic").querySelector(".gone");
  cards.dynamic.forEach(({ card }, k) => {
    const ghost = gone.children[k];
    Object.assign(ghost.style, { left: `${card.offsetLeft}px`, top: `${card.offsetTop}px`, width: `${card.offsetWidth}px`, height: `${card.offsetHeight}px` });
    if (!slow) card.animate([{ transform: "scale(.6)", opacity: 0 }, {}], { duration: 240, delay: 22 * k, fill: "backwards", easing: "cubic-bezier(.2,.9,.3,1.2)" });
  });
  if (moves.dynamic.length > 1) gone.animate([{ opacity: 1 }, { opacity: 0, transform: "translate(22px, -18px)" }], { duration: 560, easing: "ease-out" });
  if (slow) return;
  cards.static.forEach(({ value }, k) => value.animate([{ clipPath: "inset(0 100% 0 0)" }, { clipPath: "inset(0)" }], { duration: 240, delay: 22 * k, fill: "backwards" }));
}

// ---- What one can do ------------------------------------------------------------------------------

let clock = 0;

// The drawing has changed, or what is asked of it.
function run(slowly = slow) {
  clearInterval(clock);
  if (drawing.isEmpty) return stop();
  begin(slowly && !drawing.last);
  enter();
  show();
  if (!move.done) clock = setInterval(tick, calm.matches ? 40 : PAUSE);
}

function tick() {
  if (!advance()) {
    clearInterval(clock);
    compare();
    find("answer").textContent = told();
  }
  show();
}

// Nothing is drawn: the tape is gone, the graph that is kept waits.
function stop() {
  if (move) {
    finish();
    totals.built += move.tape.records.length;
    totals.run += move.tape.runs;
    totals.static += move.watched.length;
    move = null;
    enter();
  }
  plan();
  show();
}

// The answer in words, for who listens: once a stroke is over.
function told() {
  const answers = move?.answers;
  if (!answers) return say("empty");
  const digit = indexOfLargest(answers);
  return say("answer", { digit, percent: Math.round(100 * answers[digit]) });
}

function choose(k) {
  drawing.load(SAMPLES[k], k);
  find("draw").parentElement.classList.add("used");
  run();
  mark();
  find("answer").textContent = told();
}

function clear() {
  drawing.clear();
  run();
  mark();
  find("answer").textContent = told();
}

function mark() {
  [...find("strip").children].forEach((button, k) => button.setAttribute("aria-pressed", String(k === drawing.sample)));
  for (const button of find("nets").children) button.setAttribute("aria-pressed", String(button.dataset.network === network));
  find("backward").setAttribute("aria-pressed", String(backward));
  find("slow").setAttribute("aria-pressed", String(slow));
  document.body.classList.toggle("forward", !backward);
}

function turn(on) {
  backward = on;
  mark();
  layOut();
  run();
}

const pad = find("draw");
const placeOf = ({ clientX, clientY }) => {
  const { left, top, width, height } = pad.getBoundingClientRect();
  return [((clientX - left) / width) * SIZE, ((clientY - top) / height) * SIZE];
};

pad.addEventListener("pointerdown", (event) => {
  pad.setPointerCapture(event.pointerId);
  penAt = null;
  penDown(...placeOf(event));
});
pad.addEventListener("pointermove", (event) => {
  if (!drawing.last || penAt) return;
  const passed = event.getCoalescedEvents?.() ?? [];
  let changed = false;
  for (const each of passed.length ? passed : [event]) changed = drawing.to(...placeOf(each)) || changed;
  if (changed) run();
});
for (const name of ["pointerup", "pointercancel"]) pad.addEventListener(name, () => { if (!penAt) penUp(); });

function penDown(x, y) {
  pad.parentElement.classList.add("used");
  drawing.down(x, y);
  mark();
  run();
}

function penUp() {
  if (!drawing.last) return;
  drawing.last = null;
  if (slow) run();
  find("answer").textContent = told();
}

// With the keys: a pen that moves by half a pixel's width, down or lifted.
let penAt = null;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

pad.addEventListener("keydown", (event) => {
  const by = ARROWS[event.key];
  if (event.key === " ") {
    penAt ??= [SIZE / 2, SIZE / 4];
    if (drawing.last) penUp();
    else penDown(...penAt);
  } else if (by) {
    penAt ??= [SIZE / 2, SIZE / 4];
    penAt = penAt.map((at, i) => Math.min(SIZE - 0.5, Math.max(0.5, at + by[i])));
    if (drawing.last && drawing.to(...penAt)) run();
  } else return;
  event.preventDefault();
  show();
});
pad.addEventListener("blur", () => {
  if (penAt) penUp();
  penAt = null;
  show();
});

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[0-9]$/.test(event.key)) choose(Number(event.key));
  else if (event.key === "Delete" || event.key === "Backspace") clear();
  else return;
  event.preventDefault();
});

find("clear").addEventListener("click", clear);
find("backward").addEventListener("click", () => {
  pick = -1;
  turn(!backward);
});
find("slow").addEventListener("click", () => {
  slow = !slow;
  mark();
  run();
});
find("language").addEventListener("click", () => {
  language = language === "zh" ? "en" : "zh";
  stored((kept) => kept.setItem(KEY, language));
  speak();
});
for (const button of find("nets").children) {
  button.addEventListener("click", () => {
    network = button.dataset.network;
    forget();
    makeCards();
    speak();
    run();
    mark();
  });
}

function readSource() {
  const text = NETWORKS[network].programs[1].text;
  find("source").textContent = text;
  find("source-name").textContent = say("source", { count: number(text.split("\n").length) });
}

// All words in the language of the page.
function speak() {
  document.body.dataset.mgLanguage = language;
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  document.title = say("title");
  find("language").textContent = language === "zh" ? "English" : "中文";
  find("language").lang = language === "zh" ? "en" : "zh-Hans";
  pad.setAttribute("aria-label", say("pad"));
  find("nets").setAttribute("aria-label", say("network"));
  find("bars").setAttribute("aria-label", say("answers"));
  find("strip").setAttribute("aria-label", say("samples"));
  [...find("strip").children].forEach((button, digit) => button.setAttribute("aria-label", say("stored", { digit })));
  for (const lane of LANES) cards[lane].forEach(({ card, op }) => { card.querySelector("small").textContent = say(op); });
  readSource();
  layOut();
  showNow();
}

function paintAll() {
  readPalette();
  [...find("strip").children].forEach((button, k) => paintValues(button.firstChild, SAMPLES[k], [1, PIXELS], INK));
  showNow();
}

find("bars").append(...SAMPLES.map((_, k) => {
  const bar = element("button", { type: "button", className: "bar" }, element("b", { textContent: k }), element("i"), element("span"));
  bar.addEventListener("click", () => {
    pick = backward && pick === k ? -1 : k;
    turn(true);
  });
  return bar;
}));
find("strip").append(...SAMPLES.map((_, k) => {
  const button = element("button", { type: "button" }, element("canvas"));
  button.addEventListener("click", () => choose(k));
  return button;
}));
dark.addEventListener("change", paintAll);
addEventListener("resize", () => {
  layOut();
  show();
});

// For the console of a browser, and for tests: what has been computed of the drawing.
globalThis.digit = () => move && {
  image: move.image,
  moves: moves.dynamic.length,
  records: move.tape.records.map(({ op }) => op),
  runs: move.tape.runs,
  lanes: Object.fromEntries(LANES.map((lane) => [lane, cardsOf().map((_, k) => ({ value: shown(lane, k, "value"), gradient: shown(lane, k, "gradient") }))])),
};

// A digit is drawn already when the page opens, move by move, as a hand would.
readPalette();
forget();
makeCards();
for (const [k, [x, y]] of [...curve(OPENING)].entries()) {
  if (k) drawing.to(x, y);
  else drawing.down(x, y);
  begin(false);
}
drawing.last = null;
drawing.isExample = true;
mark();
speak();
paintAll();
document.fonts?.ready.then(() => {
  layOut();
  show();
});
