// What the steps of a program call. A text holds only those that it names, and what these name.
// y is the result; K and R are tables of positions: where the elements of a result begin, and how
// they go on from there. Sums are kept in float64 and rounded once.

const f = Math.fround;
const refused = (text) => { throw new RangeError(text); };
const whole = (x) => Number.isSafeInteger(x) ? x + 0 : refused(`${x} ∉ ±2^53`); // + 0: no −0
const truth = (x) => +(x !== 0);
const truncated = (x, low, high) =>
  x > low - 1 && x < high + 1 ? Math.trunc(x) + 0 : refused(`${x} ∉ [${low}, ${high}]`);
const position = (i, n, low = -n) =>
  i >= low && i < n ? (i < 0 ? i + n : i) : refused(`${i} ∉ [${low}, ${n})`);
const divisor = (x) => x || truncated(x, 1, 0);
const pow = (a, b) => a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : a ** b;
const power = (a, b) => whole(a ** truncated(b, 0, Infinity));
const remainder = (a, b) => {
  const r = a % b;
  return r ? (r < 0 !== b < 0 ? r + b : r) : r === 0 ? (b < 0 ? -0 : 0) : r;
};
const quotient = (a, b) => {
  const r = a % b, q = b === 0 ? a / b : (a - r) / b - (r !== 0 && r < 0 !== b < 0 ? 1 : 0);
  if (q === 0) return a / b > 0 ? 0 : -0;
  return b === 0 ? q : Math.floor(q) + (q - Math.floor(q) > 0.5);
};
const even = (x) => Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x);
const ratio = (x, [p, q]) => p.reduce((s, c) => s * x + c, 0) / q.reduce((s, c) => s * x + c, 0);
const erf = (x) => {
  const a = Math.min(Math.abs(x), 6);
  if (!(a > 0.46875)) return x * ratio(x * x, near);
  return Math.sign(x) * (1 - Math.exp(-a * a) * ratio(a, far));
};
const crossed = (p, t) =>
  (t - 1) * Math.max(Math.log1p(-p), -100) - t * Math.max(Math.log(p), -100);

// ---- Memory and tables --------------------------------------------------------------------------

const feed = (to, feeds, name, exact) => {
  const given = Object.hasOwn(feeds, name) ? feeds[name] : [];
  const x = Array.isArray(given) ? given.flat(Infinity) : Object(given) === given ? given : [given];
  if (x.length !== to.length) refused(`${name}: ${x.length} ≠ ${to.length}`);
  for (let i = 0; i < to.length; i++) to[i] = exact(Number(x[i]));
};
const decoded = (text, kind) => new kind(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const view = (lengths, strides, base) => Int32Array.from(lengths.reduce((at, n, k) =>
  at.flatMap((p) => Array.from({ length: n }, (_, i) => p + i * strides[k])), [base]));
const move = (y, x, from) => { for (let i = 0; i < y.length; i++) y[i] = x[from[i]]; };
const added = (y, visit) => { // fills y with what `visit` adds up
  const total = new Float64Array(y.length);
  visit(total);
  y.set(total);
};
const put = (y, x, to) => { for (let i = 0; i < to.length; i++) y[to[i]] = x[i]; };

// ---- Along axes ---------------------------------------------------------------------------------

const fold = (y, x, K, R, start, next, n = 1) => {
  K.forEach((at, k) => { y[k] = R.reduce((s, r) => next(s, x[at + r]), start) / n; });
};
const folded = (y, x, K, R, one) => {
  K.forEach((at, k) => { y[k] = one(Array.from(R, (r) => x[at + r]), k); });
};
const each = (y, x, K, R, one) => K.forEach((at, k) => {
  one(Array.from(R, (r) => x[at + r]), k).forEach((v, r) => { y[at + R[r]] = v; });
});
// The largest of some scores, and the sum of their exponentials relative to it.
const scored = (v) => {
  const most = v.reduce((a, b) => Math.max(a, b), -Infinity);
  return [most, v.reduce((s, a) => s + Math.exp(a - most), 0)];
};
const softmax = (y, x, K, R, end) => each(y, x, K, R, (v) => {
  const [most, total] = scored(v), log = Math.log(total);
  return v.map((a) => end(a - most - log));
});
const logSumExp = (y, x, K, R) => folded(y, x, K, R, (v) => {
  const [most, total] = scored(v);
  return Math.abs(most) === Infinity ? most : most + Math.log(total);
});
const crossEntropy = (y, x, t, K, R) => folded(y, x, K, R, (v, k) => {
  const [most, total] = scored(v);
  return Math.log(total) - (v[position(t[k], v.length, 0)] - most);
});
const crossSlope = (y, g, x, t, K, R) => each(y, x, K, R, (v, k) => {
  const [most, total] = scored(v);
  return v.map((a, r) => (Math.exp(a - most) / total - (r === t[k])) * g[k]);
});
const oneHot = (y, t, n = y.length / t.length) =>
  y.forEach((_, i) => { y[i] = t[Math.floor(i / n)] === i % n; });
const cumSum = (y, x, K, R, exact) => each(y, x, K, R, (v) => {
  let s = 0;
  return v.map((a) => (s = exact(s + a)));
});
const productOfOthers = (y, x, K, R) => each(y, x, K, R, (v) =>
  v.map((_, i) => v.reduce((s, a, j) => (i === j ? s : s * a), 1)));
const normalize = (y, x, K, R, eps) => each(y, x, K, R, (v) => {
  const n = v.length, mean = v.reduce((s, a) => s + a, 0) / n;
  const by = Math.sqrt(v.reduce((s, a) => s + (a - mean) ** 2, 0) / n + eps);
  return v.map((a) => (a - mean) / by);
});
const extremeAt = (y, x, K, R, sign) => folded(y, x, K, R, (v) =>
  v.reduce((at, a, i) => (v[at] === v[at] && !(sign * a <= sign * v[at]) ? i : at), 0));
const shareOfExtreme = (y, x, top, K, R) => each(y, x, K, R, (v, k) => {
  const n = v.filter((a) => a === top[k]).length;
  return v.map((a) => (a === top[k]) / n);
});
const argSort = (y, x, K, R, down) => each(y, x, K, R, (v) => {
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : (a !== a) - (b !== b));
  return v.map((_, i) => i).sort((i, j) => (down ? order(v[j], v[i]) : order(v[i], v[j])));
});

