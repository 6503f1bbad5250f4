// On a phone, the panel is a sheet above the map with low, half or full height. On a wide screen, it is beside the map.

import { onLanguage, t } from "./text.js";

const HEIGHTS = ["low", "half", "full"];

export function startSheet() {
  const panel = document.getElementById("panel");
  const handle = document.getElementById("sheet-handle");
  const isPhone = matchMedia("(max-width: 760px)");
  let dragStart;

  const set = (height) => {
    panel.dataset.height = height;
    handle.setAttribute("aria-expanded", String(height !== "low"));
    handle.setAttribute("aria-label", t(height === "full" ? "sheet.lower" : "sheet.raise"));
  };
  const step = (by) => set(HEIGHTS[Math.min(Math.max(HEIGHTS.indexOf(panel.dataset.height) + by, 0), HEIGHTS.length - 1)]);

  handle.addEventListener("click", () => {
    if (dragStart === "moved") dragStart = undefined;
    else set(panel.dataset.height === "half" ? "full" : panel.dataset.height === "full" ? "low" : "half");
  });
  handle.addEventListener("pointerdown", (event) => {
    dragStart = event.clientY;
    handle.setPointerCapture(event.pointerId);
  });
  handle.addEventListener("pointerup", (event) => {
    const moved = event.clientY - dragStart;
    dragStart = Math.abs(moved) > 24 ? "moved" : undefined;
    if (dragStart) step(moved < 0 ? 1 : -1);
  });
  onLanguage(() => set(panel.dataset.height));
  set("half");

  return {
    /** Makes room for a list that will be shown. */
    open() {
      if (isPhone.matches && panel.dataset.height === "low") set("half");
    },
    /** Lowers a full sheet, so that the map is visible. */
    showMap() {
      if (isPhone.matches && panel.dataset.height === "full") set("half");
    },
  };
}
