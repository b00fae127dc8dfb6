// A card: what is known of the nodes it stands for at a step, as material and as words.

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
 * How nodes stand at a step: a folded layer tells the value of its last operator.
 * @param {PlayedNode[]} nodes @param {number} index
 */
function life(nodes, index) {
  const computed = nodes.filter((n) => !n.input);
  if (nodes.length > 1 && computed.length) nodes = computed; // what a layer is given does not make it
  const own = nodes.filter((n) => n.values.length);
  const told = nodes.length > 1 ? own[own.length - 1] : nodes[0];
  const born = nodes.some((n) => n.born !== null && n.born <= index);
  const ran = own.length > 0 && own.every((n) => latest(n.values, index));
  const freed = own.length > 0 && own.every((n) => (n.freed ?? Infinity) <= index);
  const value = ran ? latest(told?.values, index) : undefined;
  const gradient = latest(told?.gradients, index);
  const clock = times(nodes, index);
  return { born, ran, freed, value, gradient, times: ran ? clock : { ...clock, ran: null } };
}

/**
 * When nodes were born and ran, by the numbers of the steps: the two clocks.
 * @param {PlayedNode[]} nodes @param {number} index
 */
function times(nodes, index) {
  const runs = nodes.flatMap((n) => n.values.map(([at]) => at)).filter((at) => at <= index);
  const births = nodes.map((n) => n.born ?? n.values[0]?.[0] ?? Infinity).filter((at) => at <= index);
  return { born: births.length ? Math.min(...births) : null, ran: runs.length ? Math.max(...runs) : null };
}

/**
 * "born 3 · ran 7", each half in its language.
 * @param {ReturnType<typeof times>} times @param {boolean} given it computes nothing
 * @param {Words} words @returns {Pair}
 */
function clockwork({ born, ran }, given, words) {
  if (born === null) return ["", ""];
  const computed = given ? (born < (ran ?? 0) ? words.card_fed : words.card_given) : words.card_ran;
  const row = ran === null ? words.card_built : computed;
  const half = (/** @type {string} */ text) => text.replace("{born}", String(born)).replace("{ran}", String(ran));
  return [half(row[0]), half(row[1])];
}

/**
 * One card of a drawing. Its texts and classes are written only where they change.
 * @param {SVGGElement} g @param {string[]} members ids of the nodes it stands for
 * @returns {Card}
 */
function card(g, members) {
  const part = (/** @type {string} */ name) => /** @type {SVGTextElement | null} */ (g.querySelector(`.mg-${name}`));
  const parts = { value: part("value"), grad: part("grad"), clock: part("clock") };
  const [sign, name] = ["sign", "name"].map((kind) => part(kind)?.textContent ?? "");
  return { g, id: g.id, members, parts, sign, title: name || sign, seen: {} };
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

/**
 * Write a row of a card, if there is room for it and it says something else.
 * @param {Card} card @param {"value" | "grad" | "clock"} row @param {string | Pair} text
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
    if (text[0] === text[1]) line.textContent = text[0];
    else
      for (const [i, lang] of /** @type {const} */ ([[0, "en"], [1, "zh"]]))
        shape("tspan", { lang }, line).textContent = text[i];
  }
  return true;
}