// ---- Products -----------------------------------------------------------------------------------

// y[at + i n + j] = Σ a[p + i ar + l ac] b[q + l br + j bc] over l < k, added to what is there.
const product = (y, at, a, p, ar, ac, b, q, br, bc, m, k, n, added) => {
  const row = new Float64Array(n);
  for (let i = 0; i < m; i++, p += ar, at += n) {
    let j = 0, l = 0;
    for (; br === 1 && j + 3 < n; j += 4) { // four columns at once, each of them in one run
      let q0 = q + j * bc, q1 = q0 + bc, q2 = q1 + bc, q3 = q2 + bc, s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (let c = 0, u = p; c < k; c++, u += ac) {
        const x = a[u];
        s0 += x * b[q0 + c]; s1 += x * b[q1 + c]; s2 += x * b[q2 + c]; s3 += x * b[q3 + c];
      }
      row[j] = s0; row[j + 1] = s1; row[j + 2] = s2; row[j + 3] = s3;
    }
    for (; j < n && l + 3 < k; l += 4) { // four rows at once
      const u = p + l * ac, x0 = a[u], x1 = a[u + ac], x2 = a[u + 2 * ac], x3 = a[u + 3 * ac];
      for (let c = j, v = q + l * br + j * bc; c < n; c++, v += bc)
        row[c] += x0 * b[v] + x1 * b[v + br] + x2 * b[v + 2 * br] + x3 * b[v + 3 * br];
    }
    for (; j < n && l < k; l++) for (let c = j; c < n; c++)
      row[c] += a[p + l * ac] * b[q + l * br + c * bc];
    for (let c = 0; c < n; c++) y[at + c] = added ? y[at + c] + row[c] : row[c];
    row.fill(0);
  }
};
const matmul = (y, a, b, A, B, m, k, n, ar, ac, br, bc) =>
  A.forEach((p, t) => product(y, t * m * n, a, p, ar, ac, b, B[t], br, bc, m, k, n, false));
const exactMatmul = (y, a, b, A, B, m, k, n, ar, ac, br, bc, exact) => {
  for (let o = 0; o < y.length; o++) {
    const t = Math.floor(o / (m * n)), p = A[t] + (Math.floor(o / n) % m) * ar, q = B[t] + (o % n) * bc;
    let s = 0;
    for (let l = 0; l < k; l++) s = exact(s + exact(a[p + l * ac] * b[q + l * br]));
    y[o] = s;
  }
};
const sized = (n, groups, c, h, w, o, kh, kw, oh, ow, down, right, top, left) =>
  ({ n, groups, c, h, w, o, kh, kw, oh, ow, down, right, top, left });
// The columns of an image: the pixels under each place of the window. Back: adds them up there.
const columns = (into, x, at, { c, h, w, kh, kw, oh, ow, down, right, top, left }, back) => {
  for (let k = 0, to = 0; k < c; k++) for (let u = 0; u < kh; u++) for (let v = 0; v < kw; v++)
    for (let i = 0, r = u - top; i < oh; i++, r += down)
      for (let j = 0, q = v - left, from = at + (k * h + r) * w; j < ow; j++, to++, q += right) {
        const inside = r >= 0 && r < h && q >= 0 && q < w;
        if (!back) into[to] = inside ? x[from + q] : 0;
        else if (inside) x[from + q] += into[to];
      }
};
// For each image and group: the size of a kernel, the number of places, and where its pixels, its
// results and its kernels begin.
const groups = (w, visit) => {
  const k = w.c * w.kh * w.kw, n = w.oh * w.ow;
  for (let i = 0; i < w.n * w.groups; i++)
    visit(k, n, i * w.c * w.h * w.w, i * w.o * n, (i % w.groups) * w.o * k);
};
const conv = (y, x, kernels, w, into) => groups(w, (k, n, image, result, kernel) => {
  columns(into, x, image, w, false);
  product(y, result, kernels, kernel, k, 1, into, 0, n, 1, w.o, k, n, false);
});
const convInput = (y, g, kernels, w, into) => added(y, (total) =>
  groups(w, (k, n, image, result, kernel) => {
    product(into, 0, kernels, kernel, 1, k, g, result, n, 1, k, w.o, n, false);
    columns(into, total, image, w, true);
  }));
