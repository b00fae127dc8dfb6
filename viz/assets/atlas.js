// The atlas: one place for every operator, for ever. A module is a rectangle laid out by itself, and
// opening it is a flight of the camera into it. The camera has two scales, so it fills the stage.

/** Where a node lies in the model, as fractions of it. @param {Atlas} atlas @param {AtlasNode} node @returns {number[]} */
function placeOf(atlas, node) {
  const group = parentOf(atlas.m, node);
  if (!group) return [0, 0, 1, 1];
  const around = placeOf(atlas, group);
  const own = /** @type {number[]} */ (atlasPlaces(atlas.m, group, atlas.size).rects.get(node.i));
  return [around[0] + own[0] * around[2], around[1] + own[1] * around[3], own[2] * around[2], own[3] * around[3]];
}

/** The camera that shows a module whole. @param {Atlas} atlas @param {AtlasNode} node @returns {Camera} */
function cameraFor(atlas, node) {
  const { w, h } = atlas.size;
  const [x, y, wide, high] = placeOf(atlas, node);
  const margin = node.parent == null ? [0, 0] : w < 560 ? [7, 8] : [20, 12];
  const [kx, ky] = [(w - 2 * margin[0]) / wide, (h - 2 * margin[1]) / high];
  return { x: x - margin[0] / kx, y: y - margin[1] / ky, kx, ky };
}

/** @param {number[]} place @param {Camera} camera @returns {Box} */
const seenBy = ([x, y, w, h], camera) => ({ x: (x - camera.x) * camera.kx, y: (y - camera.y) * camera.ky, w: w * camera.kx, h: h * camera.ky });

const eased = (/** @type {number} */ p) => (p < 0.5 ? 4 * p ** 3 : 1 - (2 - 2 * p) ** 3 / 2);

/**
 * The stage: it draws the atlas, flies to modules, and tells what is pointed at and clicked.
 * @param {Atlas} atlas @param {HTMLCanvasElement} canvas
 * @param {{click(node: AtlasNode | null, outside: boolean): void, zoomed(group: AtlasNode): void, stop(): void}} told
 */
