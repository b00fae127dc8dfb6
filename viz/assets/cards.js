// A card: what is known of the nodes it stands for at a step, as material and as words.
const DOTS = 2; // cells of a strip for which dots have room
const GIVEN = new Set(["input", "parameter", "variable", "constant"]); // what computes nothing

/** What is known of the node that is there at a step: of one that was freed, the next call has put another in its place. @param {PlayedNode} node @param {number} index */
function alive(node, index) {
  const later = (/** @type {[number, Summary][]} */ known) => known.filter(([at]) => at > (node.freed ?? Infinity));
  const [values, gradients] = [node.values, node.gradients].map(later);
  return values[0]?.[0] <= index ? { born: null, freed: undefined, values, gradients } : node;
}

/**
 * How a card stands at a step: of what makes its state how much has run, and what the last of it holds.
 * @param {PlayedNode[]} all @param {number} index
 */
function life(all, index) {
  const nodes = all.map((node) => alive(node, index));
  const births = nodes.map((n) => n.born ?? n.values[0]?.[0] ?? Infinity).filter((at) => at <= index);
  const runs = nodes.map((n) => latest(n.values.map(([at]) => [at, at]), index)).filter((at) => at !== undefined);
  const last = nodes[nodes.length - 1];
  return {
    born: births.length ? Math.min(...births) : null,
    ran: runs.length && runs.length === nodes.length ? Math.max(...runs) : null,
    done: runs.length,
    of: nodes.length,
    freed: nodes.length > 0 && nodes.every((n) => (n.freed ?? Infinity) <= index),
    earlier: last === all[all.length - 1] ? 0 : all[all.length - 1].values.filter(([at]) => at <= index).length - 1,
    value: latest(last?.values, index),
    gradient: latest(last?.gradients, index),
    reached: nodes.filter((n) => latest(n.gradients, index)).length,
  };
}

/**
 * The material of a card: a plan is an outline, what ran is filled, a group by as much of it as ran.
 * @param {Card} card @param {ReturnType<typeof life>} life
 * @param {boolean} plan whether its graph was built before it ran @param {boolean} failed
 */
function material({ kind }, { born, ran, done, of, freed, earlier, value, gradient }, plan, failed) {
  const there = born != null && !failed;
  return {
    "mg-unborn": born == null && !failed,
    "mg-failed": failed,
    "mg-part": there && done > 0 && done < of,
    "mg-born": there && plan && ran == null && kind !== "constant",
    "mg-ran": there && ran != null && !GIVEN.has(kind),
    "mg-freed": freed,
    "mg-anew": earlier > 0,
    "mg-anew-more": earlier > 1,
    "mg-bad": value?.bad || gradient?.bad,
    "mg-origin": value?.origin || gradient?.origin || (GIVEN.has(kind) && value?.bad),
    "mg-bad-back": gradient?.bad,
  };
}

/** Words with their numbers. @param {Pair} pair @param {Record<string, number>} numbers @returns {Pair} */
function filled(pair, numbers) {
  return /** @type {Pair} */ (pair.map((half) => half.replace(/\{(\w+)\}/g, (_, name) => String(numbers[name]))));
}

/**
 * "built at step 3", "ran at step 7": when what became of a card. A group of a graph that was not planned
 * is built and run operator by operator: "built, ran:", "steps 3 to 7".
 * @param {Card} card @param {ReturnType<typeof life>} life @param {boolean} plan @param {Words} words @returns {Clock}
 */
function clockwork({ kind }, { born, ran, done, of }, plan, words) {
  const given = GIVEN.has(kind);
  if (born == null || kind === "constant") return [];
  if (ran === born) return [filled(given ? words.card_given : words.card_both, { step: born })];
  if (!plan && !given && done && of > 1) return [words.card_once, ran == null ? filled(words.card_some, { done, of }) : filled(words.card_span, { born, ran })];
  const first = filled(given && ran != null ? words.card_declared : words.card_built, { step: born });
  if (done > 0 && done < of) return [first, filled(words.card_part, { done, of })];
  return ran == null ? [first] : [first, filled(given ? words.card_fed : words.card_ran, { step: ran })];
}

/**
 * One card of a drawing. Its texts and classes are written only where they change.
 * @param {SVGGElement} g @param {string[]} members ids of the nodes it stands for
 * @param {string[][]} calls ids of those that make its state: of a strip for each call in it
 * @returns {Card}
 */
