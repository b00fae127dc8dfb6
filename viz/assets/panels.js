// What stands beside the drawings: the program, the clocks, the legend.
const SVG = "http://www.w3.org/2000/svg";
const COLORS = { clock_built: "#0072B2", clock_run: "#009E73", clock_gradient: "#D55E00" };

function shape(tag, attributes, parent) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent?.append(element);
  return element;
}

// The user's lines, of which those of the present step are marked.
function program(parent, label) {
  const pane = make("div", "mg-program", parent);
  region(pane, label);
  const loose = make("div", "mg-loose", parent);
  let listed = [];
  let marked = [];
  let told = null; // the lines that are marked
  // What scrolls must be reached by the keys; how high it is shows only once it is on the page.
  mine(pane);
  new ResizeObserver(() => {
    if (pane.scrollHeight > pane.clientHeight) pane.tabIndex = 0;
    else pane.removeAttribute("tabindex");
  }).observe(pane);

  function list(listing) {
    pane.replaceChildren();
    told = null;
    listed = listing.map(([file, first, lines]) => {
      const block = make("ol", "", pane);
      block.start = first;
      block.title = file;
      return lines.map((line) => Object.assign(make("li", "", block), { textContent: line || " " }));
    });
  }

  // A line whose program is not to be had is told on its own.
  function tell([, , , place, before, inside, after]) {
    const line = make("div", "", loose);
    line.append(before);
    make("mark", "", line).textContent = inside;
    line.append(after);
    make("span", "mg-place", line).textContent = `   ${place}`;
  }

  function mark(lines, [, , , , before, inside]) {
    for (const line of lines) line.classList.add("mg-here");
    const text = lines[0].textContent;
    const at = lines.length === 1 ? text.indexOf(inside, Math.max(0, text.indexOf(before))) : -1;
    if (inside && at >= 0) {
      const from = before ? text.indexOf(before) + before.length : at;
      lines[0].replaceChildren(text.slice(0, from));
      make("mark", "", lines[0]).textContent = inside;
      lines[0].append(text.slice(from + inside.length));
    }
  }

  function reach(line) {
    const top = line.offsetTop; // within the pane, which is positioned
    if (top < pane.scrollTop || top > pane.scrollTop + pane.clientHeight - 20) {
      pane.scrollTop = top - pane.clientHeight / 2;
    }
  }

  function show(code) {
    if (String(code) === told) return;
    told = String(code);
    const found = code.map((entry) => [listed[entry[0]]?.slice(entry[1], entry[2] + 1) ?? [], entry]);
    for (const [lines] of found) if (lines.length) reach(lines[0]); // before anything changes
    for (const line of marked) {
      line.classList.remove("mg-here");
      line.textContent = line.textContent;
    }
    marked = found.flatMap(([lines]) => lines);
    loose.replaceChildren();
    for (const [lines, entry] of found) {
      if (lines.length) mark(lines, entry);
      else tell(entry);
    }
  }
  return { list, show };
}

// One clock: a row of ticks, one column for each step. Returns what moves it to a step.
function clock(lane, data, parent, go) {
  say(make("div", "", parent), lane.label);
  const { frames } = data;
  const look = { class: "mg-lane", viewBox: `0 0 ${frames.length} 10`, preserveAspectRatio: "none" };
  const svg = shape("svg", { ...look, role: "img", "aria-label": `${lane.said}: ${lane.marks.length}` });
  parent.append(svg);
  const now = shape("rect", { y: 0, width: 1, height: 10, class: "mg-moment" }, svg);
  const ticks = lane.marks.map(([frame, node]) => {
    const box = { x: frame + 0.15, y: 2, width: 0.7, height: 6, fill: COLORS[lane.clock], opacity: 0.3 };
    const tick = shape("rect", box, svg);
    shape("title", {}, tick).textContent = `${frame}: ${data.nodes[node]?.label ?? ""}`;
    return { tick, frame, lit: false };
  });
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    go(Math.floor(((event.clientX - box.left) / box.width) * frames.length));
  });
  return (index) => {
    now.setAttribute("x", index);
    for (const entry of ticks) {
      const lit = entry.frame <= index;
      if (lit === entry.lit) continue;
      entry.tick.setAttribute("opacity", lit ? 1 : 0.3);
      entry.lit = lit;
    }
  };
}

// What shapes and colours mean, of those that occur.
function legend(kinds, title, parent) {
  const folded = make("details", "mg-legend", parent);
  say(make("summary", "", folded), title);
  for (const [kind, fill, label] of kinds) {
    const entry = make("span", "mg-kind", folded);
    make("span", `mg-patch mg-patch-${kind}`, entry).style.background = fill;
    say(entry, label);
  }
}
