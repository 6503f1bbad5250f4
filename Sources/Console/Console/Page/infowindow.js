// The window above the marker of the active place: name, distance, and actions.

import { el, icon, picture } from "./dom.js";
import { distance, shortened, t } from "./text.js";

/** Makes the window. `actions`: details(place), photo(place), close(). */
export function infoWindow(place, actions) {
  const facts = [place.category, distance(place.distanceMeters)].filter(Boolean);
  const button = (name, kind) =>
    el("button", { class: `small ${kind}`, type: "button", "data-does": name, onclick: () => actions[name](place) }, t(name));

  return el("section", { class: "info", "aria-label": shortened(place.name), onkeydown: (event) => event.key === "Escape" && actions.close() },
    picture(place.imageURL, "info-picture"),
    el("div", { class: "info-text" },
      el("bdi", { class: "info-name" }, place.name ?? t("unnamed")),
      el("span", { class: "info-facts" }, el("bdi", {}, facts.join(" · "))),
      el("div", { class: "info-actions" }, button("details", "primary"), button("photo", ""))),
    el("button", { class: "close", type: "button", "aria-label": t("close"), "data-does": "close", onclick: actions.close }, icon("close")));
}
