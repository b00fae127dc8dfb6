// The inspector: all that is known of one node, or of one arrow, at the step that is shown.

/**
 * A list of terms with what is known of each.
 * @param {Element} parent
 */
function facts(parent) {
  const list = make("dl", "", parent);
  return (/** @type {Pair} */ term, /** @type {string | Pair} */ text) => {
    say(make("dt", "", list), term);
    say(make("dd", "", list), typeof text === "string" ? [text, text] : text);
  };
}

/** @param {Element} parent @param {string} name @param {Pair | null} [more] */
function about(parent, name, more) {
  const part = make("div", "mg-about", parent);
  const title = make("h2", "", part);
  title.append(name);
  if (more) say(title, [` · ${more[0]}`, ` · ${more[1]}`]);
  return part;
}

/** @param {PlayedNode} node @param {number} index @param {Data} data @param {Element} parent */
function inspectNode(node, index, data, parent) {
  const { words } = data;
  const said = (/** @type {Pair | number | undefined} */ text) => (typeof text === "number" ? data.texts[text] : text);
  const part = about(parent, node.label, said(node.title));
  const add = facts(part);
  const [value, gradient] = [latest(node.values, index), latest(node.gradients, index)];
  add(words.kind, said(node.kind) ?? "");
  const shape = [node.shape, node.dtype].filter(Boolean).join("  ");
  if (shape) add(words.shape, shape);
  if (!data.still || value) {
    add(words.value, value ? (value.long ?? value.short) : words.not_yet);
    add(words.gradient, gradient ? (gradient.long ?? gradient.short) : words.not_computed);
  }
  if (value) larger(words.value, value, coded(data, value), "value", words.swatch_value, part);
  if (gradient) larger(words.gradient, gradient, coded(data, gradient), "grad", words.swatch_gradient, part);
  for (const answers of Object.values(node.answers ?? {})) {
    const answer = said(latest(answers, index));
    if (answer) say(make("p", "", part), answer);
  }
  return part;
}

/** @param {EdgeData} edge @param {Data} data @param {string | Share | undefined} flow @param {Element} parent */
function inspectEdge([source, target, carries], data, flow, parent) {
  const ends = [source, target].map((id) => data.nodes[id]?.label ?? "");
  const add = facts(about(parent, ends.join(" → ")));
  if (carries) add(data.words.shape, carries);
  if (flow) add(data.words.flows, typeof flow === "string" ? flow : (product(flow)?.text || flow.value));
}
