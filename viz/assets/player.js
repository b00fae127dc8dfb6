// The player. All content comes from the kernel once; a step only changes classes and text here.

/** @param {{model: Model, el: HTMLElement}} view */
function render({ model, el }) {
  let playing = play(model, el);
  // New values for the same drawings change in place; anything else is shown afresh.
  const replace = () => {
    const data = unfolded(model.get("data"));
    if (data.name === playing.name) return playing.renew(data);
    playing.leave();
    el.replaceChildren();
    playing = play(model, el);
  };
  model.on("change:data", replace);
  return () => {
    model.off("change:data", replace);
    playing.leave();
  };
}

/**
 * What is sent once, wherever it is needed: each caption in its frame, partners in both drawings.
 * @param {Data} data
 */
function unfolded(data) {
  const back = Object.entries(data.links).map(([here, there]) => [there, here]);
  const told = (/** @type {Frame} */ frame) => ({ ...frame, captions: frame.captions.map((caption) => data.texts[Number(caption)]) });
  return { ...data, frames: data.frames.map(told), links: { ...data.links, ...Object.fromEntries(back) } };
}

/**
 * @param {Model} model @param {HTMLElement} el
 * @returns {{name: string | null, leave(): void, renew(data: Data): void}}
 */
function play(model, el) {
  let data = unfolded(model.get("data"));
  if (!data.frames.length) return { name: null, leave() {}, renew() {} };
  const { words, labels } = data;
  const alone = !model.widget_manager;
  const parts = places(el, data);
  const { root, caption, inspector, side } = parts;
  // At rest it stands at its end, where everything can be seen; from there the first step begins anew.
  let resting = model.get("index") < 0;
  let index = resting ? data.frames.length - 1 : Math.min(model.get("index"), data.frames.length - 1);
  /** @type {string | null} */
  let chosen = null;
  let painted = -1; // the step that is on the screen
  /** @type {string[]} */
  let within = []; // the nodes in the chosen card, of which one is chosen when the card is opened

  // ---- What is chosen, and what belongs to it in the other drawing ----

  /** @type {Stage[]} */
  const graphs = [];
  const boxOf = (/** @type {string} */ id) => {
    for (const graph of graphs) {
      const place = graph.home(id);
      const card = graph.cards.get(place);
      const arrow = graph.arrows.get(place);
      if (card || arrow) return { graph, card, arrow, id: place };
    }
    return null;
  };
  // The nodes in a card, and those that correspond to them.
  const partners = (/** @type {string} */ id) => {
    const inside = boxOf(id)?.card?.members ?? [];
    const other = inside.map((node) => data.links[node]).filter(Boolean);
    return [...new Set(other.map((node) => boxOf(node)?.id ?? "").filter(Boolean))];
  };
  const choose = (/** @type {string} */ id, focus = false) => {
    chosen = id;
    const found = boxOf(id);
    within = found?.card?.members ?? [];
    if (found?.card) {
      found.graph.enter(found.card);
      if (focus) {
        found.card.g.focus({ preventScroll: true });
        reveal(found.card.g, found.graph.drawing, false);
      }
    }
    aside(parts, (found?.card ?? found?.arrow)?.g);
    show(false, true);
  };
  // A card, its partner and the marks of both are one thing.
  const hover = (/** @type {string} */ id, /** @type {boolean} */ on) => {
    const cards = [id, ...partners(id)].map(boxOf);
    for (const found of cards) {
      found?.card?.g.classList.toggle("mg-hover", on);
      for (const ref of found?.graph.references ?? []) {
        if (ref.matches(`[data-of~="${found?.id}"]`)) ref.classList.toggle("mg-hover", on);
      }
    }
    const nodes = new Set(cards.flatMap((found) => found?.card?.members ?? []));
    staffs?.point(nodes, on);
  };
  function unchoose() {
    const back = side.contains(document.activeElement);
    chosen = null;
    show();
    if (back) root.focus({ preventScroll: true });
  }
  // The node before or after the chosen one; from one drawing to the next.
  const walk = (/** @type {number} */ by) => {
    const all = graphs.flatMap((graph) => [...graph.cards.values()])
      .filter((card) => !card.seen["mg-unborn"]).map((card) => card.id);
    const place = all.indexOf(boxOf(chosen ?? "")?.id ?? "");
    choose(all[place < 0 ? (by > 0 ? 0 : all.length - 1) : (place + by + all.length) % all.length], true);
  };
  const repaint = (/** @type {boolean} */ focused) => {
    show();
    if (focused) (boxOf(chosen ?? "")?.card?.g ?? root).focus({ preventScroll: true });
    if (focused && !root.contains(document.activeElement)) root.focus({ preventScroll: true }); // it is not born
  };

  // ---- The drawings ----

  const scale = scaled(parts.tools, labels, words);
  for (const [i, graph] of data.graphs.entries())
    graphs.push(stage(graph, i, data, model, parts.stages, scale, { choose, hover, repaint, graphs: () => graphs }));
  const foldable = data.graphs.filter((g) => g.layers !== g.shown && (g.views[g.layers] || !alone));
  root.classList.toggle("mg-folds", Boolean(foldable.length));
  if (foldable.length) {
    const folding = button("", labels.fold, parts.tools, () => {
      for (const [i, graph] of data.graphs.entries()) {
        const key = graphs[i].shown === graph.layers ? graph.shown : graph.layers;
        graphs[i].open(key ? key.split("\n") : []);
      }
      folding.setAttribute("aria-pressed", String(graphs.some((g, i) => g.shown !== data.graphs[i].layers)));
    });
    say(folding, words.fold_short);
    folding.setAttribute("aria-pressed", "true");
  }
  const tables = overlay("", labels.table, parts.tools, parts.body, (panel) => {
    make("div", "mg-tables", panel).innerHTML = data.graphs.map((g) => g.table).join("");
  });
  say(tables, words.table_short);
  if (data.listing.length && !data.still)
    say(overlay("", labels.program, parts.tools, parts.body, (panel) => program(panel, data)), words.code);
  overlay("?", labels.help, parts.tools, parts.body, (panel) => help(panel, data));

  // ---- Steps ----

  const last = () => data.frames.length - 1;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let told; // the kernel hears of the step when the reader rests, not of each one
  const tell = () => {
    model.set("index", index);
    model.save_changes();
  };
  region(parts.score, labels.score);
  const steps = stepper(parts.controls, labels, labels.position, pace(last()), {
    at: () => index,
    last,
    words,
    fresh: () => resting,
    show(to, jump = false, touched = true) {
      if (resting && to === 1) { // it begins anew
        index = 0;
        show();
      }
      index = to;
      resting = !touched && index === last();
      show(!jump && index === painted + 1 && !calm());
      clearTimeout(told);
      if (touched) told = setTimeout(tell, 150);
    },
  }, parts.score);
  const unseen = resting && !data.still ? onceSeen(root, caption, steps) : () => {};
  const keys = () => ({
    ...(data.still ? {} : steps.keys),
    ArrowUp: () => walk(-1),
    ArrowDown: () => walk(1),
    o: () => toggle(chosen),
    ...(chosen ? { Escape: unchoose } : {}),
    ...zoomKeys(scale),
  });
  const silence = keyboard(root, keys, alone && !data.still);
  movable(model, data, parts.moving);

  // ---- The score ----

  /** @type {ReturnType<typeof score> | undefined} */
  let staffs;

  /** @param {Data} newer */
  function renew(newer) {
    data = newer;
    index = resting ? last() : Math.min(index, last());
    staffs?.leave();
    staffs = score(parts.score, data, { hover });
    scoreKey(parts.key, data);
    parts.fit(wordiest(data.frames));
    parts.verdict.hidden = !data.verdict;
    parts.verdict.classList.toggle("mg-equal", Boolean(data.equal));
    parts.verdict.replaceChildren();
    say(parts.verdict, data.verdict);
    parts.trouble.textContent = data.trouble ?? "";
    place();
    show();
  }

  // ---- One step on the screen: only what differs from the step before is touched ----

  const about = (/** @type {Stage} */ graph, /** @type {Frame} */ { active }) =>
    active.map((id) => graph.cards.get(graph.home(id))).find(Boolean);
  // In a drawing whose film has ended, what is the same as what the other one is about.
  const beside = (/** @type {Stage} */ graph, /** @type {Frame} */ { active }) =>
    active.flatMap(partners).map((id) => graph.cards.get(id)).find(Boolean);
  // What the last step of a drawing was about: there it rests while the other one goes on, or at the end.
  const before = (/** @type {Stage} */ graph) => {
    for (let i = index - 1; i >= 0; i--) {
      const card = about(graph, data.frames[i]);
      if (card) return card;
    }
  };

  // stays: the reader chose what to see, so that no card of the step comes into view.
  function show(moves = false, stays = false) {
    const frame = data.frames[index];
    if (chosen && !boxOf(chosen)) chosen = within[within.length - 1] ?? null;
    const chosenBox = chosen ? boxOf(chosen)?.id : undefined;
    const jumps = Math.abs(index - painted) > 1;
    const aims = graphs.map((graph, i) => {
      const found = flows(graph, frame, data, index);
      const aims = aim(graph, found, graph.scale());
      const now = about(graph, frame) ?? (frame.still?.[i] ? beside(graph, frame) : undefined)
        ?? (jumps || index === last() ? before(graph) : undefined);
      if (now && !stays) reveal(now.g, graph.drawing, moves, chipsOf(graph, aims));
      return { found, aims };
    });
    retell(frame);
    staffs?.show(index);
    parts.verdict.style.visibility = index === last() ? "" : "hidden"; // it is about the end
    const linked = new Set(chosen ? partners(chosen) : []);
    graphs.forEach((graph, i) => {
      const used = passed(graph, data);
      paint(graph, data, index, { chosen: chosenBox, linked, moves, flows: aims[i].found, used });
      carry(graph, aims[i].aims, moves);
    });
    inspect(frame);
    painted = index;
  }

  /** @param {Frame} frame */
  function retell(frame) {
    parts.tell(caption, frame);
    const alive = frame.captions.filter((_, i) => !frame.still?.[i]);
    steps.tell([...new Set(alive.map(halves))].join(" | "));
  }

  // ---- The inspector ----

  const closing = button("×", labels.close, side, unchoose);
  closing.classList.add("mg-close");

  const groupsOf = (/** @type {ReturnType<typeof boxOf>} */ found) => {
    if (!found) return [];
    const closed = found.graph.view.closed[found.id] ?? [];
    const open = found.card ? found.graph.around(found.card) : [];
    const all = [
      ...(closed.length ? [{ word: words.open_group, groups: closed }] : []),
      ...open.map((group) => ({ word: words.close_group, groups: [group] })),
    ];
    return all.filter(({ groups }) => found.graph.can(groups));
  };
  function toggle(/** @type {string | null} */ id) {
    const found = boxOf(id ?? "");
    const first = groupsOf(found)[0];
    if (first) found?.graph.toggle(first.groups);
  }

  /** @param {Frame} frame */
  function inspect(frame) {
    inspector.replaceChildren();
    const id = chosen ?? "";
    const found = boxOf(id);
    side.hidden = !found;
    if (found?.arrow) {
      const arrow = Object.keys(data.edges).find((e) => e === id || found.graph.home(e) === id) ?? id;
      if (data.edges[arrow]) inspectEdge(data.edges[arrow], data, frame.flows?.[arrow], inspector);
      return;
    }
    const shown = data.nodes[id] ? [id] : (found?.card?.members.slice(-1) ?? []);
    const link = data.links[shown[0]];
    for (const node of link ? [shown[0], link].sort() : shown) {
      const part = inspectNode(data.nodes[node], index, data, inspector);
      if (node !== shown[0]) continue;
      for (const { word, groups } of groupsOf(found)) {
        const b = button("", "", part, () => found?.graph.toggle(groups));
        b.removeAttribute("aria-label");
        b.removeAttribute("title");
        say(b, word);
        b.append(` ${groups.map((group) => group.split("/").pop()).join(", ")}`);
      }
    }
  }

  const follow = () => {
    if (model.get("index") === index || model.get("index") < 0) return;
    resting = false;
    index = Math.min(model.get("index"), last());
    show();
  };
  const hear = (/** @type {ViewMessage} */ message) => graphs.forEach((graph) => graph.arrived(message));
  model.on("change:index", follow);
  model.on("msg:custom", hear);
  const place = arranging(parts, graphs);
  renew(data);
  // A notebook may put a player on the page when it is made: only then is there a place to look at.
  let [wide, around] = [0, 0];
  const seen = new ResizeObserver(() => {
    const now = parts.head.offsetHeight + parts.bar.offsetHeight; // another one in another language
    if (root.clientWidth === wide && now === around) return;
    [wide, around] = [root.clientWidth, now];
    place();
    painted = -1;
    show();
  });
  for (const part of [root, parts.head, parts.bar]) seen.observe(part);
  window.addEventListener("resize", place);
  return {
    name: data.name,
    renew,
    leave() {
      seen.disconnect();
      window.removeEventListener("resize", place);
      unseen();
      steps.leave();
      silence();
      clearTimeout(told);
      model.off("change:index", follow);
      model.off("msg:custom", hear);
    },
  };
}

