// A dynamic graph: each operator computes at once, and the tape records how a gradient passes back
// through it. One run of the network makes one tape; then nothing refers to it any more.

const sizeOf = (shape) => shape.reduce((product, length) => product * length, 1);

class Tape {
  records = []; // the graph: one record for each operator, in the order in which they ran
  runs = 0; // kernels, forward and backward

  // Run a kernel: make room for its result, fill it, count it.
  run(size, kernel) {
    const y = new Float32Array(size);
    kernel(y);
    this.runs += 1;
    return y;
  }

  // Run an operator and record it. pullback: from the gradient of its result to that of its input.
  record(op, input, shape, kernel, pullback) {
    const made = { op, input, shape, value: this.run(sizeOf(shape), kernel), grad: null, pullback };
    this.records.push(made);
    return made;
  }

  // Walk the tape back from an output. Yields after each record, so that it can be watched.
  *backward(output, seed) {
    output.grad = seed;
    for (const { input, grad, pullback } of this.records.toReversed()) {
      if (!grad) continue; // the output does not depend on it
      const passed = pullback(grad);
      const before = input.grad; // gradients that meet are added
      input.grad = before ? this.run(passed.length, (y) => y.forEach((_, i) => { y[i] = before[i] + passed[i]; })) : passed;
      yield input;
    }
  }

  matmul(x, w) {
    const [inner, columns] = w.shape;
    return this.record("MatMul", x, [1, columns],
      (y) => product(y, x.value, w.value, inner, columns, columns, 1),
      (grad) => this.run(inner, (y) => product(y, grad, w.value, columns, inner, 1, columns)));
  }

  // Add a bias, one number for each column or channel.
  add(x, bias) {
    const each = sizeOf(x.shape) / bias.value.length;
    return this.record("Add", x, x.shape,
      (y) => { for (let i = 0; i < y.length; i++) y[i] = x.value[i] + bias.value[Math.floor(i / each)]; },
      (grad) => grad); // passed on as it is: no kernel
  }

  relu(x) {
    const made = this.record("ReLU", x, x.shape,
      (y) => { for (let i = 0; i < y.length; i++) y[i] = Math.max(x.value[i], 0); },
      (grad) => {
        const passes = this.run(grad.length, (y) => { for (let i = 0; i < y.length; i++) y[i] = made.value[i] > 0; });
        return this.run(grad.length, (y) => { for (let i = 0; i < y.length; i++) y[i] = passes[i] ? grad[i] : 0; });
      });
    return made;
  }

  // The same numbers in another shape: a record, but no kernel, forward or backward.
  reshape(x, shape) {
    const made = { op: "Reshape", input: x, shape, value: x.value, grad: null, pullback: (grad) => grad };
    this.records.push(made);
    return made;
  }

  // Convolve with kernels of 3 × 3, with a border of zeros, so that the image keeps its size.
  conv(x, w) {
    const [, inputs, height, width] = x.shape;
    const outputs = w.shape[0];
    // Each weight joins pixels of an input plane with pixels of an output plane; what it passes is
    // added up, forward or back, in double precision, and rounded once.
    const slide = (y, values, back) => {
      const sums = new Float64Array(y.length);
      for (let o = 0; o < outputs; o++) for (let i = 0; i < inputs; i++)
        for (let u = 0; u < 3; u++) for (let v = 0; v < 3; v++) {
          const weight = w.value[((o * inputs + i) * 3 + u) * 3 + v];
          const [first, end] = [Math.max(0, 1 - v), Math.min(width, width + 1 - v)];
          for (let row = Math.max(0, 1 - u); row < Math.min(height, height + 1 - u); row++) {
            const [to, from] = [(o * height + row) * width, (i * height + row + u - 1) * width + v - 1];
            if (back) for (let k = first; k < end; k++) sums[from + k] += values[to + k] * weight;
            else for (let k = first; k < end; k++) sums[to + k] += values[from + k] * weight;
          }
        }
      y.set(sums);
    };
    return this.record("Conv2d", x, [1, outputs, height, width],
      (y) => slide(y, x.value, false),
      (grad) => this.run(sizeOf(x.shape), (y) => slide(y, grad, true)));
  }

  // Keep the largest of each 2 × 2 pixels.
  pool(x) {
    const [, planes, height, width] = x.shape;
    const corner = (i) => {
      const [row, column] = [Math.floor(i / (width / 2)), i % (width / 2)];
      return row * 2 * width + column * 2; // planes follow each other, and their heights are even
    };
    const made = this.record("MaxPool2d", x, [1, planes, height / 2, width / 2],
      (y) => {
        for (let i = 0; i < y.length; i++) {
          const c = corner(i);
          y[i] = Math.max(x.value[c], x.value[c + 1], x.value[c + width], x.value[c + width + 1]);
        }
      },
      (grad) => this.run(sizeOf(x.shape), (y) => {
        for (let i = 0; i < grad.length; i++) {
          const c = corner(i);
          const largest = [c, c + 1, c + width, c + width + 1].find((k) => x.value[k] === made.value[i]);
          y[largest] = grad[i];
        }
      }));
    return made;
  }

  softmax(x) {
    return this.record("Softmax", x, x.shape, (y) => {
      const top = Math.max(...x.value);
      const powers = Array.from(x.value, (score) => Math.exp(score - top));
      const total = powers.reduce((sum, power) => sum + power, 0);
      for (let i = 0; i < y.length; i++) y[i] = powers[i] / total;
    }, () => { throw new Error("the page asks for gradients of scores, not of probabilities"); });
  }
}

// A row times a matrix, whose steps along the row and to the next result are given.
function product(y, row, matrix, inner, columns, down, right) {
  const sums = new Float64Array(columns); // in double precision, rounded once
  for (let k = 0; k < inner; k++)
    for (let j = 0; j < columns; j++) sums[j] += row[k] * matrix[k * down + j * right];
  y.set(sums);
}

// The networks, one operator after the other; each gets the tape, what came before, the parameters.
const LAYERS = {
  mlp: [
    (tape, h, p) => tape.matmul(h, p.W1),
    (tape, h, p) => tape.add(h, p.b1),
    (tape, h) => tape.relu(h),
    (tape, h, p) => tape.matmul(h, p.W2),
    (tape, h, p) => tape.add(h, p.b2),
    (tape, h) => tape.softmax(h),
  ],
  convnet: [
    (tape, h, p) => tape.conv(h, p.K1),
    (tape, h, p) => tape.add(h, p.c1),
    (tape, h) => tape.relu(h),
    (tape, h) => tape.pool(h),
    (tape, h, p) => tape.conv(h, p.K2),
    (tape, h, p) => tape.add(h, p.c2),
    (tape, h) => tape.relu(h),
    (tape, h) => tape.pool(h),
    (tape, h) => tape.reshape(h, [1, 192]),
    (tape, h, p) => tape.matmul(h, p.W3),
    (tape, h, p) => tape.add(h, p.b3),
    (tape, h) => tape.softmax(h),
  ],
};

// Run a network and, if `seedOf` gives one, go back from its scores. Yields after each operator.
function* recorded(network, image, parameters, seedOf = () => null) {
  const tape = new Tape();
  const x = { value: image, shape: network === "mlp" ? [1, 256] : [1, 1, 16, 16], grad: null };
  let last = x;
  for (const layer of LAYERS[network]) {
    last = layer(tape, last, parameters);
    yield { tape, x };
  }
  const seed = seedOf(last.value);
  if (!seed) return;
  for (const _ of tape.backward(last.input, seed)) yield { tape, x };
}
