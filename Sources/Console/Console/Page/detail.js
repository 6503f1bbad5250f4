// The card of the selected place: the one whose details or picture were requested last, in any window of the session.

import { el, icon, picture, setText, webAddress } from "./dom.js";
import { credit, facts, openState, rating } from "./list.js";
import { hasContent, placeKey } from "./store.js";
import { shortened, t } from "./text.js";

export class DetailView {
  #card = document.getElementById("detail");
  #body = document.getElementById("detail-body");
  #name = document.getElementById("detail-name");
  #actions;
  #closed;
  #drawn;
  #expected;

  /** `actions`: details(place), photo(place), closed(key). */
  constructor(actions) {
    this.#actions = actions;
    document.getElementById("detail-close").addEventListener("click", () => this.#close());
    this.#card.addEventListener("keydown", (event) => event.key === "Escape" && this.#close());
  }

  #close() {
    const key = this.#card.dataset.key;
    this.#closed = key;
    this.#show(false);
    this.#actions.closed(key);
  }

  #show(isShown) {
    this.#card.hidden = !isShown;
    document.documentElement.classList.toggle("has-detail", isShown);
  }

  /** Opens the card of a place, even if it was closed here before, and moves the focus to it. */
  expect(key) {
    this.#closed = undefined;
    this.#expected = key;
  }

  /** The place whose card is open. */
  get shown() {
    return this.#card.hidden ? undefined : this.#card.dataset.key;
  }

  show({ selected, list }) {
    const key = selected && placeKey(selected);
    if (key !== this.#closed) this.#closed = undefined;
    this.#card.dataset.key = key ?? "";
    this.#show(Boolean(selected) && this.#closed === undefined);
    if (!selected) return;

    // A slow page receives only the newest state, so it may never receive the one in which the place is loading.
    if (this.#expected === key) {
      this.#expected = undefined;
      requestAnimationFrame(() => this.#name.focus());
    }

    const known = selected.places[0] ?? list?.places?.find((place) => placeKey(place) === key) ?? {};
    const drawn = JSON.stringify([selected, known]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;

    const focused = this.#body.contains(document.activeElement) ? document.activeElement.dataset.does : undefined;
    this.#card.classList.toggle("is-loading", Boolean(selected.isLoading));
    setText(this.#name, known.name ?? t(selected.isLoading ? "detail.loading" : "unnamed"));
    this.#body.replaceChildren(...this.#content({ ...known, provider: selected.provider, id: selected.id }, selected));
    if (focused) this.#body.querySelector(`[data-does="${focused}"]`)?.focus();
  }

  #content(place, selected) {
    const imageURL = selected.imageURL ?? place.imageURL;
    const button = (name, does, action, kind = "small") =>
      el("button", { class: kind, type: "button", "data-does": does, onclick: action, "aria-disabled": selected.isLoading && "true" }, t(name));
    return [
      this.#image(imageURL, place),
      el("p", { class: "detail-facts" }, rating(place), ...facts(place), openState(place)),
      this.#line("pin", place.address),
      this.#link(place.url),
      this.#types(place),
      this.#hours(place.openingHours),
      selected.isLoading && el("p", { class: "detail-progress" }, el("span", { class: "spinner" }), t("detail.loading")),
      hasContent(place) && el("div", { class: "detail-actions" },
        !selected.hasDetails && button("details", "details", () => this.#actions.details(place), "small primary"),
        button(imageURL ? "photo.again" : "photo", "photo", () => this.#actions.photo(place))),
      el("ul", { class: "credits" }, ...(selected.attributions ?? []).map((line) => el("li", {}, credit(line)))),
    ].filter(Boolean);
  }

  #image(imageURL, place) {
    const frame = picture(imageURL, "detail-picture");
    const image = frame.querySelector("img");
    if (image) image.alt = t("photo.of", { name: shortened(place.name ?? "") });
    return frame;
  }

  #line(symbol, text) {
    return text ? el("p", { class: "detail-line" }, icon(symbol), el("span", { dir: "auto" }, text)) : undefined;
  }

  #link(address) {
    const url = webAddress(address);
    if (!url) return undefined;
    const link = el("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, t("website"), " ", el("span", { class: "faint" }, new URL(url).host));
    return el("p", { class: "detail-line" }, icon("link"), link);
  }

  #hours(hours) {
    if (!hours) return undefined;
    return el("ul", { class: "hours", "aria-label": t("hours") }, ...hours.map((line) => el("li", { dir: "auto" }, line)));
  }

  #types(place) {
    const types = (place.types ?? []).filter((type) => type !== place.category).slice(0, 6);
    if (types.length === 0) return undefined;
    return el("ul", { class: "tags", "aria-label": t("types") }, ...types.map((type) => el("li", { dir: "auto" }, type)));
  }
}
