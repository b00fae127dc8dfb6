// The model that the atlas shows: the tree of modules, who reads what, and when it was there.
// Time runs from 0 to n while the n operators run forward, and on to 2n while gradients come back.

/**
 * The data of a model with everything in it that drawing asks for again and again.
 * @param {AtlasData} data
 * @returns {AtlasModel}
 */
function atlasModel(data) {
  const { operators, inputs, parameters, failure } = data;
  for (const { shape, v, g } of [...operators, ...inputs, ...parameters])
    for (const x of [v, g]) if (x !== undefined) data.portraits[x].shape ??= shape;
  const n = operators.length;
  const tensors = [...operators, ...inputs];
  /** @type {number[][]} */
  const readers = tensors.map(() => []);
  const failed = data.failed ?? -1;
  if (failure && !data.findings.some((f) => f.text === failure)) data.findings.unshift({ text: failure, op: failed, bad: true });
  operators.forEach((op, i) => op.reads.forEach((x) => readers[x].push(i)));
  /** @type {AtlasNode[]} */
  const nodes = data.nodes.map((row, i) => ({ ...row, i, depth: 0, out: -1, grad: false, sum: NOTHING, shown: null }));
  const root = nodes[0];
  for (const node of nodes) {
    const alike = node.children && / × \d+$/.exec(node.name); // operators of one line and of one kind are a stack, too
    if (alike && node.name) [node.name, node.repeats] = [node.name.slice(0, alike.index), true];
  }
  const used = inputs.map((_, k) => k).filter((k) => readers[n + k].length);
  used.forEach((k, at) => {
    const node = { i: nodes.length, parent: 0, name: inputs[k].name, kind: "", a: 0, b: 0, input: k, out: n + k };
    nodes.push({ ...node, depth: 1, grad: inputs[k].g !== undefined, sum: NOTHING, shown: null });
    /** @type {number[]} */ (root.children).splice(at, 0, node.i);
  });
  /** @type {AtlasNode[]} */
  const leaves = new Array(n);
  const outputs = new Set(data.outputs);
  const leads = (/** @type {AtlasNode} */ node, /** @type {number} */ i) =>
    outputs.has(i) || readers[i].some((r) => r < node.a || r >= node.b);
  const whole = { params: 0, ms: 0, back: 0, total: 0, kept: 0, count: 0, weights: /** @type {number[]} */ ([]) };
  for (const node of nodes) {
    node.depth = node.parent == null ? 0 : nodes[node.parent].depth + 1;
    if (node.input !== undefined) continue;
    if (node.op !== undefined) {
      const op = operators[node.op];
      leaves[node.op] = node;
      node.out = node.op;
      node.name ||= (op.sign !== "ᵀ" && op.sign) || op.op; // that one is too small alone
      node.kind ||= "";
    } else {
      node.out = node.b - 1;
      for (let i = node.b - 1; i >= node.a; i--)
        if (leads(node, i)) {
          node.out = i;
          break;
        }
    }
    node.grad = tensors[node.out]?.g !== undefined;
    const inside = operators.slice(node.a, node.b);
    const read = inside.flatMap((op) => op.weights ?? []);
    const weights = node === root ? parameters.map((_, w) => w) : [...new Set(read)];
    node.sum = {
      ...whole,
      weights,
      count: inside.length,
      params: weights.reduce((sum, w) => sum + (parameters[w].kept === "buffer" ? 0 : parameters[w].size), 0),
      ms: inside.reduce((sum, op) => sum + op.ms, 0),
      back: inside.reduce((sum, op) => sum + (op.back ?? 0), 0),
      kept: inside.reduce((sum, op) => sum + (op.kept ?? 0), 0),
    };
    node.sum.total = node.sum.ms + node.sum.back;
  }
  const ends = [0]; // what part of the axis has been used up by each operator: more if it has a gradient
  for (let i = 0; i < n; i++) ends.push(ends[i] + (operators[i].g === undefined ? 0.15 : 1));
  const rows = /** @type {number[]} */ (root.children).map((c) => nodes[c]).filter((node) => node.input === undefined);
  const troubles = data.findings.filter((f) => f.bad).map((f) => f.op);
  const end = failed >= 0 ? failed + 0.5 : data.backward ? 2 * n : n;
  return { data, n, nodes, root, tensors, readers, leaves, ends, rows, end, failed, troubles, places: new Map() };
}

/** @type {AtlasNode["sum"]} */
const NOTHING = { params: 0, ms: 0, back: 0, total: 0, kept: 0, count: 0, weights: [] };

/** @param {AtlasModel} m @param {AtlasNode} node */
const parentOf = (m, node) => (node.parent == null ? null : m.nodes[node.parent]);

/** The modules around a node, the whole model first, itself last. @param {AtlasModel} m @param {AtlasNode | null} node */
function pathOf(m, node) {
  const path = [];
  for (; node; node = parentOf(m, node)) path.unshift(node);
  return path;
}

