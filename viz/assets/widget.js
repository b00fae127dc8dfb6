// What all widgets of frames use: elements, keys, buttons.
function make(tag, className, parent) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (parent) parent.append(element);
  if (["button", "input", "section"].includes(tag)) mine(element);
  return element;
}

// JupyterLab leaves the keys to the focused element only if that very element says so.
function mine(element) {
  element.setAttribute("data-lm-suppress-shortcuts", "true");
}

function button(sign, label, parent, action) {
  const b = make("button", "", parent);
  b.type = "button";
  b.textContent = sign;
  b.setAttribute("aria-label", label);
  b.title = label;
  b.addEventListener("click", action);
  return b;
}
