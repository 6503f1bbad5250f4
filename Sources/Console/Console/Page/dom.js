// Makes elements without markup: data becomes text or an attribute, never HTML.

const SVG = "http://www.w3.org/2000/svg";

function furnish(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "disabled" || name === "hidden") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Makes an element; children are elements or text. `onclick` and other handlers take a function. */
export function el(tag, properties = {}, ...children) {
  return furnish(document.createElement(tag), properties, children);
}

/** The same for SVG. */
export function svg(tag, properties = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), properties, children);
}

/** Makes a drawing of icons.svg. It is hidden from screen readers, because the text beside it has its meaning. */
export function icon(name) {
  return svg("svg", { class: "icon", "aria-hidden": "true", focusable: "false" }, svg("use", { href: `assets/icons.svg#${name}` }));
}

/** Sets an element's text if it differs, so that screen readers and selections are not disturbed. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets an attribute, or removes it when the value is absent or false. */
export function setAttribute(element, name, value) {
  if (value === undefined || value === null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Draws an element's content only if what it shows has changed: otherwise the focus would be lost. */
export function fill(element, shown, content) {
  const drawn = JSON.stringify(shown);
  if (element.drawn === drawn) return;
  element.drawn = drawn;
  element.replaceChildren(...content());
}

/**
 * Makes the children of a parent match `items`, in this order. The element of a key is kept, and so is its focus.
 * `make(item)` makes an element, `update(element, item, index)` fills it.
 */
export function syncChildren(parent, { items, key, make, update }) {
  // Removals come first. Then the remaining elements need not be moved, which would lose the focus.
  const wanted = new Set(items.map(key));
  for (const child of [...parent.children]) {
    if (!wanted.has(child.dataset.key)) child.remove();
  }

  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let next = parent.firstElementChild;

  items.forEach((item, index) => {
    const itemKey = key(item);
    let element = old.get(itemKey);
    if (!element) {
      element = make(item);
      element.dataset.key = itemKey;
    }
    update?.(element, item, index);

    if (element === next) next = next.nextElementSibling;
    else parent.insertBefore(element, next);
  });
}

/** Returns a link's address if it is an http or https URL; others, such as `javascript:`, are left out. */
export function webAddress(text) {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** Makes a place's picture, fetched through the console, or a placeholder if there is none or loading fails. */
export function picture(imageURL, className) {
  const frame = el("span", { class: `picture ${className}` }, icon("picture"));
  frame.dataset.of = imageURL ?? "";
  if (!webAddress(imageURL)) return frame;

  const image = el("img", { alt: "", loading: "lazy", decoding: "async" });
  image.addEventListener("load", () => frame.classList.add("is-loaded"));
  image.addEventListener("error", () => image.remove());
  image.src = `api/pictures?url=${encodeURIComponent(imageURL)}`;
  frame.append(image);
  return frame;
}

/** Replaces a picture only if it has changed, because loading it again would flicker. */
export function setPicture(frame, imageURL, className) {
  if (frame.dataset.of !== (imageURL ?? "")) frame.replaceWith(picture(imageURL, className));
}
