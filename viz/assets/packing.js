// Where the panes of a board stand: side by side, one above the other or both, so that they are as
// large as they can be in the room that there is.
const FEW = 5; // panes of which every grouping is tried; of more, those in their order

/**
 * @typedef {{width: number, height: number, fixed: number, whole?: boolean}} Pane its drawing, and pixels of words around
 *   it; whole: it takes all the width that there is
 * @typedef {{left: number, top: number, width: number, height: number}} Spot in parts of the room
 */

/** Every way to put so many things into groups. @param {number} count @returns {number[][][]} */
function groupings(count) {
  /** @type {number[][][]} */
  let found = [[]];
  for (let i = 0; i < count; i += 1) {
    found = found.flatMap((groups) => [
      ...groups.flatMap((_, g) => (
        count <= FEW || g === groups.length - 1 ? [groups.map((one, k) => (k === g ? [...one, i] : one))] : []
      )),
      [...groups, [i]],
    ]);
  }
  return found;
}


/**
 * The best places for some panes: the largest scale, up to 1; then the least height, then their order.
 * @param {Pane[]} panes @param {number} wide @param {number} high
 * @returns {{spots: Spot[], scale: number, needed: number}}
 */
function packed(panes, wide, high) {
  const sum = (/** @type {number[]} */ all) => all.reduce((a, b) => a + b, 0);
  const ways = groupings(panes.length).flatMap((groups) => [true, false].map((columns) => {
    const each = groups.map((group) => group.map((i) => panes[i]));
    const stack = (/** @type {Pane[][]} */ all) => all.map((one) => Math.max(...one.map(({ height }) => height)));
    const words = (/** @type {Pane[]} */ one) => (columns ? sum(one.map((p) => p.fixed)) : Math.max(...one.map((p) => p.fixed)));
    const widths = each.map((one) => (columns ? Math.max : (/** @type {number[]} */ ...all) => sum(all))(...one.map((p) => p.width)));
    const heights = columns ? each.map((one) => sum(one.map((p) => p.height))) : stack(each);
    const across = columns ? wide / sum(widths) : Math.min(...widths.map((width) => wide / width));
    const down = columns
      ? Math.min(...each.map((one, g) => (high - words(one)) / heights[g]))
      : (high - sum(each.map(words))) / sum(heights);
    const share = (/** @type {Pane} */ p, /** @type {number} */ g) => wide * (columns ? widths[g] / sum(widths) : p.width / widths[g]);
    const narrow = each.some((one, g) => one.some((p) => p.height === 1 && share(p, g) < (p.whole ? wide - 1 : Math.min(p.width, wide)))); // words, which do not shrink
    const scale = Math.max(0.01, Math.min(1, across, down) * (narrow ? 0.3 : 1));
    const tall = each.map((one, g) => heights[g] * scale + words(one));
    return { groups, columns, widths, scale, tall, needed: columns ? Math.max(...tall) : sum(tall) };
  }));
  const best = ways.reduce((a, b) => (
    b.scale > a.scale + 0.005 || (b.scale > a.scale - 0.005 && b.needed < a.needed - 1) ? b : a
  ));
  /** @type {Spot[]} */
  const spots = [];
  let start = 0;
  best.groups.forEach((group, g) => {
    const size = best.columns ? best.widths[g] / sum(best.widths) : best.tall[g] / sum(best.tall);
    const parts = group.map((i) => (best.columns ? panes[i].height * best.scale + panes[i].fixed : panes[i].width));
    let at = 0;
    group.forEach((i, k) => {
      const part = parts[k] / sum(parts);
      spots[i] = best.columns
        ? { left: start, top: at, width: size, height: part }
        : { left: at, top: start, width: part, height: size };
      at += part;
    });
    start += size;
  });
  return { spots, scale: best.scale, needed: best.needed };
}
