// A picture of fixed size in a box that scrolls: buttons, keys, wheel and dragging.
function zoomable(box, tools, labels, words) {
  let scale = 1;
  const picture = () => box.querySelector("svg");
  const size = (svg) => {
    svg.dataset.width ??= String(parseFloat(svg.style.width) || 400);
    return Number(svg.dataset.width);
  };
  const apply = () => {
    const svg = picture();
    if (!svg) return;
    svg.style.width = `${size(svg) * scale}px`;
    svg.style.maxWidth = svg.style.maxHeight = scale === 1 ? "" : "none";
  };
  // The scale at which the drawing is as large as it is now.
  const current = (svg) => {
    const { width, height } = svg.viewBox.baseVal;
    const box = svg.getBoundingClientRect();
    return Math.min(box.width, (box.height * width) / height) / size(svg) || 1;
  };
  const zoom = (factor) => {
    const svg = picture();
    if (!svg) return;
    const middle = [
      (box.scrollLeft + box.clientWidth / 2) / box.scrollWidth,
      (box.scrollTop + box.clientHeight / 2) / box.scrollHeight,
    ];
    scale = Math.max(0.05, Math.min(8, current(svg) * factor));
    apply();
    box.scrollLeft = middle[0] * box.scrollWidth - box.clientWidth / 2;
    box.scrollTop = middle[1] * box.scrollHeight - box.clientHeight / 2;
  };
  const fit = () => {
    const svg = picture();
    if (!svg) return;
    const { width, height } = svg.viewBox.baseVal;
    const room = [box.clientWidth - 16, box.clientHeight - 16];
    const widest = Math.min(room[0], (room[1] * width) / height);
    scale = Math.min(1, widest / size(svg));
    apply();
  };
  button("+", labels.zoom_in, tools, () => zoom(1.25));
  button("−", labels.zoom_out, tools, () => zoom(0.8));
  const fitting = button("", labels.fit, tools, fit);
  say(fitting, words.fit);

  let from = null;
  box.addEventListener("pointerdown", (e) => {
    if (e.button === 0 && e.pointerType === "mouse") {
      from = { x: e.clientX, y: e.clientY, left: box.scrollLeft, top: box.scrollTop, far: false };
    }
  });
  box.addEventListener("pointermove", (e) => {
    if (!from || !(e.buttons & 1)) return;
    const [dx, dy] = [e.clientX - from.x, e.clientY - from.y];
    from.far ||= Math.abs(dx) + Math.abs(dy) > 4;
    if (!from.far) return;
    box.scrollLeft = from.left - dx;
    box.scrollTop = from.top - dy;
    box.classList.add("mg-moving");
  });
  // A drag is no click on the node under the pointer.
  box.addEventListener(
    "click",
    (e) => {
      box.classList.remove("mg-moving");
      if (from?.far) e.stopPropagation();
      from = null;
    },
    true,
  );
  box.addEventListener(
    "wheel",
    (e) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      zoom(e.deltaY < 0 ? 1.15 : 1 / 1.15);
    },
    { passive: false },
  );
  return { box, apply, fit, zoom };
}

// The keys of several drawings: for the one that has the focus, or else for all.
function zoomKeys(zooms) {
  const focused = zooms.filter(({ box }) => box.contains(document.activeElement));
  const each = (action) => () => (focused.length ? focused : zooms).forEach(action);
  const [larger, smaller] = [1.25, 0.8].map((factor) => each(({ zoom }) => zoom(factor)));
  return { "+": larger, "=": larger, "-": smaller, 0: each(({ fit }) => fit()) };
}
