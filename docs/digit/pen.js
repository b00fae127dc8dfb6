// The drawing: 16 × 16 pixels of ink, from 0 to 1, and what the network sees of it.

const SIZE = 16;
const PIXELS = SIZE * SIZE;

// What an image has at a place between its pixels; nothing beyond its border.
function between(image, x, y) {
  const [i, j] = [Math.floor(x), Math.floor(y)];
  const [u, v] = [x - i, y - j];
  const at = (a, b) => (a < 0 || b < 0 || a >= SIZE || b >= SIZE ? 0 : image[b * SIZE + a]);
  return (1 - v) * ((1 - u) * at(i, j) + u * at(i + 1, j)) + v * ((1 - u) * at(i, j + 1) + u * at(i + 1, j + 1));
}

class Drawing {
  ink = new Float32Array(PIXELS);
  sample = -1; // which stored digit it is, if any
  isExample = false; // the first stroke over it begins a new drawing
  isEmpty = true;
  last = null; // where the pen is while it is down

  clear() {
    this.ink.fill(0);
    this.sample = -1;
    this.isExample = false;
    this.isEmpty = true;
  }

  load(image, sample) {
    this.ink.set(image);
    this.sample = sample;
    this.isExample = true;
    this.isEmpty = false;
  }

  down(x, y) {
    if (this.isExample) this.clear();
    this.last = [x, y];
    this.dot(x, y);
  }

  // Draw a line to here. Returns whether that has left any ink.
  to(x, y) {
    const [fromX, fromY] = this.last;
    const count = Math.ceil(Math.hypot(x - fromX, y - fromY) * 2) || 1;
    let changed = false;
    for (let k = 1; k <= count; k++) changed = this.dot(fromX + ((x - fromX) * k) / count, fromY + ((y - fromY) * k) / count) || changed;
    this.last = [x, y];
    return changed;
  }

  dot(x, y) {
    let changed = false;
    for (let j = 0; j < SIZE; j++) for (let i = 0; i < SIZE; i++) {
      const ink = Math.min(1, 1.5 - Math.hypot(i + 0.5 - x, j + 0.5 - y) / 1.25);
      if (ink <= this.ink[j * SIZE + i]) continue;
      this.ink[j * SIZE + i] = ink;
      changed = true;
    }
    this.isEmpty &&= !changed;
    return changed;
  }

  // The image as the data are: the drawing, brought to their size and to the middle. `place` is
  // where a pixel x of the drawing is in the image: scale · x + shift.
  seen() {
    const inked = [...this.ink.keys()].filter((k) => this.ink[k] > 0.12);
    if (this.sample >= 0 || !inked.length) return { image: this.ink.slice(), place: [1, 0, 0] };
    const [xs, ys] = [inked.map((k) => k % SIZE), inked.map((k) => Math.floor(k / SIZE))];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const scale = Math.min(1.7, 15.6 / (bottom - top + 1), 13.5 / (right - left + 1));
    const middle = (SIZE - 1) / 2;
    const [dx, dy] = [middle - (scale * (left + right)) / 2, middle - (scale * (top + bottom)) / 2];
    const image = Float32Array.from({ length: PIXELS }, (_, k) => between(this.ink, (k % SIZE - dx) / scale, (Math.floor(k / SIZE) - dy) / scale));
    return { image, place: [scale, dx, dy] };
  }
}

// A smooth curve through points, as the pen would go.
function* curve(points) {
  for (let k = 0; k + 1 < points.length; k++) {
    const [a, b, c, d] = [points[k - 1] ?? points[k], points[k], points[k + 1], points[k + 2] ?? points[k + 1]];
    for (let t = 0; t < 1; t += 0.25) {
      yield [0, 1].map((i) => b[i] + 0.5 * t * (c[i] - a[i] + t * (2 * a[i] - 5 * b[i] + 4 * c[i] - d[i] + t * (3 * (b[i] - c[i]) + d[i] - a[i]))));
    }
  }
  yield points.at(-1);
}
