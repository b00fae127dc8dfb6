// What is painted: the drawing, values and gradients as swatches, the moves of the pen.

const probe = document.body.appendChild(document.createElement("i"));
probe.hidden = true;
let palette = {};

// The colours of the page, as numbers: a canvas knows no variables.
function readPalette() {
  for (const name of ["paper", "ink", "line", "built", "run", "ran", "below", "grad"]) {
    probe.style.color = `var(--mg-${name})`;
    palette[name] = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
  }
}

const css = (name, opacity = 1) => `rgb(${palette[name].join(" ")} / ${opacity})`;
const largestOf = (values) => values.reduce((top, value) => Math.max(top, Math.abs(value)), 1e-12);

// How values are laid out as pixels: [width, height, where value i is]. Channels, or the numbers of a
// vector, stand in rows, as many in each as fit a picture of this aspect best.
function arranged(shape, aspect) {
  const lengths = shape.slice(1);
  const isImage = lengths.length === 3 || lengths[0] === PIXELS;
  const [planes, height, width] = !isImage ? [lengths[0], 1, 1] : lengths.length === 3 ? lengths : [1, SIZE, SIZE];
  const gap = isImage && planes > 1 ? 1 : 0; // a pixel between channels
  const off = (across) => Math.abs(Math.log((across * (width + gap)) / ((planes / across) * (height + gap)) / aspect));
  const fits = Array.from({ length: planes }, (_, k) => k + 1).filter((across) => planes % across === 0);
  const across = fits.reduce((best, each) => (off(each) < off(best) ? each : best));
  const whole = across * (width + gap) - gap;
  const at = (i) => {
    const [plane, row, column] = [Math.floor(i / (height * width)), Math.floor(i / width) % height, i % width];
    return (Math.floor(plane / across) * (height + gap) + row) * whole + (plane % across) * (width + gap) + column;
  };
  return [whole, (planes / across) * (height + gap) - gap, at];
}

// Values by colour, each as strong as it is large beside the largest; ten of them as bars.
function paintValues(canvas, values, shape, [above, below], aspect = 1) {
  if (values.length === 10) return paintBars(canvas, values, [above, below]);
  const [width, height, at] = arranged(shape, aspect);
  Object.assign(canvas, { width, height });
  const pen = canvas.getContext("2d");
  const pixels = pen.createImageData(width, height);
  const top = largestOf(values);
  values.forEach((value, i) => {
    const [strength, colour, k] = [Math.pow(Math.abs(value) / top, 0.8), palette[value < 0 ? below : above], 4 * at(i)];
    for (let j = 0; j < 3; j++) pixels.data[k + j] = palette.paper[j] + (colour[j] - palette.paper[j]) * strength;
    pixels.data[k + 3] = 255;
  });
  pen.putImageData(pixels, 0, 0);
}

function paintBars(canvas, values, [above, below]) {
  Object.assign(canvas, { width: 160, height: 160 });
  const pen = canvas.getContext("2d");
  pen.fillStyle = css("paper");
  pen.fillRect(0, 0, 160, 160);
  const [low, high] = [Math.min(0, ...values), Math.max(1e-12, ...values)];
  const zero = 156 * (high / (high - low)) + 2;
  values.forEach((value, i) => {
    pen.fillStyle = css(value < 0 ? below : above);
    const height = Math.max(2, (156 * Math.abs(value)) / (high - low));
    pen.fillRect(16 * i + 2, value < 0 ? zero : zero - height, 12, height);
  });
}

const VALUE = ["run", "below"];
const SLOPE = ["grad", "below"];
const INK = ["ink", "ink"];

// The drawing; over it, if there are `votes`, the gradient of each pixel that has a say.
function paintPad(canvas, drawing, votes, place, cursor) {
  const pen = canvas.getContext("2d");
  const step = canvas.width / SIZE;
  pen.fillStyle = css("paper");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  drawing.ink.forEach((ink, k) => {
    pen.fillStyle = css("ink", Math.min(1, ink) * (votes ? 0.75 : 1));
    if (ink) pen.fillRect((k % SIZE) * step, Math.floor(k / SIZE) * step, step + 0.5, step + 0.5);
  });
  pen.strokeStyle = css("ink", 0.07);
  pen.beginPath();
  for (let k = 1; k < SIZE; k++) {
    pen.moveTo(k * step, 0);
    pen.lineTo(k * step, canvas.height);
    pen.moveTo(0, k * step);
    pen.lineTo(canvas.width, k * step);
  }
  pen.stroke();
  if (votes) {
    const [scale, dx, dy] = place;
    const top = largestOf(votes);
    for (let k = 0; k < PIXELS; k++) {
      const [x, y] = [k % SIZE, Math.floor(k / SIZE)];
      const vote = between(votes, scale * x + dx, scale * y + dy) / top;
      const weight = Math.min(1, Math.abs(vote));
      if (weight < 0.2) continue; // faint ones hide the digit
      const side = step * (0.2 + 0.66 * weight);
      pen.fillStyle = css(vote > 0 ? "grad" : "below", 0.35 + 0.6 * weight);
      pen.beginPath();
      pen.roundRect(x * step + (step - side) / 2, y * step + (step - side) / 2, side, side, side * 0.28);
      pen.fill();
    }
  }
  if (cursor) {
    pen.strokeStyle = css("built");
    pen.lineWidth = 5;
    pen.strokeRect(cursor[0] * step - step / 2, cursor[1] * step - step / 2, step, step);
    pen.lineWidth = 1;
  }
}

// Each move of the pen as a column: what it built, what it ran forward, and what it ran backward.
const COLUMN = [9, 18]; // its least and its largest width, px
const ROWS = { built: [0, 7], run: [9, 7], back: [18, 5] };

function paintMoves(canvas, moves, kept, alive) {
  const [width, scale] = [canvas.clientWidth, devicePixelRatio];
  Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(24 * scale) });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const column = Math.max(COLUMN[0], Math.min(COLUMN[1], width / moves.length));
  const cell = (k, [y, height], colour) => {
    pen.fillStyle = css(colour);
    pen.fillRect(k * column, y, column - 2, height);
  };
  const room = Math.max(4, Math.floor(width / column + 0.01));
  // The columns that fit: the first one, where the graph that is kept was built, and the last ones.
  const pinned = kept && moves.length > room ? [moves[0], null] : [];
  const seen = [...pinned, ...moves.slice(-(room - pinned.length))];
  seen.forEach((move, k) => {
    if (!move) { // a gap
      pen.fillStyle = css("line");
      for (const dy of [0, 4, 8]) pen.fillRect(k * column + 2.5, 8 + dy, 2, 2);
      return;
    }
    if (move.built && (kept || (alive && k === seen.length - 1))) cell(k, ROWS.built, "built");
    else if (move.built) { // gone: dots for its outline
      pen.strokeStyle = css("ink", 0.6);
      pen.setLineDash([2, 2]);
      pen.strokeRect(k * column + 0.5, 0.5, column - 3, ROWS.built[1] - 1);
      pen.setLineDash([]);
    }
    if (move.run) cell(k, ROWS.run, "run");
    if (move.back) cell(k, ROWS.back, "grad");
  });
}