/** @param {AtlasModel} m @param {AtlasNode | null} node @param {AtlasNode} around */
const isInside = (m, node, around) => pathOf(m, node).includes(around);

/** @param {AtlasModel} m @param {AtlasNode} node */
const fullName = (m, node) => pathOf(m, node).slice(1).map((x) => x.name).join(".") || m.root.name;

/** A name that says enough alone: "0 Conv2d" or "layer1.0" instead of "0". @param {AtlasModel} m @param {AtlasNode} node */
function titleOf(m, node) {
  const around = parentOf(m, node);
  if (!/^\d+$/.test(node.name)) return node.name;
  const [title, alike] = around?.parent != null ? [`${around.name}.${node.name}`, around.repeats] : [node.name, false];
  return node.kind && !alike ? `${title} ${node.kind}` : title;
}

/** The name of the whole model; of a Sequential, which has none of its own, its first and its last part. @param {AtlasModel} m */
function modelName(m) {
  const kinds = m.rows.map(({ kind }) => kind);
  const [first, last] = [kinds[0], kinds[kinds.length - 1]];
  return m.data.name === "Sequential" && kinds.length > 1 && first && last ? `${first} → ${kinds.length > 2 ? "… → " : ""}${last}` : m.data.name;
}

/** @param {AtlasModel} m @param {AtlasNode} node */
const partsOf = (m, node) => (node.children ?? []).map((c) => m.nodes[c]);

/** What each call of a stack gives to the next, if it's one module that is called again and again: the tensor, and its name. @param {AtlasModel} m @param {AtlasNode} node */
function stateOf(m, node) {
  const calls = node.repeats ? partsOf(m, node) : [];
  const same = calls.every(({ sum }) => String(sum.weights) === String(calls[0].sum.weights));
  const given = calls.slice(1).map((call, i) =>
    m.data.operators.slice(call.a, call.b).flatMap((op) => op.reads).find((x) => x >= calls[i].a && x < calls[i].b));
  if (!same || !given.length || given.includes(undefined)) return null;
  const tensor = Number(given[0]);
  const [, name, from] = /^\s*(\w+(?:, *\w+)*) *=([^=].*)/.exec(m.data.lines[m.data.operators[tensor].line]?.[2] ?? "") ?? [];
  const read = name?.split(/, */).every((one) => new RegExp(`\\b${one}\\b`).test(from));
  return { calls, tensor, name: read ? name : "" };
}

/**
 * Whether a module adds its own input to what its layers compute; of a stack, each of its parts. Behind
 * the sum, which may be one of several, there may be what has no weights and one operand, a ReLU.
 * @param {AtlasModel} m @param {AtlasNode} node @returns {boolean}
 */
function addsInput(m, node) {
  const found = ADDERS.get(node) ?? sumsInput(m, node);
  ADDERS.set(node, found);
  return found;
}

/** @type {WeakMap<AtlasNode, boolean>} */
const ADDERS = new WeakMap();

/** @param {AtlasModel} m @param {AtlasNode} node @returns {boolean} */
function sumsInput(m, node) {
  if (node.repeats) return partsOf(m, node).every((part) => addsInput(m, part));
  if (!node.children || !node.kind) return false;
  const { operators } = m.data;
  const within = (/** @type {number} */ x) => x >= node.a && x < node.b;
  let at = node.out;
  while (within(at) && operators[at].reads.length === 1 && !operators[at].weights) [at] = operators[at].reads;
  while (within(at) && operators[at].op === "Add" && operators[at].reads.length === 2) {
    const [first, second] = operators[at].reads;
    const inner = within(first) ? first : second;
    const given = inner === first ? second : first;
    if (!within(inner)) return false;
    if (!within(given)) return computedFrom(m, node, inner, given);
    if (hasShortcut(m, node, first, second)) return true;
    at = [first, second].find((x) => operators[x].op === "Add" && !operators[x].weights) ?? -1;
  }
  return false;
}

const LAYER = /conv|matmul|linear|einsum/i;

/** Whether a module adds its input by way of a single layer, as a 1×1 convolution, to what two or more compute from it apart. @param {AtlasModel} m @param {AtlasNode} node @param {number} first @param {number} second */
function hasShortcut({ data: { operators } }, node, first, second) {
  const [one, other] = [first, second].map((op) => {
    const [met, given] = [new Set(), new Set()];
    for (let at, left = [op]; (at = left.pop()) !== undefined; )
      if (at < node.a || at >= node.b) given.add(at);
      else if (!met.has(at)) {
        met.add(at);
        left.push(...operators[at].reads);
      }
    const layers = [...met].filter((i) => operators[i].weights && LAYER.test(operators[i].op)).length;
    return { met, given, layers };
  });
  const apart = ![...one.met].some((i) => other.met.has(i));
  const alike = one.given.size === 1 && String([...one.given]) === String([...other.given]);
  return apart && alike && Math.min(one.layers, other.layers) === 1 && Math.max(one.layers, other.layers) > 1;
}