const convWeight = (y, g, x, w, into) => added(y, (total) =>
  groups(w, (k, n, image, result, kernel) => {
    columns(into, x, image, w, false);
    product(total, kernel, g, result, n, 1, into, 0, 1, n, w.o, n, k, true);
  }));

// ---- Windows ------------------------------------------------------------------------------------

// Each place of a window with the pixels under it, row by row; `at` is −1 where the frame is.
const windows = ({ n, h, w, kh, kw, oh, ow, down, right, top, left }, visit) => {
  for (let k = 0, place = 0; k < n; k++) for (let i = 0; i < oh; i++)
    for (let j = 0; j < ow; j++, place++) for (let u = 0; u < kh; u++)
      for (let v = 0, r = i * down + u - top, q = j * right - left; v < kw; v++, q++)
        visit(place, r >= 0 && r < h && q >= 0 && q < w ? (k * h + r) * w + q : -1);
};
const maxPool = (y, x, w, low) => {
  y.fill(low);
  windows(w, (place, at) => { if (at >= 0) y[place] = Math.max(y[place], x[at]); });
};
const maxPoolPick = (y, h, top, x, w, low, back) => added(y, (total) => {
  const done = new Uint8Array(top.length);
  windows(w, (place, at) => {
    if (done[place] || (at < 0 ? low : x[at]) !== top[place]) return;
    done[place] = 1;
    if (at >= 0) total[back ? at : place] += h[back ? place : at];
  });
});
const avgPool = (y, x, w, low, back) => added(y, (total) => windows(w, (place, at) => {
  if (at >= 0) total[back ? at : place] += x[back ? place : at] / (w.kh * w.kw);
}));

// ---- Positions that are data --------------------------------------------------------------------

// Rows are numbered over the indexed axes: `indices` holds [positions, where each is read, length].
const rows = (indices, lead, count, all, tail) => {
  const from = new Int32Array(lead * count * tail);
  for (let i = 0; i < count; i++) {
    const row = indices.reduce((at, [t, o, n]) => at * n + position(t[o[i]], n), 0);
    for (let l = 0; l < lead; l++) for (let k = 0; k < tail; k++)
      from[(l * count + i) * tail + k] = (l * all + row) * tail + k;
  }
  return from;
};
const along = (t, K, n, stride) => K.map((at, i) => at + position(t[i], n) * stride);
const addAt = (y, g, to, exact) => added(y, (total) =>
  to.forEach((at, i) => { total[at] = exact(total[at] + g[i]); }));

// ---- Effects, branches and loops ----------------------------------------------------------------

const asserted = (x, message) => x.every((v) => v !== 0) || refused(message);
// `now` is the state, `past` the list of states if they are read.
const setAll = (results, found) => results.forEach((y, i) => y.set(found[i]));
const parts = (x, count) => Array.from({ length: count }, (_, t) =>
  x.subarray(t * (x.length / count), (t + 1) * (x.length / count)));
const whileLoop = (results, now, captured, body, test, most, past = []) => {
  past.length = 0;
  for (let k = 0; k < most && test(...now, ...captured)[0][0] !== 0; k++) {
    past.push(now);
    now = body(...now, ...captured);
  }
  setAll(results, now);
};
const scan = (results, now, captured, body, sequences, reverse, past = []) => {
  const n = now.length, T = past.length = sequences[0].length;
  for (let k = 0; k < T; k++) {
    const t = reverse ? T - 1 - k : k;
    past[t] = now;
    now = body(...now, ...sequences.map((x) => x[t]), ...captured);
    results.slice(n).forEach((y, i) => y.set(now[n + i], t * now[n + i].length));
    now = now.slice(0, n);
  }
  setAll(results.slice(0, n), now);
};

// What `make` returns; a row is an array with its name, operator, shape and data type.
const network = (given, steps, results, updates, kept) => {
  const about = ([, name, op, shape, dtype]) => ({ name, op, shape, dtype });
  const variables = Object.create(null);
  for (const [name, x] of kept) variables[name] = x;
  const run = (feeds, watch) => {
    let i = 0;
    for (const [to, name, , , , exact] of given) feed(to, feeds, name, exact);
    for (const [step, ...values] of steps) {
      step();
      if (watch) for (const [x] of values) watch(i++, x);
    }
    const found = results.map(([x]) => x.slice());
    for (const [to, from] of updates) to.set(from);
    return found;
  };
  const told = steps.flatMap(([, ...values]) => values.map(about));
  const [feeds, outputs] = [given.map(about), results.map(about)];
  return Object.freeze({ run, variables, feeds, outputs, steps: told });
};
