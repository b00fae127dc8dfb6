// One panel of a board: a drawing that stays as long as its picture does, and the marks on it.
const MEANT = new Set(["now", "failed", "wrong", "new", "gone", "again"]); // marks to look at
const EDGE = 16; // pixels around a node that is brought into view
const WAVERS = 1.2; // radians that an arrow turns one way and back
const CURVED = 8; // points of an arrow that is more than two curves
const BOWS = Array.from({ length: 41 }, (_, i) => (i % 2 ? -4 : 4) * (i + (i % 2))); // pixels from a chord, to both sides in turn

/** Words in place of those that stood there. @param {HTMLElement} element @param {Pair | null} pair */
function tell(element, pair) {
  element.replaceChildren();
  return say(element, pair);
}

/** What is written again only where it differs from what stands there. */
function renewing() {
  /** @type {Record<string, string>} */
  const known = {};
  return (/** @type {string} */ part, /** @type {unknown} */ content, /** @type {() => void} */ write) => {
    const key = JSON.stringify(content ?? null);
    if (known[part] === key) return;
    known[part] = key;
    write();
  };
}

/**
 * Scrolls a box as little as brings these nodes into view; of many the first ones.
 * @param {HTMLElement} box @param {Element[]} nodes
 */
function bring(box, nodes) {
  const { left, right, top, bottom } = box.getBoundingClientRect();
  for (const node of [...nodes].reverse()) {
    const at = node.getBoundingClientRect();
    box.scrollLeft += Math.min(0, at.left - left - EDGE) + Math.max(0, at.right - right + EDGE);
    box.scrollTop += Math.min(0, at.top - top - EDGE) + Math.max(0, at.bottom - bottom + EDGE);
  }
}

/**
 * @param {BoardData} data @param {Element} parent
 * @param {(id: string, picture: Drawn) => void} choose @param {ReturnType<typeof scaled>} scale
 * @param {PanelData[]} each what it shows, scene by scene
 */