function stageOf(atlas, canvas, told) {
  const { m, pen } = atlas;
  let dirty = true;
  let ended = false;
  /** @type {{start: number, length: number, to: Camera, place: number[], from: Box, end: Box, done: () => void} | null} */
  let flight = null;
  /** @type {Box | null} */
  let mini = null;
  let [px, py, read] = [-1, -1, false]; // where the pointer is, and whether there is a number

  const draw = () => {
    pen.clear();
    for (const node of m.nodes) node.shown = null;
    const whole = seenBy([0, 0, 1, 1], atlas.camera);
    drawGroup(atlas, m.root, whole, 1);
    pen.c.globalAlpha = 1;
    drawMini();
    read = !flight && pen.reading(px, py, atlas.size.w);
  };

  // The map of the whole model, wherever the camera doesn't show it all.
  const drawMini = () => {
    const { camera, size, ink } = atlas;
    const { c } = pen;
    mini = null;
    const away = Math.max(Math.abs(camera.kx / size.w - 1), Math.abs(camera.ky / size.h - 1), Math.abs(camera.x), Math.abs(camera.y));
    if (away < 0.03) return;
    const frame = atlas.focus.parent != null && !flight ? seenBy(placeOf(atlas, atlas.focus), camera) : null;
    const inHead = frame && frame.y > -5 && frame.y < 40 && Math.abs(frame.x + frame.w - size.w) < 40;
    const box = inHead
      ? miniBox(atlas, frame, atlasPlaces(m, atlas.focus, size).head * frame.h)
      : { x: size.w - (size.w < 560 ? 98 : 162), y: 18, w: size.w < 560 ? 84 : 132, h: size.w < 560 ? 28 : 42 };
    mini = box;
    pen.round(box.x - 3, box.y - 3, box.w + 6, box.h + 6, 6);
    c.fillStyle = ink.paper;
    c.fill();
    c.strokeStyle = ink.hair;
    c.lineWidth = 1;
    c.stroke();
    const top = pathOf(m, atlas.focus)[1];
    const { rects } = atlasPlaces(m, m.root, size);
    for (const node of partsOf(m, m.root)) {
      const r = /** @type {number[]} */ (rects.get(node.i));
      const ranNow = node.input === undefined && ran(node, atlas.time) >= 1;
      c.fillStyle = node === top ? ink.now : hasFailed(m, node, atlas.time) ? ink.bad : ranNow ? mix(ink.run, ink.paper, 0.45) : ink.hair;
      pen.round(box.x + r[0] * box.w, box.y + r[1] * box.h, r[2] * box.w, r[3] * box.h, 1.5);
      c.fill();
    }
    const [w, h] = [clamp(size.w / camera.kx, 0, 1) * box.w, clamp(size.h / camera.ky, 0, 1) * box.h];
    c.strokeStyle = ink.ink;
    c.lineWidth = 1.5;
    c.strokeRect(box.x + clamp(camera.x, 0, 1) * box.w, box.y + clamp(camera.y, 0, 1) * box.h, Math.max(5, w), Math.max(4, h));
  };

  const fly = (/** @type {Camera} */ to, /** @type {AtlasNode} */ about, /** @type {number} */ length) =>
    new Promise((done) => {
      flight?.done();
      if (!length || calm()) {
        [atlas.camera, flight, dirty] = [to, null, true];
        return done(undefined);
      }
      const place = placeOf(atlas, about);
      flight = { start: performance.now(), length, to, place, from: seenBy(place, atlas.camera), end: seenBy(place, to), done: () => done(undefined) };
      dirty = true;
    });

  // Sizes change by equal factors, so that a dive has an even pace.
  const advance = (/** @type {number} */ now) => {
    if (!flight) return;
    const share = clamp((now - flight.start) / flight.length, 0, 1);
    const e = eased(share);
    const { from: a, end: b, place } = flight;
    const [w, h] = [a.w * (b.w / a.w) ** e, a.h * (b.h / a.h) ** e];
    const part = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ v) => (Math.abs(to - from) > 1 ? (v - from) / (to - from) : e);
    const x = a.x + (b.x - a.x) * part(a.w, b.w, w);
    const y = a.y + (b.y - a.y) * part(a.h, b.h, h);
    const [kx, ky] = [w / place[2], h / place[3]];
    atlas.camera = { kx, ky, x: place[0] - x / kx, y: place[1] - y / ky };
    dirty = true;
    if (share < 1) return;
    const { to, done } = flight;
    [atlas.camera, flight] = [{ ...to }, null];
    done();
  };

  const tick = (/** @type {number} */ now) => {
    if (ended) return;
    advance(now);
    if (dirty) {
      dirty = false;
      draw();
      stage.drawn();
    }
    requestAnimationFrame(tick);
  };

  /** The smallest card that is drawn at a point. @param {number} x @param {number} y */
  const at = (x, y) => {
    let best = null;
    let group = m.root;
    for (;;) {
      const inside = partsOf(m, group).find(({ shown }) => shown && x >= shown.x && x <= shown.x + shown.w && y >= shown.y && y <= shown.y + shown.h);
      if (!inside) return best;
      if (inside !== atlas.focus && !pathOf(m, atlas.focus).includes(inside)) best ??= inside;
      group = inside;
      if (best && best.children && !(best.shown && Math.min(best.shown.w / atlas.size.w, best.shown.h / atlas.size.h) > OPENS)) return best;
      if (best) best = inside;
    }
  };

  const zoom = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ factor) => {
    flight = null;
    const { camera, size } = atlas;
    const k = clamp(camera.kx * factor, size.w * 0.5, size.w * 4e4) / camera.kx;
    const [wx, wy] = [camera.x + x / camera.kx, camera.y + y / camera.ky];
    const [kx, ky] = [camera.kx * k, camera.ky * k];
    atlas.camera = { kx, ky, x: wx - x / kx, y: wy - y / ky };
    let group = m.root; // what fills the stage is what is open
    for (;;) {
      const next = partsOf(m, group).find((node) => {
        if (!node.children) return false;
        const r = seenBy(placeOf(atlas, node), atlas.camera);
        const around = (/** @type {number} */ from, /** @type {number} */ length, /** @type {number} */ whole) => from < whole / 2 && from + length > whole / 2;
        return Math.min(r.w / size.w, r.h / size.h) > 0.62 && around(r.x, r.w, size.w) && around(r.y, r.h, size.h);
      });
      if (!next) break;
      group = next;
    }
    if (group !== atlas.focus) told.zoomed(group);
    dirty = true;
  };

  pointing(canvas, {
    hover(x, y) {
      const node = at(x, y);
      canvas.style.cursor = node ? "pointer" : "default";
      if (node !== atlas.hovered) [atlas.hovered, dirty] = [node, true];
      [px, py] = [x, y];
      dirty ||= read || pen.legible(x, y);
    },
    drag(dx, dy) {
      flight = null;
      const { camera } = atlas;
      atlas.camera = { ...camera, x: camera.x - dx / camera.kx, y: camera.y - dy / camera.ky };
      dirty = true;
    },
    zoom(x, y, factor) {
      told.stop();
      zoom(x, y, factor);
    },
    click(x, y) {
      if (mini && x >= mini.x && x <= mini.x + mini.w && y >= mini.y && y <= mini.y + mini.h) {
        const [fx, fy] = [(x - mini.x) / mini.w, (y - mini.y) / mini.h];
        const { rects } = atlasPlaces(m, m.root, atlas.size);
        const hit = partsOf(m, m.root).find((node) => {
          const r = /** @type {number[]} */ (rects.get(node.i));
          return fx >= r[0] && fx <= r[0] + r[2] && fy >= r[1] && fy <= r[1] + r[3];
        });
        return told.click(hit?.children ? hit : m.root, false);
      }
      const frame = seenBy(placeOf(atlas, atlas.focus), atlas.camera);
      const outside = x < frame.x || x > frame.x + frame.w || y < frame.y || y > frame.y + frame.h;
      told.click(at(x, y), outside && atlas.focus.parent != null);
    },
  });

  const stage = {
    drawn() {},
    need: () => { dirty = true; },
    fit() {
      m.places.clear();
      [atlas.camera, flight, dirty] = [cameraFor(atlas, atlas.focus), null, true];
    },
    /** Fly to a module, by way of what is around both. @param {AtlasNode} group @param {number} [length] */
    async flyTo(group, length = 620) {
      const from = atlas.focus;
      atlas.focus = group;
      const direct = isInside(m, group, from) || isInside(m, from, group);
      if (!direct && !calm()) {
        let around = from;
        while (!isInside(m, group, around)) around = /** @type {AtlasNode} */ (parentOf(m, around));
        await fly(cameraFor(atlas, around), from, length * 0.72);
        return fly(cameraFor(atlas, group), group, length * 0.72);
      }
      return fly(cameraFor(atlas, group), isInside(m, from, group) ? from : group, length);
    },
    leave: () => { ended = true; },
  };
  requestAnimationFrame(tick);
  return stage;
}

