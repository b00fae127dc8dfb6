// What the steps of a program call. A text holds only those that it names, and what these name.
// y is the result; K and R are tables of positions: where the elements of a result begin, and how
// far from there each of them is. Sums are kept in float64 and rounded once.

const f = Math.fround;
const whole = (x) => {
  if (!Number.isSafeInteger(x)) throw new RangeError(`${x} ∉ ±2^53`);
  return x + 0; // no −0
};
const truth = (x) => +(x !== 0);
const truncated = (x, low, high) => {
  const t = Math.trunc(x) + 0;
  if (!(t >= low && t <= high)) throw new RangeError(`${x} ∉ [${low}, ${high}]`);
  return t;
};
const feed = (to, feeds, name, convert) => {
  const given = Object.hasOwn(feeds, name) ? feeds[name] : [];
  const x = Array.isArray(given) ? given.flat(Infinity) : Object(given) === given ? given : [given];
  if (x.length !== to.length) throw new RangeError(`${name}: ${x.length} ≠ ${to.length}`);
  for (let i = 0; i < to.length; i++) to[i] = convert(Number(x[i]));
};
const decoded = (text, kind) => new kind(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const view = (lengths, strides, base) => {
  let at = Int32Array.of(base);
  lengths.forEach((n, k) => {
    const next = new Int32Array(at.length * n);
    at.forEach((p, i) => { for (let j = 0; j < n; j++) next[i * n + j] = p + j * strides[k]; });
    at = next;
  });
  return at;
};
const move = (y, x, from) => { for (let i = 0; i < y.length; i++) y[i] = x[from[i]]; };
const put = (y, x, to) => { for (let i = 0; i < to.length; i++) y[to[i]] = x[i]; };
const carry = (y, x, to, from) => {
  for (let i = 0; i < to.length; i++) y[position(to[i], y.length)] = x[from[i]];
};
const pow = (a, b) => a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : a ** b;
const power = (a, b) => {
  if (b < 0) throw new RangeError(`${a} ^ ${b}`);
  return whole(a ** b);
};
const divisor = (x) => {
  if (x === 0) throw new RangeError("÷ 0");
  return x;
};
const remainder = (a, b) => {
  const r = a % b;
  return r ? (r < 0 !== b < 0 ? r + b : r) : r === 0 ? (b < 0 ? -0 : 0) : r;
};
const quotient = (a, b) => {
  if (b === 0) return a / b;
  const r = a % b, q = (a - r) / b - (r !== 0 && r < 0 !== b < 0 ? 1 : 0);
  return q ? Math.floor(q) + (q - Math.floor(q) > 0.5) : q === 0 ? (a / b > 0 ? 0 : -0) : q;
};
const even = (x) => {
  const low = Math.floor(x), d = x - low;
  return d < 0.5 ? low : d > 0.5 || low % 2 ? low + 1 : d === 0.5 ? low : x;
};
const ratio = (x, p, q) => p.reduce((s, c) => s * x + c, 0) / q.reduce((s, c) => s * x + c, 0);
const erf = (x) => {
  const a = Math.min(Math.abs(x), 6);
  if (!(a > 0.46875)) return x * ratio(x * x, near[0], near[1]);
  return Math.sign(x) * (1 - Math.exp(-a * a) * ratio(a, far[0], far[1]));
};
const largest = (x, at, R) => {
  let top = -Infinity;
  for (let r = 0; r < R.length; r++) top = Math.max(top, x[at + R[r]]);
  return top;
};
const exponentials = (x, at, R, top) => {
  let total = 0;
  for (let r = 0; r < R.length; r++) total += Math.exp(x[at + R[r]] - top);
  return total;
};
const crossed = (p, t) =>
  (t - 1) * Math.max(Math.log1p(-p), -100) - t * Math.max(Math.log(p), -100);
const softmax = (y, x, K, R) => {
  for (let k = 0; k < K.length; k++) {
    const at = K[k], top = largest(x, at, R), total = exponentials(x, at, R, top);
    for (let r = 0; r < R.length; r++) y[at + R[r]] = Math.exp(x[at + R[r]] - top) / total;
  }
};
const logSoftmax = (y, x, K, R) => {
  for (let k = 0; k < K.length; k++) {
    const at = K[k], top = largest(x, at, R), total = Math.log(exponentials(x, at, R, top));
    for (let r = 0; r < R.length; r++) y[at + R[r]] = x[at + R[r]] - top - total;
  }
};
const logSumExp = (y, x, K, R) => {
  for (let k = 0; k < K.length; k++) {
    const most = largest(x, K[k], R), top = Number.isFinite(most) ? most : 0;
    y[k] = Math.log(exponentials(x, K[k], R, top)) + top;
  }
};
const label = (t, n) => {
  if (!(t >= 0 && t < n)) throw new RangeError(`${t} ∉ [0, ${n})`);
  return t;
};
const crossEntropy = (y, x, t, K, R) => {
  for (let k = 0; k < K.length; k++) {
    const at = K[k], top = largest(x, at, R), total = exponentials(x, at, R, top);
    y[k] = Math.log(total) - (x[at + label(t[k], R.length)] - top);
  }
};
const crossEntropySlope = (y, g, x, t, K, R) => {
  for (let k = 0; k < K.length; k++) {
    const at = K[k], top = largest(x, at, R), total = exponentials(x, at, R, top);
    for (let r = 0; r < R.length; r++)
      y[at + r] = (Math.exp(x[at + r] - top) / total - (r === label(t[k], R.length))) * g[k];
  }
};
const oneHot = (y, t) => {
  for (let i = 0, n = y.length / t.length; i < y.length; i++) y[i] = t[Math.floor(i / n)] === i % n;
};
const fold = (y, x, K, R, start, next) => {
  for (let k = 0; k < K.length; k++) {
    let s = start;
    for (let r = 0; r < R.length; r++) s = next(s, x[K[k] + R[r]]);
    y[k] = s;
  }
};
const sum = (y, x, K, R, n) => {
  for (let k = 0; k < K.length; k++) {
    let s = 0;
    for (let r = 0; r < R.length; r++) s += x[K[k] + R[r]];
    y[k] = s / n;
  }
};
const cumSum = (y, x, K, R, exact) => {
  for (let k = 0; k < K.length; k++)
    for (let r = 0, s = 0; r < R.length; r++) y[K[k] + R[r]] = s = exact(s + x[K[k] + R[r]]);
};
const productOfOthers = (y, x, K, R) => {
  for (let k = 0; k < K.length; k++) for (let r = 0; r < R.length; r++) {
    let s = 1;
    for (let q = 0; q < R.length; q++) if (q !== r) s *= x[K[k] + R[q]];
    y[K[k] + R[r]] = s;
  }
};
const normalize = (y, x, K, R, eps) => {
  for (let k = 0, n = R.length; k < K.length; k++) {
    let mean = 0, square = 0;
    for (let r = 0; r < n; r++) mean += x[K[k] + R[r]] / n;
    for (let r = 0; r < n; r++) square += (x[K[k] + R[r]] - mean) ** 2;
    const by = Math.sqrt(square / n + eps);
    for (let r = 0; r < n; r++) y[K[k] + R[r]] = (x[K[k] + R[r]] - mean) / by;
  }
};
const extremeAt = (y, x, K, R, sign) => {
  for (let k = 0; k < K.length; k++) {
    let at = 0, best = x[K[k]];
    for (let r = 1; r < R.length && best === best; r++) {
      const v = x[K[k] + R[r]];
      if (sign * v > sign * best || v !== v) { best = v; at = r; }
    }
    y[k] = at;
  }
};
const shareOfExtreme = (y, x, top, K, R) => {
  for (let k = 0; k < K.length; k++) {
    let n = 0;
    for (let r = 0; r < R.length; r++) n += x[K[k] + R[r]] === top[k];
    for (let r = 0; r < R.length; r++) y[K[k] + R[r]] = (x[K[k] + R[r]] === top[k]) / n;
  }
};
const argSort = (y, x, K, R, sign) => {
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : (a !== a) - (b !== b));
  for (let k = 0; k < K.length; k++)
    Array.from(R, (_, r) => r).sort((a, b) => sign * order(x[K[k] + R[a]], x[K[k] + R[b]]))
      .forEach((at, r) => { y[K[k] + R[r]] = at; });
};
// y[at + i n + j] = Σ a[p + i ar + l ac] b[q + l br + j bc] over l < k, added to what is there.
const product = (y, at, a, p, ar, ac, b, q, br, bc, m, k, n, added) => {
  const row = new Float64Array(n);
  for (let i = 0; i < m; i++, p += ar, at += n) {
    row.fill(0);
    let j = 0, l = 0;
    if (br === 1) for (; j + 3 < n; j += 4) { // four columns at once, each of them in one run
      const q0 = q + j * bc, q1 = q0 + bc, q2 = q1 + bc, q3 = q2 + bc;
      let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (let l = 0, u = p; l < k; l++, u += ac) {
        const x = a[u];
        s0 += x * b[q0 + l]; s1 += x * b[q1 + l]; s2 += x * b[q2 + l]; s3 += x * b[q3 + l];
      }
      row[j] = s0; row[j + 1] = s1; row[j + 2] = s2; row[j + 3] = s3;
    }
    for (; l + 3 < k; l += 4) { // four rows at once
      const u = p + l * ac, x0 = a[u], x1 = a[u + ac], x2 = a[u + 2 * ac], x3 = a[u + 3 * ac];
      for (let c = j, v = q + l * br + j * bc; c < n; c++, v += bc)
        row[c] += x0 * b[v] + x1 * b[v + br] + x2 * b[v + 2 * br] + x3 * b[v + 3 * br];
    }
    for (; l < k; l++)
      for (let c = j, x = a[p + l * ac], v = q + l * br + j * bc; c < n; c++, v += bc) row[c] += x * b[v];
    if (added) for (let c = 0; c < n; c++) y[at + c] += row[c];
    else y.set(row, at);
  }
};
const matmul = (y, a, b, A, B, m, k, n, ar, ac, br, bc) => {
  for (let t = 0; t < A.length; t++)
    product(y, t * m * n, a, A[t], ar, ac, b, B[t], br, bc, m, k, n, false);
};
const exactMatmul = (y, a, b, A, B, m, k, n, ar, ac, br, bc, exact) => {
  for (let t = 0, o = 0; t < A.length; t++) for (let i = 0; i < m; i++) for (let j = 0; j < n; j++, o++) {
    let s = 0;
    for (let l = 0; l < k; l++)
      s = exact(s + exact(a[A[t] + i * ar + l * ac] * b[B[t] + l * br + j * bc]));
    y[o] = s;
  }
};
// The pixels under a window at each of its places; `at` is −1 where the frame is.
const windows = (w, visit) => {
  for (let n = 0, place = 0; n < w.n; n++) for (let i = 0; i < w.oh; i++) for (let j = 0; j < w.ow; j++, place++)
    for (let u = 0; u < w.kh; u++) for (let v = 0; v < w.kw; v++) {
      const r = i * w.down + u - w.top, q = j * w.right + v - w.left;
      visit(place, r >= 0 && r < w.h && q >= 0 && q < w.w ? (n * w.h + r) * w.w + q : -1);
    }
};
// The columns of an image: one for each place of the window. Back: adds them to the pixels.
const columns = (into, x, at, w, back) => {
  for (let k = 0, to = 0; k < w.c; k++) for (let u = 0; u < w.kh; u++) for (let v = 0; v < w.kw; v++)
    for (let i = 0; i < w.oh; i++) {
      const r = i * w.down + u - w.top, from = at + (k * w.h + r) * w.w;
      for (let j = 0; j < w.ow; j++, to++) {
        const q = j * w.right + v - w.left, inside = r >= 0 && r < w.h && q >= 0 && q < w.w;
        if (!back) into[to] = inside ? x[from + q] : 0;
        else if (inside) x[from + q] += into[to];
      }
    }
};
const groups = (w, visit) => {
  for (let n = 0, i = 0; n < w.n; n++) for (let g = 0; g < w.groups; g++, i++)
    visit(i * w.c * w.h * w.w, i * w.o * w.oh * w.ow, g * w.o * w.c * w.kh * w.kw);
};
const conv = (y, x, kernels, w, into) => {
  const k = w.c * w.kh * w.kw, n = w.oh * w.ow;
  groups(w, (image, result, kernel) => {
    columns(into, x, image, w, false);
    product(y, result, kernels, kernel, k, 1, into, 0, n, 1, w.o, k, n, false);
  });
};
const convInput = (y, g, kernels, w, into) => {
  const k = w.c * w.kh * w.kw, n = w.oh * w.ow, total = new Float64Array(y.length);
  groups(w, (image, result, kernel) => {
    product(into, 0, kernels, kernel, 1, k, g, result, n, 1, k, w.o, n, false);
    columns(into, total, image, w, true);
  });
  y.set(total);
};
const convWeight = (y, g, x, w, into) => {
  const k = w.c * w.kh * w.kw, n = w.oh * w.ow, total = new Float64Array(y.length);
  groups(w, (image, result, kernel) => {
    columns(into, x, image, w, false);
    product(total, kernel, g, result, n, 1, into, 0, 1, n, w.o, n, k, true);
  });
  y.set(total);
};
const maxPool = (y, x, w, low) => {
  y.fill(low);
  windows(w, (place, at) => { if (at >= 0) y[place] = Math.max(y[place], x[at]); });
};
const firstLargest = (x, top, w, low, visit) => {
  const done = new Uint8Array(top.length);
  windows(w, (place, at) => {
    if (done[place] || (at < 0 ? low : x[at]) !== top[place]) return;
    done[place] = 1;
    if (at >= 0) visit(place, at);
  });
};
const maxPoolInput = (y, g, top, x, w, low) => {
  const total = new Float64Array(y.length);
  firstLargest(x, top, w, low, (place, at) => { total[at] += g[place]; });
  y.set(total);
};
const maxPoolPick = (y, h, top, x, w, low) => {
  y.fill(0);
  firstLargest(x, top, w, low, (place, at) => { y[place] = h[at]; });
};
const avgPool = (y, x, w) => {
  const total = new Float64Array(y.length);
  windows(w, (place, at) => { if (at >= 0) total[place] += x[at]; });
  for (let i = 0; i < y.length; i++) y[i] = total[i] / (w.kh * w.kw);
};
const avgPoolInput = (y, g, w) => {
  const total = new Float64Array(y.length);
  windows(w, (place, at) => { if (at >= 0) total[at] += g[place] / (w.kh * w.kw); });
  y.set(total);
};
const position = (i, n) => {
  if (!(i >= -n && i < n)) throw new RangeError(`${i} ∉ [${-n}, ${n})`);
  return i < 0 ? i + n : i;
};
// Rows are numbered over the indexed axes: `indices` holds [positions, where each is read, length].
const rows = (indices, i) => indices.reduce((at, [t, o, n]) => at * n + position(t[o[i]], n), 0);
const take = (y, x, indices, lead, count, all, tail) => {
  for (let i = 0; i < count; i++) for (let l = 0, row = rows(indices, i); l < lead; l++)
    for (let k = 0; k < tail; k++) y[(l * count + i) * tail + k] = x[(l * all + row) * tail + k];
};
const addAt = (y, g, indices, lead, count, all, tail, exact) => {
  const total = new Float64Array(y.length);
  for (let i = 0; i < count; i++) for (let l = 0, row = rows(indices, i); l < lead; l++)
    for (let k = 0, to = (l * all + row) * tail; k < tail; k++, to++)
      total[to] = exact(total[to] + g[(l * count + i) * tail + k]);
  y.set(total);
};
const gather = (y, x, t, K, n, stride) => {
  for (let i = 0; i < y.length; i++) y[i] = x[K[i] + position(t[i], n) * stride];
};
const scatterAdd = (y, g, t, K, n, stride, exact) => {
  const total = new Float64Array(y.length);
  for (let i = 0; i < t.length; i++) {
    const to = K[i] + position(t[i], n) * stride;
    total[to] = exact(total[to] + g[i]);
  }
  y.set(total);
};
const parts = (x, count) => Array.from({ length: count }, (_, t) =>
  x.subarray(t * (x.length / count), (t + 1) * (x.length / count)));
