// Looks at the view on this page, first at rest, then at its steps, of many at some from `first` on.
// Returns what is wrong, as sentences, and the shape: how many steps, sizes of text, where parts and
// cards lie.
(clashes, parts, smallest, first) => {
  const found = new Map(); // sentence: the first step of which it is true
  const [heights, sizes] = [new Set(), new Set()];
  const root = document.querySelector(".mg-player");
  const slider = document.querySelector(".mg-steps");
  const last = slider ? Number(slider.max) : 0;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const visible = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const box = (e) => e.getBoundingClientRect();
  const area = (e) => box(e).width * box(e).height;
  const apart = (a, b, by) => Math.min(a.right, b.right) - Math.max(a.left, b.left) <= by
    || Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) <= by;
  const within = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1
    && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const go = (step) => {
    if (!slider) return;
    slider.value = step;
    slider.dispatchEvent(new Event("input"));
  };

  // What is left of a box by what clips it; `cut` where no scrolling brings back the rest.
  const clipped = (whole, from) => {
    const { left, right, top, bottom } = whole;
    let seen = { left, right, top, bottom, cut: false };
    for (let e = from; e && e !== document.body; e = e.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(e);
      if (overflowX === "visible" && overflowY === "visible") continue;
      const around = box(e);
      const less = {
        left: Math.max(seen.left, around.left), right: Math.min(seen.right, around.right),
        top: Math.max(seen.top, around.top), bottom: Math.min(seen.bottom, around.bottom),
      };
      const lost = Math.max(less.left - seen.left, seen.right - less.right) > 2
        || Math.max(less.top - seen.top, seen.bottom - less.bottom) > 4;
      const scrolls = /auto|scroll/.test(overflowX + overflowY);
      seen = { ...less, cut: seen.cut || (lost && !scrolls) };
      if (scrolls) break;
    }
    return seen;
  };

  // The lines of words outside of drawings.
  const lines = () => {
    const seen = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
      const e = node.parentElement;
      if (!node.data.trim() || e.closest("svg, script, style, .mg-sizes") || !visible(e)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        const at = clipped(rect, e);
        if (rect.width < 1 || at.right - at.left < 2 || at.bottom - at.top < 4) continue;
        seen.push({ e, at, text: node.data.trim().slice(0, 40) });
      }
    }
    return seen;
  };

  const ofWords = () => {
    const [wrong, words] = [[], lines()];
    const floats = (e) => e.closest("thead, .mg-controls, .mg-chip, .mg-overlay");
    const buttons = all("button").filter(visible)
      .map((e) => ({ e, at: clipped(box(e), e.parentElement), text: `button ${e.textContent}` }));
    const things = [...words, ...buttons].filter(({ e }) => !floats(e));
    for (const { e, at, text } of words) {
      sizes.add(parseFloat(getComputedStyle(e).fontSize));
      if (at.cut) wrong.push(`"${text}" is cut off`);
    }
    for (const [i, a] of things.entries())
      for (const b of things.slice(i + 1))
        if (!a.e.contains(b.e) && !b.e.contains(a.e) && !apart(a.at, b.at, 3))
          wrong.push(`"${a.text}" lies on "${b.text}"`);
    for (const t of all("svg text").filter((t) => t.textContent.trim() && visible(t)))
      sizes.add(parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a);
    const captions = all(".mg-caption, .mg-caption > div").filter(visible);
    if (captions.some((e) => e.scrollHeight > e.clientHeight + 1))
      wrong.push("the caption is longer than its place");
    return wrong;
  };

  const ofScore = () => all(".mg-staff-lines").flatMap((staff) => {
    const phases = all(".mg-phase", staff).map(box).sort((a, b) => a.left - b.left);
    const close = phases.some((phase, i) => phases[i + 1] && phase.right > phases[i + 1].left + 1);
    const marks = all(".mg-note, .mg-dots", staff).some((mark) => !within(box(mark), box(staff)));
    const mute = all(".mg-phase:not(.mg-sliver)", staff).some((phase) => !all("span", phase).some((e) => visible(e) && area(e))
      && !/^"./.test(getComputedStyle(phase, "::before").content));
    const rows = all(".mg-row-name", staff);
    const omitted = innerWidth > 640 && rows.length <= 6 && rows.some((row) => !visible(row));
    const names = rows.filter(visible).map((row) => row.textContent);
    const twice = names.length <= 9 && new Set(names).size < names.length;
    const columns = all(".mg-column > span", staff).filter(visible).map(box).sort((a, b) => a.left - b.left);
    const crowded = columns.some((word, i) => columns.slice(i + 1).some((next) => word.right > next.left + 1 && word.bottom > next.top + 1 && next.bottom > word.top + 1)); // in one line
    const circles = all(".mg-note", staff).map((mark) => mark.querySelector("circle")).filter((c) => c && box(c).width > 7).map(box);
    const overlap = circles.some((a, i) => circles.slice(i + 1).some((b) => {
      const [dx, dy] = [(a.left + a.right - b.left - b.right) / 2, (a.top + a.bottom - b.top - b.bottom) / 2];
      return Math.hypot(dx, dy) > 1 && Math.hypot(dx, dy) < (a.width + b.width) / 2 - 3;
    }));
    return [...(twice ? ["two rows have one name"] : []), ...(crowded ? ["names of columns lie on each other"] : []), ...(overlap ? ["marks lie on each other"] : []), ...(close ? ["phases lie on each other"] : []), ...(omitted ? ["a line of few has no code"] : []), ...(mute ? ["a phase says nothing"] : []), ...(marks ? ["a mark is cut off"] : [])];
  });

  // What the step is about: of many nodes one is enough.
  const ofEyes = () => all(".mg-drawing").filter((drawing) => area(drawing)).flatMap((drawing) => {
    const states = ".mg-now, .mg-new, .mg-gone, .mg-wrong, .mg-again, .mg-failed";
    const meant = all(`g.node:is(${states})`, drawing).filter(visible);
    const seen = meant.some((g) => within(box(g.querySelector(".mg-card")), box(drawing)));
    const name = meant[0]?.querySelector(".mg-sign").textContent;
    return meant.length && !seen ? [`${name}, which the step is about, is out of view`] : [];
  });

  // Cards that are too small for all of their words leave out the same: not one shows what its neighbours don't.
  const ofLevels = () => all(".mg-drawing").filter((drawing) => area(drawing)).flatMap((drawing) => {
    const small = all("g.node:not(.mg-mute)", drawing).filter((g) => visible(g) && g.querySelector(".mg-short"));
    const plain = small.filter((g) => !g.querySelector(".mg-swatch"));
    const slots = (of) => small.flatMap((g) => all(`.mg-of-${of}[data-grid]:not([data-grid=""])`, g).map(() => g));
    const kinds = {
      value: [plain.filter((g) => g.querySelector(".mg-value")?.textContent), ".mg-short-value"],
      gradient: [plain.filter((g) => g.querySelector(".mg-grad")?.textContent), ".mg-short-grad"],
      "numbers of a value": [slots("value"), ".mg-short-cell:not(.mg-short-of-grad)"],
      "numbers of a gradient": [slots("grad"), ".mg-short-of-grad"],
    };
    return Object.entries(kinds).flatMap(([kind, [having, part]]) =>
      new Set(having.map((g) => Boolean(g.querySelector(part)))).size > 1 ? [`only some cards show their ${kind}`] : []);
  });

  // What a view is before anybody touches it: whole, in view, and with all that it is to show.
  const atRest = () => {
    const wrong = [];
    if (!root) return wrong;
    const name = (e) => e.querySelector(".mg-sign")?.textContent || e.textContent.trim().slice(0, 20);
    const around = box(root);
    if (around.height > innerHeight + 1)
      wrong.push(`it is ${Math.round(around.height)} px high, and the screen has ${innerHeight}`);
    for (const control of all("button, input, select", root).filter((e) => visible(e) && area(e))) {
      const { cut } = clipped(box(control), control.parentElement);
      const told = control.getAttribute("aria-label") || control.textContent.trim() || control.className;
      const { left, right, top, bottom } = box(control);
      const whole = { left: left + 3, right: right - 3, top, bottom }; // the thumb of a slider may overhang
      if (cut || !within(whole, around)) wrong.push(`the control ${told} is cut off`);
      if (bottom - around.top > innerHeight) wrong.push(`the control ${told} is below the screen`);
    }
    for (const drawing of all(".mg-drawing", root).filter((e) => visible(e) && area(e))) {
      const frame = box(drawing);
      for (const g of all("g.node", drawing).filter(visible)) {
        const card = box(g.querySelector(".mg-card"));
        const given = g.matches(".mg-kind-input, .mg-kind-parameter, .mg-output, .mg-kind-output");
        if (within(card, frame)) continue;
        if (!apart(card, frame, 0)) wrong.push(`the card ${name(g)} is cut off`);
        else if (given) wrong.push(`the card ${name(g)} is out of view`);
      }
    }
    const score = document.querySelector(".mg-score:not([hidden])");
    if (score && !area(score)) wrong.push("it has no score");
    for (const frame of all(".mg-board g.cluster"))
      if (!all("text:not(:empty)", frame).some(visible)) wrong.push("a frame has no name");
    for (const g of all("g.mg-pictured.mg-ran", root))
      if (!g.querySelector(".mg-swatch path, .mg-swatch use")) wrong.push(`${name(g)} shows nothing of its tensor`);
    for (const g of all(".mg-film g.edge:is(.mg-used, .mg-back)", root))
      if (all(".mg-lane-tip", g).filter((tip) => getComputedStyle(tip).display !== "none").length !== all(".mg-lane:not(.mg-lane-tip)", g).length) wrong.push("a gradient has no head");
    if (!slider || !document.querySelector(".mg-film")) return wrong;
    const cards = all(".mg-film g.node", root);
    if (!cards.some((g) => visible(g))) wrong.push("it rests empty");
    for (const g of cards) {
      const [value, gradient] = ["value", "grad"].map((row) => g.querySelector(`.mg-${row}`));
      if (g.matches(".mg-ran") && value && !value.textContent) wrong.push(`${name(g)} has run and shows no value`);
      if (gradient && !gradient.textContent) wrong.push(`${name(g)} shows no gradient`);
    }
    return wrong;
  };

  // What is said beneath the drawings: all of it within the board, and of its tables whole rows.
  const ofBelow = () => all(".mg-below > *, .mg-codes > *").filter((e) => visible(e) && area(e)).flatMap((e) => {
    const [around, place] = [box(root), box(e)];
    const out = place.left < around.left - 1 || place.right > around.right + 1;
    const rows = all("tbody tr", e).map(box);
    const top = Math.max(place.top, ...all("th", e).map((th) => box(th).bottom));
    const cut = rows.some((row) => row.top < top - 4 && row.bottom > top + 4);
    const few = rows.length <= 6 && rows.some((row) => row.top < top - 4 || row.bottom > place.bottom + 1);
    const wide = e.matches(".mg-sheet") && e.scrollWidth > e.clientWidth + 1;
    return [...(out ? ["what is said beneath is partly out of the board"] : []), ...(cut ? ["a row is cut beneath its heading"] : []),
      ...(few ? ["a table of few rows does not show all"] : []), ...(wide ? ["a table is wider than its place"] : [])];
  });

  const look = (step) => {
    const wrong = [...clashes(), ...ofWords(), ...ofScore(), ...ofEyes(), ...ofLevels(), ...ofBelow()];
    if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page scrolls sideways");
    for (const sentence of wrong) if (!found.has(sentence)) found.set(sentence, step);
  };
  for (const sentence of atRest()) found.set(sentence, "rest");
  const measure = () => root && heights.add(Math.round(box(root).height));
  measure();
  const [each, few] = [12, 4].map((most) => Math.ceil((last + 1) / most));
  for (let step = 0; step <= last; step++) {
    const looked = step === last || step % few === first % few;
    if (!looked && step % each) continue;
    go(step);
    measure();
    if (looked) look(step);
  }
  go(Math.round(last * 0.7));
  const wrong = [...found].map(([sentence, step]) => `step ${step}: ${sentence}`);
  const [small, large] = [Math.min(...sizes), Math.max(...sizes)];
  if (heights.size > 1) wrong.push(`its height changes while it plays: ${[...heights].join(", ")} px`);
  if (small < smallest - 0.1) wrong.push(`a text of ${small.toFixed(1)} px`);

  const zero = box(document.querySelector("main"));
  const places = all(parts).filter((e) => visible(e) && box(e).height > 1).map((e) => {
    const { left, top, width, height } = box(e);
    const name = (e.className.baseVal ?? e.className).split(" ")[0] || e.tagName.toLowerCase();
    return [name, ...[left - zero.left, top - zero.top, width, height].map(Math.round)];
  });
  const cards = all(".mg-drawing").map((drawing) => all("g.node", drawing).map((g) => {
    const [x, y] = g.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
    return [g.querySelector(".mg-sign").textContent, Math.round(x), Math.round(y)];
  }));
  return { wrong, shape: { steps: last + 1, text: [small, large].map(Math.round), places, cards } };
}