/**
 * The pointer on a canvas: hovering, dragging, clicking, the wheel, and two fingers.
 * @param {HTMLCanvasElement} canvas
 * @param {{hover(x: number, y: number): void, drag(dx: number, dy: number): void, zoom(x: number, y: number, factor: number): void, click(x: number, y: number): void}} told
 */
function pointing(canvas, told) {
  /** @type {Map<number, [number, number]>} */
  const fingers = new Map();
  let apart = 0;
  /** @type {{x: number, y: number, far: boolean} | null} */
  let from = null;
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    fingers.set(e.pointerId, [e.offsetX, e.offsetY]);
    from = { x: e.offsetX, y: e.offsetY, far: fingers.size > 1 };
    apart = 0;
  });
  canvas.addEventListener("pointermove", (e) => {
    if (!fingers.has(e.pointerId)) return told.hover(e.offsetX, e.offsetY);
    fingers.set(e.pointerId, [e.offsetX, e.offsetY]);
    if (fingers.size === 2) {
      const [[ax, ay], [bx, by]] = [...fingers.values()];
      const now = Math.hypot(ax - bx, ay - by);
      if (apart) told.zoom((ax + bx) / 2, (ay + by) / 2, now / apart);
      apart = now;
    } else if (from) {
      const [dx, dy] = [e.offsetX - from.x, e.offsetY - from.y];
      from.far ||= Math.hypot(dx, dy) > 5;
      if (!from.far) return;
      told.drag(dx, dy);
      [from.x, from.y] = [e.offsetX, e.offsetY];
    }
  });
  const up = (/** @type {PointerEvent} */ e) => {
    fingers.delete(e.pointerId);
    if (from && !from.far && e.type === "pointerup") told.click(e.offsetX, e.offsetY);
    if (!fingers.size) from = null;
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", (e) => { if (!fingers.size) told.hover(-1, -1); });
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return; // the page scrolls
    e.preventDefault();
    told.zoom(e.offsetX, e.offsetY, Math.exp(-e.deltaY * 0.01));
  }, { passive: false });
}