// Loops: `now` is the state, `past` the list of states if they are read; results are set at the end.
const whileLoop = (results, now, test, body, captured, most, past) => {
  if (past) past.length = 0;
  for (let k = 0; k < most && test(...now, ...captured)[0][0] !== 0; k++) {
    if (past) past.push(now);
    now = body(...now, ...captured);
  }
  setAll(results, now);
};
const scan = (results, now, body, captured, sequences, reverse, past) => {
  if (past) past.length = 0;
  const n = now.length, T = sequences[0].length;
  for (let k = 0; k < T; k++) {
    const t = reverse ? T - 1 - k : k;
    if (past) past[t] = now;
    now = body(...now, ...sequences.map((x) => x[t]), ...captured);
    results.slice(n).forEach((y, i) => y.set(now[n + i], t * now[n + i].length));
    now = now.slice(0, n);
  }
  setAll(results.slice(0, n), now);
};
const setAll = (results, found) => results.forEach((y, i) => y.set(found[i]));
const asserted = (x, message) => {
  if (!x.every((v) => v !== 0)) throw new Error(message);
};
// Philox 4×64 with ten rounds, as NumPy has it: key and counter give 64 random bits four times.
const philox = (key, counter) => {
  const low = (x) => x & 0xffffffffffffffffn;
  let [a, b, c, d] = counter, k = key, l = 0n;
  for (let i = 0; i < 10; i++) {
    const p = 0xd2e7470ee14c6c93n * a, q = 0xca5a826395121157n * c;
    [a, b, c, d] = [(q >> 64n) ^ b ^ k, low(q), (p >> 64n) ^ d ^ l, low(p)];
    k = low(k + 0x9e3779b97f4a7c15n);
    l = low(l + 0xbb67ae8584caa73bn);
  }
  return [a, b, c, d];
};
const dropout = (y, x, count, key, least, scale) => {
  for (let i = 0, bits = []; i < y.length; i++) {
    if (i % 16 === 0) bits = philox(key, [BigInt(i / 16 + 1), BigInt(count), 0n, 0n]);
    const word = Number((bits[(i >> 2) & 3] >> BigInt(16 * (i & 3))) & 0xffffn);
    y[i] = x[i] * (word >= least) * scale;
  }
};
// What `make` returns; a row begins with an array, its name, operator, shape and data type.
const network = (given, steps, results, updates, kept) => {
  const about = ([, name, op, shape, dtype]) => ({ name, op, shape, dtype });
  const variables = Object.create(null);
  for (const [name, x] of kept) variables[name] = x;
  const run = (feeds, watch) => {
    for (const [to, name, , , , exact] of given) feed(to, feeds, name, exact);
    let i = 0;
    for (const [step, ...values] of steps) {
      step();
      if (watch) for (const [x] of values) watch(i++, x);
    }
    const found = results.map(([x]) => x.slice());
    for (const [to, from] of updates) to.set(from);
    return found;
  };
  const told = steps.flatMap(([, ...values]) => values.map(about));
  return Object.freeze(
    { run, variables, feeds: given.map(about), outputs: results.map(about), steps: told });
};