/** Whether an operator in a module comes from a tensor, by way of weights. @param {AtlasModel} m @param {AtlasNode} node @param {number} op @param {number} tensor */
function computedFrom({ data: { operators } }, node, op, tensor) {
  const [met, left] = [new Set(), [op]];
  for (let at; (at = left.pop()) !== undefined; )
    if (!met.has(at)) {
      met.add(at);
      if (at >= node.a && at < node.b) left.push(...operators[at].reads);
    }
  return met.has(tensor) && [...met].some((i) => i >= node.a && i < node.b && operators[i].weights);
}

const clamp = (/** @type {number} */ v, /** @type {number} */ low, /** @type {number} */ high) => Math.min(high, Math.max(low, v));

/** How much of a node has run by this time. @param {AtlasNode} node @param {number} time */
const ran = (node, time) => (node.b > node.a ? clamp((time - node.a) / (node.b - node.a), 0, 1) : 1);

/** How far its gradients have come back. @param {AtlasModel} m @param {AtlasNode} node @param {number} time */
function cameBack(m, node, time) {
  if (!node.grad || m.end < 2 * m.n) return 0;
  if (node.input !== undefined) return time >= 2 * m.n ? 1 : 0;
  return clamp((time - (2 * m.n - node.b)) / (node.b - node.a), 0, 1);
}

/** How long a node took so far: forward, and back once its gradients have come. @param {AtlasModel} m @param {AtlasNode} node @param {number} time */
const spentBy = (m, node, time) => (ran(node, time) < 1 ? 0 : cameBack(m, node, time) >= 1 ? node.sum.total : node.sum.ms);

/** Whether a node is what stopped the run, or around it. @param {AtlasModel} m @param {AtlasNode} node @param {number} time */
const hasFailed = (m, node, time) => m.failed >= 0 && time > m.failed && m.failed >= node.a && m.failed < node.b;

const OF_GRADIENTS = /back|vanishing|exploding|no_gradient/; // findings that are seen once gradients have come back

/** Whether a node is red: it failed, or it ran, forward or back, and a finding names an operator in it. @param {AtlasModel} m @param {AtlasNode} node @param {number} time */
const isTrouble = (m, node, time) => hasFailed(m, node, time) || (m.failed < 0 && m.data.findings.some(({ bad, op, about }) => (
  bad && op >= node.a && op < node.b && time > (OF_GRADIENTS.test(about ?? "") ? 2 * m.n - op - 1 : op)
)));

/** Whether a tensor is there. @param {AtlasModel} m @param {number} tensor @param {number} time */
const isThere = (m, tensor, time) => tensor >= m.n || time >= tensor + 1;

/** Whether the gradient of a tensor has come along this edge. @param {AtlasModel} m @param {AtlasEdge} edge @param {number} time */
function passedBack(m, edge, time) {
  const row = m.tensors[edge.tensor];
  if (row.g === undefined || m.end < 2 * m.n) return false;
  const reader = edge.to.node;
  if (reader) return reader.grad && time >= 2 * m.n - reader.a - 1e-6;
  return time >= 2 * m.n - (edge.tensor < m.n ? m.leaves[edge.tensor].b : 0);
}

/** Whether a tensor is one number, which is written, not pictured. @param {{shape: number[]}} tensor */
const isNumber = ({ shape }) => shape.every((n) => n === 1);

/** The norm of what a portrait is of, or how many of its elements have none. @param {any} speech @param {Portrait | null} [p] */
const normOf = (speech, p) => (p?.bad ? speech.line("not_finite", { count: p.bad }) : figure(p?.norm));

/** @param {AtlasModel} m @param {number | undefined} number */
const portraitOf = (m, number) => (number === undefined ? null : m.data.portraits[number]);

/**
 * What is stepped through at the modules that are open, first forward and then back.
 * @param {AtlasModel} m @param {Set<number>} open
 * @returns {AtlasStep[]}
 */
function stepsOf(m, open) {
  /** @type {AtlasNode[]} */
  const met = [];
  const walk = (/** @type {AtlasNode} */ group) => {
    for (const node of partsOf(m, group)) {
      if (node.input !== undefined) continue;
      if (node.children && open.has(node.i)) walk(node);
      else met.push(node);
    }
  };
  walk(m.root);
  met.sort((x, y) => x.a - y.a);
  /** @type {AtlasStep[]} */
  const steps = met.map((node) => ({ node, back: false, from: node.a, to: node.b }));
  if (m.failed >= 0) {
    const at = steps.findIndex((s) => s.to > m.failed);
    steps.length = at + 1;
    steps[at].to = m.end;
  } else if (m.end > m.n) {
    for (const node of met.reverse())
      if (node.grad) steps.push({ node, back: true, from: 2 * m.n - node.b, to: 2 * m.n - node.a });
    steps[steps.length - 1].to = m.end;
  }
  return steps;
}
