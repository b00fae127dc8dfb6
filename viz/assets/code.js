// The program: the user's lines, of which those of the present step are marked.

/**
 * @param {Element} parent @param {string} label
 * @param {(block: number, line: number, on: boolean) => void} hover
 */
function program(parent, label, hover) {
  const pane = make("div", "mg-program", parent);
  region(pane, label);
  const loose = make("div", "mg-loose", parent);
  /** @type {HTMLElement[][]} */
  let listed = [];
  /** @type {HTMLElement[]} */
  let marked = [];
  /** @type {string | null} */
  let told = null; // the lines that are marked
  // What scrolls must be reached by the keys; how high it is shows only once it is on the page.
  mine(pane);
  new ResizeObserver(() => {
    if (pane.scrollHeight > pane.clientHeight || pane.scrollWidth > pane.clientWidth) pane.tabIndex = 0;
    else pane.removeAttribute("tabindex");
  }).observe(pane);

  /** @param {[string, number, string[]][]} listing */
  function list(listing) {
    pane.replaceChildren();
    told = null;
    listed = listing.map(([file, first, lines], block) => {
      const ol = make("ol", "", pane);
      ol.start = first;
      ol.title = file;
      return lines.map((line, i) => {
        const li = make("li", "", ol);
        li.textContent = line || " ";
        li.addEventListener("pointerenter", () => hover(block, i, true));
        li.addEventListener("pointerleave", () => hover(block, i, false));
        return li;
      });
    });
  }

  /** A line whose program is not to be had is told on its own. @param {Code} code */
  function tell([, , , place, before, inside, after]) {
    const line = make("div", "", loose);
    line.append(before);
    make("mark", "", line).textContent = inside;
    line.append(after);
    make("span", "mg-place", line).textContent = `   ${place}`;
  }

  /** @param {HTMLElement[]} lines @param {Code} code */
  function mark(lines, [, , , , before, inside]) {
    for (const line of lines) line.classList.add("mg-here");
    const text = lines[0].textContent ?? "";
    const at = lines.length === 1 ? text.indexOf(inside, Math.max(0, text.indexOf(before))) : -1;
    if (inside && at >= 0) {
      const from = before ? text.indexOf(before) + before.length : at;
      lines[0].replaceChildren(text.slice(0, from));
      make("mark", "", lines[0]).textContent = inside;
      lines[0].append(text.slice(from + inside.length));
    }
  }

  /** @param {HTMLElement} line */
  function reach(line) {
    const top = line.offsetTop; // within the pane, which is positioned
    if (top < pane.scrollTop || top > pane.scrollTop + pane.clientHeight - 20) {
      pane.scrollTop = top - pane.clientHeight / 2;
    }
  }

  /** @param {Code[]} code */
  function show(code) {
    if (String(code) === told) return;
    told = String(code);
    const found = code.map((entry) => ({ entry, lines: listed[entry[0]]?.slice(entry[1], entry[2] + 1) ?? [] }));
    for (const { lines } of found) if (lines.length) reach(lines[0]); // before anything changes
    for (const line of marked) {
      line.classList.remove("mg-here");
      line.textContent = line.textContent;
    }
    marked = found.flatMap(({ lines }) => lines);
    loose.replaceChildren();
    for (const { lines, entry } of found) {
      if (lines.length) mark(lines, entry);
      else tell(entry);
    }
  }

  /** Bring the marked lines into sight, when the pane is shown. */
  const arrive = () => marked[0] && reach(marked[0]);

  /** @param {Code[]} code @param {boolean} on */
  function point(code, on) {
    for (const [block, first, last] of code)
      for (const line of listed[block]?.slice(first, last + 1) ?? []) line.classList.toggle("mg-hover", on);
  }
  return { list, show, arrive, point };
}
