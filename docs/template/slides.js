// Slides: the blocks of the page, paragraphs and figures, one screenful after another. A heading begins
// a slide and never ends one; a block that is taller than the screen is made smaller.
const main = document.querySelector("main");
main.classList.add("slides"); // in a rule, :has() would style the whole page anew for each block
main.querySelectorAll("details.code").forEach((code) => { code.open = true; });
document.querySelectorAll(".held").forEach((held) => held.replaceWith(held.lastElementChild)); // the next slide shows it
const blocks = [...main.children].flatMap((cell) => {
  if (cell.matches(".first") || cell.querySelector(":scope > .first")) return [];
  if (!cell.matches(".prose, .outputs")) return [{ block: cell }];
  return [...cell.children].map((block) => ({ block, like: cell }));
}).filter(({ block }) => block.offsetHeight); // what shows nothing makes no slide

/** Put a block at the end of a slide, in a box like the cell that it came from. */
function put({ block, like }, slide) {
  const last = slide.lastElementChild;
  if (!like) {
    block.style.zoom = "";
    return slide.append(block);
  }
  const box = last?.like === like ? last : like.cloneNode(false);
  box.like = like;
  box.append(block);
  if (box !== last) slide.append(box);
}

const heading = ({ block }) => block.matches("h1, h2, h3");
const used = (slide) => {
  const boxes = [...slide.children].map((box) => box.getBoundingClientRect());
  return Math.max(...boxes.map(({ bottom }) => bottom)) - Math.min(...boxes.map(({ top }) => top));
};
const room = (slide) => slide.clientHeight * 0.92;

function begin() {
  const slide = document.createElement("section");
  slide.className = "slide";
  main.append(slide);
  return slide;
}

/** The content of one slide is never more than a screen: what is alone and too tall shrinks. */
function fit(slide) {
  for (let tries = 0; tries < 4 && used(slide) > room(slide); tries++) {
    const scale = Number(slide.dataset.scale ?? 1) * (room(slide) / used(slide)) * 0.98;
    slide.dataset.scale = String(scale);
    for (const box of slide.children) box.style.zoom = String(scale);
  }
}

function layOut() {
  const old = [...main.children];
  let slide;
  let held = []; // what the slide has
  for (const each of blocks) {
    if (!slide || heading(each) && !held.every(heading)) [slide, held] = [begin(), []];
    put(each, slide);
    held.push(each);
    if (used(slide) <= room(slide) || held.slice(0, -1).every(heading)) continue;
    const kept = held.findLastIndex((part, i) => i < held.length - 1 && !heading(part)) + 1;
    const moved = held.slice(kept); // the block, with a heading just above it
    slide = begin();
    moved.forEach((part) => put(part, slide));
    held = moved;
  }
  old.forEach((each) => each.parentElement === main && each.remove());
  main.querySelectorAll(".slide").forEach((each) => {
    each.querySelectorAll(":scope > :empty").forEach((box) => box.remove());
    fit(each);
  });
}
layOut();

let again;
addEventListener("resize", () => {
  clearTimeout(again);
  again = setTimeout(layOut, 200);
});

// ← and → as most remote controls send them; a player that has the focus keeps its keys.
addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  if (!step || event.target.closest("input, button, summary, .mg-player, .mg-ask")) return;
  const slides = [...document.querySelectorAll(".slide")];
  const now = slides.findLastIndex((slide) => slide.getBoundingClientRect().top < 10);
  slides[Math.min(slides.length - 1, Math.max(0, now + step))].scrollIntoView();
  event.preventDefault();
});