function card(g, members, calls) {
  const part = (/** @type {string} */ name) => /** @type {SVGTextElement | null} */ (g.querySelector(`.mg-${name}`));
  const [built = null, ran = null] = /** @type {NodeListOf<SVGTextElement>} */ (g.querySelectorAll(".mg-clock"));
  const parts = { value: part("value"), grad: part("grad"), built, ran, del: part("del") };
  const slots = { value: g.querySelector(".mg-swatch.mg-of-value"), grad: g.querySelector(".mg-swatch.mg-of-grad") };
  const [sign, name] = ["sign", "name"].map((kind) => part(kind)?.textContent ?? "");
  const kind = /mg-kind-(\w+)/.exec(g.getAttribute("class") ?? "")?.[1] ?? "";
  const whole = Number(g.querySelector(".mg-card")?.getAttribute("width"));
  const done = g.querySelector(".mg-done");
  halo(g);
  const drawn = [...g.querySelectorAll(".mg-cell")];
  const left = Math.max(0, calls.length - drawn.length); // out in the middle, where the dots are
  const cells = drawn.map((cell, i) => ({ g: cell, counts: calls[i < drawn.length >> 1 ? i : i + left] ?? [], seen: {} }));
  g.classList.toggle("mg-strip", cells.length > 0);
  const title = kind === "group" ? sign : name || sign; // a strip of calls has there what it is given
  if (cells.length < Number(title.match(/ × (\d+)/)?.[1])) parted(g); // each stands for several calls
  return { g, id: g.id, kind, members, counts: calls.flat(), cells, parts, slots, done, whole, sign, title, seen: {} };
}

/** Let the cells of a strip leave room for dots between both halves. @param {Element} g */
function parted(g) {
  const cells = [...g.querySelectorAll(".mg-cell-card")];
  const [[from], [top], [high]] = ["x", "y", "height"].map((name) => numbers(cells[0], name));
  const step = (numbers(cells[1], "x")[0] - from) * (cells.length / (cells.length + DOTS));
  const [half, gap] = [cells.length >> 1, Math.min(3, step - 1)];
  cells.forEach((cell, i) => {
    cell.setAttribute("x", String(from + step * (i + (i < half ? 0 : DOTS))));
    cell.setAttribute("width", String(step - gap));
  });
  const d = [1, 3, 5].map((k) => `M${from + step * (half + (DOTS * k) / 6) - gap / 2} ${top + high / 2}h0`);
  cells[half].after(shape("path", { class: "mg-cell-dots", d: d.join("") }));
}

/**
 * Give an element these classes, and no others of those asked about.
 * @param {{g: Element, seen: Record<string, unknown>}} entry @param {Record<string, unknown>} state
 */
function look({ g, seen }, state) {
  for (const [name, on] of Object.entries(state)) {
    if (Boolean(on) === Boolean(seen[name]) && name in seen) continue;
    g.classList.toggle(name, Boolean(on));
    seen[name] = on;
  }
}

/** How much of a group is filled. @param {Card} card @param {ReturnType<typeof life>} life */
function fill({ done: bar, whole, seen }, { done, of }) {
  const wide = Math.round((whole * done) / (of || 1));
  if (!bar || seen.wide === wide) return;
  seen.wide = wide;
  bar.setAttribute("width", String(wide));
}

/**
 * The calls in a strip, each by itself: planned, running, done, reached by its gradient.
 * @param {Card} card @param {Data} data @param {number} index @param {boolean} plan
 */
function unroll({ cells }, { nodes, frames }, index, plan) {
  for (const cell of cells) {
    const { born, ran, done, gradient } = life(cell.counts.map((id) => nodes[id]), index);
    look(cell, {
      "mg-cell-unborn": born == null,
      "mg-cell-plan": born != null && plan && !done,
      "mg-cell-part": born != null && ran == null && (done || !plan),
      "mg-cell-ran": ran != null,
      "mg-cell-back": gradient,
      "mg-cell-now": cell.counts.some((id) => frames[index].active.includes(id)),
    });
  }
}

/**
 * Write a row of a card, if there is room for it and it says something else.
 * @param {Card} card @param {"value" | "grad" | "built" | "ran" | "del"} row @param {string | Pair} text
 */
function write(card, row, text) {
  const key = String(text);
  if (card.seen[row] === key) return false;
  card.seen[row] = key;
  const line = card.parts[row];
  if (!line) return false;
  if (typeof text === "string") line.textContent = text;
  else {
    line.replaceChildren();
    text.forEach((half, i) => {
      if (i) line.append(" ");
      shape("tspan", { lang: i ? "zh" : "en" }, line).textContent = half;
    });
  }
  return true;
}

/**
 * Draw a tensor on a card, if it is another one than before.
 * @param {Card} card @param {"value" | "grad"} of @param {string} code "" for none @param {string[][]} [grid] its numbers, if they are few
 */
function picture(card, of, code, grid) {
  const slot = card.slots[of];
  const key = code && `${code} ${gridded(grid)}`;
  if (!slot || (card.seen[`swatch ${of}`] ?? "") === key) return false;
  card.seen[`swatch ${of}`] = key;
  depict(slot, code, grid);
  return true;
}