function pane(data, parent, choose, scale, each) {
  const figure = make("figure", "mg-graph", parent);
  const title = make("figcaption", "", figure);
  const drawing = make("div", "mg-drawing", figure);
  drawing.hidden = true; // until there is a picture
  const extra = scrolls(make("div", "mg-extra", figure));
  const code = scrolls(make("pre", "mg-lines", figure));
  const message = scrolls(make("p", "mg-message", figure));
  const zoom = each.some((panel) => panel.drawing != null) ? scale.add(drawing) : null;
  const fresh = renewing();
  const varies = (/** @type {string} */ id) => each.some(({ marks }) => marks[id] !== "ran"); // it does not run at each step
  let shown = -1;
  /** @type {Part[]} */
  let parts = []; // nodes and arrows of the drawing: their classes, and what was written in them
  /** @type {Element[]} */
  let about = []; // what the scene is about
  /** @type {{frame: Element, inside: Element[]}[]} */
  let frames = []; // arms and bodies of the drawing, and the cards in each
  // A notebook may put a board on the page when it is made, and words above a drawing may take more lines.
  if (zoom) zoom.resized = () => zoom.whole() || bring(drawing, about);

  const draw = (/** @type {Drawn | undefined} */ picture) => {
    drawing.innerHTML = picture ? picture.svg : "";
    drawing.hidden = !picture;
    unbend(drawing);
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-label", picture?.alt ?? "");
    zoom?.apply();
    parts = [...drawing.querySelectorAll("g.node, g.edge")].map((g) => ({
      g,
      card: g.matches(".node"),
      slot: g.querySelector(".mg-value"),
      swatch: g.querySelector(".mg-swatch"),
      kind: g.getAttribute("class") ?? "",
      look: "",
      said: "",
      seen: "",
    }));
    frames = [...drawing.querySelectorAll("g.cluster")].map((frame) => {
      const around = extent(frame);
      return { frame, inside: [...drawing.querySelectorAll("g.node")].filter((g) => within(extent(g), around, 0)) };
    });
    if (!picture) return;
    for (const g of /** @type {NodeListOf<SVGGElement>} */ (drawing.querySelectorAll("g.node"))) {
      g.setAttribute("tabindex", "0");
      g.setAttribute("role", "button");
      mine(g);
      halo(g);
      const [wide = 0] = numbers(g.querySelector(".mg-card"), "width");
      const badge = shape("text", { class: "mg-badge", "text-anchor": "end", x: -2, y: 10 }, g);
      badge.style.transform = `translate(${wide}px) scale(calc(1 / var(--mg-scale)))`; // in its corner
      g.addEventListener("click", () => choose(g.id, picture));
      g.addEventListener("keydown", (e) => {
        if (e.key === "Enter") choose(g.id, picture);
      });
    }
    const node = (/** @type {string} */ id) => /** @type {SVGGElement | null} */ (drawing.querySelector(`g.node[id="${id}"]`));
    referring(drawing, (id) => {
      choose(id, picture);
      const g = node(id);
      if (g) bring(drawing, [g]);
      g?.focus({ preventScroll: true });
    }, (ids, on) => ids.forEach((id) => node(id)?.classList.toggle("mg-hover", on)));
  };
  const place = (/** @type {number} */ number) => {
    if (number === shown) return;
    const [old, picture] = [data.drawings[shown], data.drawings[number]];
    shown = number;
    if (data.moves && old && picture && !figure.hidden) {
      morph(drawing, `${old.prefix}-`, `${picture.prefix}-`, () => draw(picture));
    } else draw(picture);
  };
  return {
    figure,
    /** @param {PanelData} panel */
    paint(panel) {
      place(panel.drawing ?? -1);
      figure.hidden = false;
      /** @type {Element[]} */
      const now = [];
      /** @type {Element[]} */
      const ran = [];
      for (const part of parts) {
        const kind = panel.marks[part.g.id];
        if (MEANT.has(kind) && part.card) now.push(part.g);
        if (kind === "ran" && part.card && varies(part.g.id)) ran.push(part.g);
        const [sign, note] = [kind === "ran" ? "" : data.signs[kind] ?? "", panel.notes[part.g.id] ?? ""];
        const said = (/[✗!]/.test(sign) ? [note, sign] : [sign, note]).filter(Boolean).join(" "); // "-6 ✗" as in tables
        const look = [part.kind, kind && `mg-${kind}`].filter(Boolean).join(" ");
        if (look !== part.look) {
          part.g.setAttribute("class", look);
          const unreached = kind === "absent" && part.g.matches(".mg-output"); // the output of another run
          reword(part.g, unreached ? ["operator", "算子"] : data.signs[kind] === "" && data.legend[kind]);
          const word = unreached && part.g.querySelector(".mg-word");
          if (word && word.firstChild) {
            word.setAttribute("class", "mg-what");
            word.firstChild.textContent = "○ ";
          }
        }
        const { swatch: code = "", grid } = data.values[panel.held[part.g.id]] ?? {};
        const seen = code && `${code} ${gridded(grid)}`;
        if (said !== part.said && part.slot) part.slot.textContent = said;
        const badge = part.g.querySelector(".mg-badge");
        if (badge) badge.textContent = kind === "absent" ? "" : sign; // of a card too small for its value; dots say it themselves
        if (seen !== part.seen && part.swatch) depict(part.swatch, String(code), grid);
        if (part.card && (look !== part.look || said !== part.said || seen !== part.seen)) renewBrief(part.g);
        Object.assign(part, { look, said, seen });
      }
      for (const { frame, inside } of frames) {
        frame.classList.toggle("mg-untaken", inside.length > 0 && inside.every((g) => panel.marks[g.id] === "ghost"));
        frame.classList.toggle("mg-taken", inside.some((g) => panel.marks[g.id] === "ran"));
      }
      even(drawing);
      if (zoom?.scale) badges(drawing, zoom.scale);
      const stays = now.filter((g) => !g.classList.contains("mg-gone"));
      about = [stays, now, ran].find((some) => some.length) ?? [];
      if (!zoom?.whole()) bring(drawing, about);
      fresh("title", panel.title, () => tell(title, panel.title));
      fresh("svg", panel.svg, () => { extra.innerHTML = panel.svg; });
      fresh("kind", [panel.drawing, panel.code.length], () => {
        figure.dataset.kind = panel.drawing != null ? "drawing" : panel.code.length ? "code" : "other";
      });
      fresh("code", panel.code, () => {
        code.hidden = !panel.code.length;
        code.replaceChildren();
        for (const [kind, line] of panel.code) {
          const part = make("span", kind ? `mg-code-line mg-code-${kind}` : "mg-code-line", code);
          part.textContent = `${kind ? data.signs[kind] : " "} ${line}\n`;
        }
      });
      fresh("message", panel.message, () => {
        message.hidden = !panel.message;
        tell(message, panel.message);
        if (panel.drawing != null || panel.svg || panel.code.length) return;
        for (const part of message.querySelectorAll("[lang]")) { // of words alone a phone has their first line (board.css)
          const [first, ...rest] = (part.textContent ?? "").split(/(?=\n)/);
          part.textContent = first;
          make("span", "mg-rest", part).textContent = rest.join("");
        }
      });
    },
  };
}

/**
 * Draw each arrow that bends one way and then the other as the flattest arc that clears all cards, and frames that it cleared;
 * one that bends often, as the arc that is most like it.
 * @param {HTMLElement} drawing
 */
