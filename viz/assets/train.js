// Training: how far it is, and the chart, which the kernel draws.

/** @param {{model: Model, el: HTMLElement}} view */
function render({ model, el }) {
  const root = make("section", "mg-player mg-train", el);
  const status = make("div", "mg-caption", root);
  const times = make("div", "mg-times", root);
  const bar = make("progress", "", root);
  const chart = make("div", "", root);
  const paint = () => {
    /** @type {TrainData} */
    const data = model.get("data");
    root.setAttribute("aria-label", data.labels.train_loss);
    status.innerHTML = data.status;
    bar.setAttribute("aria-label", data.labels.train_progress);
    if (data.total == null && data.state === "running") bar.removeAttribute("value");
    else {
      bar.max = data.total ?? 1;
      bar.value = data.total == null ? 1 : data.done;
    }
    times.innerHTML = data.times;
  };
  const draw = async () => {
    const drawing = model.get("drawing");
    const next = document.createElement("div");
    next.innerHTML = drawing;
    await Promise.allSettled([...next.querySelectorAll("img")].map((img) => img.decode())); // no blank between two
    if (drawing === model.get("drawing")) chart.replaceChildren(...next.childNodes);
  };
  model.on("change:data", paint);
  model.on("change:drawing", draw);
  paint();
  draw();
  return () => {
    model.off("change:data", paint);
    model.off("change:drawing", draw);
  };
}

export default { render };
