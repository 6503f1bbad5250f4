// Dragging, pinching and mouse wheel zoom on the grid map.

const WHEEL_PIXELS_PER_ZOOM = 240;

/**
 * Reports how a pointer moves the content of an element: `pan(x, y)` in pixels, `zoom(steps, {x, y})` around a point.
 * Gestures that begin on a button are ignored.
 */
export function moveByPointer(element, { pan, zoom }) {
  const pointers = new Map();

  const inside = (event) => {
    const { left, top } = element.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const middle = ([one, other]) => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
  const span = ([one, other]) => Math.hypot(one.x - other.x, one.y - other.y);

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest("button, a, .info")) return;
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, inside(event));
    element.classList.add("is-dragged");
  });

  element.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const old = [...pointers.values()];
    pointers.set(event.pointerId, inside(event));
    const fresh = [...pointers.values()];

    if (fresh.length === 1) return pan(fresh[0].x - before.x, fresh[0].y - before.y);
    if (fresh.length > 2) return;
    const [from, to] = [middle(old), middle(fresh)];
    pan(to.x - from.x, to.y - from.y);
    if (span(old) > 0 && span(fresh) > 0) zoom(Math.log2(span(fresh) / span(old)), to);
  });

  const end = (event) => {
    pointers.delete(event.pointerId);
    if (pointers.size === 0) element.classList.remove("is-dragged");
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);

  element.addEventListener("wheel", (event) => {
    if (event.target.closest(".info")) return;
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
    zoom(-Math.max(-1, Math.min(1, pixels / WHEEL_PIXELS_PER_ZOOM)), inside(event));
  }, { passive: false });
}