function unbend(drawing) {
  const cards = [...drawing.querySelectorAll("g.node, .mg-ref")].map(extent);
  const frames = [...drawing.querySelectorAll("g.cluster > .mg-frame")].map((frame) => {
    const [[x], [y], [wide], [high]] = ["x", "y", "width", "height"].map((name) => numbers(frame, name));
    return { left: x, top: y, right: x + wide, bottom: y + high };
  });
  const [left, top, right, bottom] = numbers(drawing.querySelector("svg"), "viewBox");
  for (const g of drawing.querySelectorAll("g.edge")) {
    const [line, tip] = ["line", "tip"].map((part) => g.querySelector(`path.mg-${part}`));
    const [way, corners] = [line, tip].map((path) => paired(numbers(path, "d")));
    const stops = way.filter((p, i) => !i || Math.hypot(p.x - way[i - 1].x, p.y - way[i - 1].y) > 0);
    const turns = stops.slice(2).map((next, i) => turn(stops[i], stops[i + 1], next));
    const [all, net] = [turns.reduce((sum, by) => sum + Math.abs(by), 0), Math.abs(turns.reduce((sum, by) => sum + by, 0))];
    const wavers = all - net >= WAVERS;
    if ((!wavers && way.length < CURVED) || corners.length < 3 || g.querySelector(".mg-edge-label")) continue;
    const [start, base] = [way[0], way[way.length - 1]];
    const far = (/** @type {Point} */ p) => Math.hypot(p.x - base.x, p.y - base.y);
    const end = corners.reduce((a, b) => (far(b) > far(a) ? b : a));
    const own = cards.filter((card) => [start, end].some((p) => within(p, card, 2)));
    const cleared = frames.filter((frame) => !way.some((p) => within(p, frame, 0)));
    const free = (/** @type {Point[]} */ curve) => sampled(curve).every((p) => p.x > left && p.x < right && p.y > top && p.y < bottom && !cards.some((card) => within(p, card, own.includes(card) ? 0 : EDGE / 2)) && !cleared.some((frame) => within(p, frame, 0)));
    const chord = Math.hypot(end.x - start.x, end.y - start.y);
    const deep = stops.map((p) => ((end.x - start.x) * (p.y - start.y) - (end.y - start.y) * (p.x - start.x)) / chord).reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a));
    const bows = wavers ? BOWS : [...BOWS].sort((a, b) => Math.abs(a - deep) - Math.abs(b - deep));
    const curve = bows.map((bow) => arc(start, end, bow)).find(free);
    if (!curve) continue;
    const [long, size] = [Math.hypot(end.x - curve[2].x, end.y - curve[2].y), far(end)];
    const [u, v] = [(end.x - curve[2].x) / long, (end.y - curve[2].y) / long];
    const foot = { x: end.x - u * size, y: end.y - v * size };
    const sides = [1, -1].map((side) => ({ x: foot.x - (side * v * size) / 3, y: foot.y + (side * u * size) / 3 }));
    const written = (/** @type {Point[]} */ points) => points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`);
    line?.setAttribute("d", `M${start.x},${start.y}C${written([curve[1], curve[2], foot]).join(" ")}`);
    tip?.setAttribute("d", `M${written([sides[0], end, sides[1]]).join("L")}Z`);
  }
}

/** @param {number[]} flat @returns {Point[]} */
const paired = (flat) => flat.flatMap((x, i) => (i % 2 ? [] : [{ x, y: flat[i + 1] }]));

/** The angle by which a way turns at its second point. @param {Point} a @param {Point} b @param {Point} c */
function turn(a, b, c) {
  const [u, v, w, z] = [b.x - a.x, b.y - a.y, c.x - b.x, c.y - b.y];
  return (u || v) && (w || z) ? Math.atan2(u * z - v * w, u * w + v * z) : NaN;
}

/** @param {Point} p @param {Omit<Extent, keyof Point>} card @param {number} around */
const within = ({ x, y }, { left, right, top, bottom }, around) =>
  x > left - around && x < right + around && y > top - around && y < bottom + around;

/** A cubic curve whose handles lie beside its chord. @param {Point} a @param {Point} b @param {number} bow @returns {Point[]} */
function arc(a, b, bow) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const long = Math.hypot(dx, dy);
  const at = (/** @type {number} */ part) => ({ x: a.x + part * dx - (bow * dy) / long, y: a.y + part * dy + (bow * dx) / long });
  return [a, at(1 / 3), at(2 / 3), b];
}

/** Points of a cubic curve, without its ends. @param {Point[]} curve @returns {Point[]} */
function sampled([a, b, c, d]) {
  const at = (/** @type {number} */ t, /** @type {"x" | "y"} */ k) =>
    a[k] * (1 - t) ** 3 + 3 * b[k] * t * (1 - t) ** 2 + 3 * c[k] * t * t * (1 - t) + d[k] * t ** 3;
  return Array.from({ length: 39 }, (_, i) => ({ x: at((i + 1) / 40, "x"), y: at((i + 1) / 40, "y") }));
}
