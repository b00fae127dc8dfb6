// Where the keys of a player work: where it has the focus; on a page of its own as soon as it is on
// screen; in a notebook, whose cells have keys of their own, the arrows to the side while the pointer
// rests on it, which its border shows. Never where something is being written or chosen.
const WRITING = "input, textarea, select, [contenteditable], .cm-editor, .mg-player, .jupyter-widgets";

/**
 * @param {HTMLElement} root @param {() => Keys} keys @param {boolean} alone a page of its own
 * @returns {() => void} what ends it
 */
function keyboard(root, keys, alone) {
  listen(root, keys);
  let [seen, over] = [false, false];
  const watch = new IntersectionObserver(([entry]) => { seen = entry.intersectionRatio > 0.3; }, { threshold: [0, 0.3, 1] });
  watch.observe(root);
  const enter = (/** @type {boolean} */ on) => () => {
    over = on;
    root.classList.toggle("mg-keyed", on && !alone && free());
  };
  const free = () => {
    const focus = document.activeElement;
    return !focus || !(root.contains(focus) || focus.closest(WRITING));
  };
  root.addEventListener("pointerenter", enter(true));
  root.addEventListener("pointerleave", enter(false));
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !free()) return;
    if (event.key === " " && document.activeElement?.matches("button, summary, a")) return;
    const own = alone ? seen && !event.key.match(/ArrowUp|ArrowDown/) : over && event.key.match(/ArrowLeft|ArrowRight/);
    const move = own && keys()[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    move();
  };
  window.addEventListener("keydown", press, true);
  return () => {
    watch.disconnect();
    window.removeEventListener("keydown", press, true);
  };
}