/**
 * Between which steps a gradient that went along an arrow of a drawing is held: until another call puts
 * another node at one of its ends, or another pass begins the gradient anew.
 * @param {Stage} stage @param {Data} data
 */
function passed(stage, data) {
  if (stage.passed?.view === stage.view && stage.passed.frames === data.frames) return stage.passed.used;
  /** @type {Map<string, [number, number][]>} */
  const used = new Map();
  /** @type {Map<string, [number, number][]>} */
  const kept = new Map(); // what the gradient of a node is the sum of
  const gone = (/** @type {string} */ id, /** @type {number} */ from) => {
    const freed = data.nodes[id]?.freed ?? Infinity;
    return (from <= freed && data.nodes[id]?.values.find(([at]) => at > freed)?.[0]) || Infinity;
  };
  data.frames.forEach((frame, i) => {
    for (const [edge, sent] of Object.entries(frame.flows ?? {})) {
      if (typeof sent === "string") continue;
      const [id, ends] = [stage.home(edge), (data.edges[edge] ?? []).slice(0, 2)];
      const before = kept.get(ends[0]) ?? [];
      if (!sent.before) for (const span of before) if (span[0] < i) span[1] = Math.min(span[1], i); // what began now may go two ways
      const span = /** @type {[number, number]} */ ([i, Math.min(...ends.map((end) => gone(end, i)))]);
      kept.set(ends[0], [...before, span]);
      used.set(id, [...(used.get(id) ?? []), span]);
    }
  });
  stage.passed = { view: stage.view, frames: data.frames, used };
  return used;
}

export default { render };
