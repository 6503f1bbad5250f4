// The list of places beside the map, and its description: number, search, and sources.

import { el, icon, picture, setAttribute, setPicture, setText, syncChildren } from "./dom.js";
import { hasContent, isGooglePlace, placeKey } from "./store.js";
import { distance, number, shortened, t } from "./text.js";

const MOST = 300;
/** Hot Pepper's terms require a link with its credit. The address is fixed here and never comes from a record. */
const HOT_PEPPER = { text: "ホットペッパーグルメ Webサービス", address: "https://webservice.recruit.co.jp/" };
/** Google's legacy API sends some credits as an anchor. Only this form is converted to a link; all others are shown as text. */
const ANCHOR = /^<a href="(https?:\/\/[^"<>\s]+)">([^<>&]+)<\/a>$/;

/** Returns the known facts of a place in one line. */
export function facts(place) {
  const price = place.priceLevel > 0 ? "¥".repeat(Math.min(place.priceLevel, 4)) : undefined;
  return [place.category, distance(place.distanceMeters), price].filter(Boolean).map((text) => el("bdi", { class: "fact" }, text));
}

/** Draws stars, with their meaning for screen readers. */
export function rating(place) {
  if (!Number.isFinite(place.rating)) return undefined;
  const count = Number.isFinite(place.ratingCount) ? ` (${number(place.ratingCount)})` : "";
  const spoken = t("rating.spoken", { rating: number(place.rating, 1) });
  return el("span", { class: "rating" }, icon("star"),
    el("span", { class: "unseen" }, spoken), el("span", { "aria-hidden": "true" }, number(place.rating, 1)), el("span", { class: "faint" }, count));
}

export class ListView {
  #actions;
  #list = document.getElementById("places");
  #heading = document.getElementById("results-heading");
  #summary = document.getElementById("results-summary");
  #superseded = document.getElementById("superseded");
  #empty = document.getElementById("empty");
  #credits = document.getElementById("credits");
  #more = document.getElementById("more");
  #section = document.getElementById("results");

  /** `actions`: activate(key), hover(key or undefined), more(list). */
  constructor(actions) {
    this.#actions = actions;
    this.#more.addEventListener("click", () => this.#actions.more());
  }

  show(state, { isKnown, takesGooglePlaces, isOld }) {
    const { list, search } = state;
    const isSearching = search?.status === "in-flight";
    const places = (list?.places ?? []).slice(0, MOST);

    this.#section.classList.toggle("is-superseded", Boolean(list?.isSuperseded));
    setAttribute(this.#section, "aria-busy", String(isSearching));
    this.#section.classList.toggle("is-old", isOld);
    this.#superseded.hidden = !((list?.isSuperseded || isOld) && places.length > 0);
    setText(this.#superseded.lastElementChild, this.#reason(search, isOld));

    setText(this.#heading, list ? t("results.count", { count: number(places.length) }) : t("results"));
    setText(this.#summary, list ? this.#describe(list, places) : "");
    this.#showEmpty({ isKnown, list, search, isSearching, places });

    syncChildren(this.#list, {
      items: places, key: placeKey, make: (place) => this.#row(place),
      update: (row, place, index) => this.#fill(row, place, index, takesGooglePlaces),
    });

    const isListOnly = !takesGooglePlaces && places.some(isGooglePlace);
    const isIdOnly = !places.every(hasContent);
    const notes = [isListOnly && "google.list-only", isIdOnly && "google.ids-only"].filter(Boolean);
    const lines = [...notes.map((note) => t(note)), ...(list?.attributions ?? [])];
    syncChildren(this.#credits, {
      items: [...new Set(lines)], key: (line) => line, make: (line) => el("li", {}, credit(line)),
    });

    this.#more.hidden = !list?.nextPageToken || list.isSuperseded;
    setAttribute(this.#more, "aria-disabled", isSearching);
  }

  /** Shows why the list is out of date. */
  #reason(search, isOld) {
    if (isOld) return t("old.lost");
    return t({ "in-flight": "superseded.searching", "given-up": "superseded.given-up" }[search?.status] ?? "superseded.failed");
  }

  #describe(list, places) {
    const parts = [];
    if (list.totalAvailable > places.length) parts.push(t("results.of", { total: number(list.totalAvailable) }));
    if (list.search?.radiusMeters) parts.push(t("results.within", { radius: distance(list.search.radiusMeters) }));
    if (list.provider) parts.push(t(`provider.${list.provider}`));
    return parts.join(" · ");
  }

  #showEmpty({ isKnown, list, search, isSearching, places }) {
    const isNothing = list && places.length === 0 && !list.isSuperseded;
    const isFresh = isKnown && !list && !search;
    const kind = isNothing ? "nothing" : isFresh ? "fresh" : isSearching && !list ? "searching" : undefined;
    this.#empty.hidden = !kind;
    if (!kind) return;

    this.#empty.dataset.kind = kind;
    setText(this.#empty.querySelector("h3"), t(`empty.${kind}`));
    setText(this.#empty.querySelector("p"), t(`empty.${kind}.advice`));
  }

  #row(place) {
    const key = placeKey(place);
    return el("li", { class: "place", onpointerenter: () => this.#actions.hover(key), onpointerleave: () => this.#actions.hover(undefined) },
      el("button", {
        type: "button", onclick: (event) => this.#actions.activate(key, { from: "list", byKeyboard: event.detail === 0 }),
        onfocus: () => this.#actions.hover(key), onblur: () => this.#actions.hover(undefined),
      },
      el("span", { class: "place-number", "aria-hidden": "true" }),
      el("span", { class: "place-text" },
        el("bdi", { class: "place-name" }), el("span", { class: "place-facts" }), el("span", { class: "place-address" })),
      picture(place.imageURL, "place-picture")));
  }

  #fill(row, place, index, takesGooglePlaces) {
    const [number, text] = row.firstChild.children;
    const [name, line, address] = text.children;
    setText(number, String(index + 1));
    number.classList.toggle("is-off-map", !takesGooglePlaces && isGooglePlace(place));

    const drawn = JSON.stringify(place);
    if (row.drawn === drawn) return;
    row.drawn = drawn;
    setText(name, place.name ?? t("unnamed"));
    name.title = shortened(place.name, 300);
    line.replaceChildren(...[rating(place), ...facts(place)].filter(Boolean));
    address.replaceChildren(...[openState(place), place.address && el("bdi", {}, place.address)].filter(Boolean));
    setPicture(row.querySelector(".picture"), place.imageURL, "place-picture");
  }

  /** Marks the rows of the active place, the hovered place and the place whose details are shown. */
  mark({ active, hovered, selected, reveal }) {
    for (const row of this.#list.children) {
      const key = row.dataset.key;
      row.classList.toggle("is-active", key === active);
      row.classList.toggle("is-hovered", key === hovered);
      row.classList.toggle("is-selected", key === selected);
      setAttribute(row.firstChild, "aria-pressed", String(key === active));
      if (reveal && key === active) row.scrollIntoView({ block: "nearest" });
    }
  }
}

/** Returns whether a place is open now; undefined if unknown. A business that is closed for longer is closed, whatever its hours. */
export function openState(place) {
  const isClosed = ["closed-temporarily", "closed-permanently"].includes(place.businessStatus);
  if (isClosed) return el("span", { class: "closed" }, t(place.businessStatus));
  if (typeof place.openNow !== "boolean") return undefined;
  return el("span", { class: place.openNow ? "open" : "closed" }, t(place.openNow ? "open" : "closed"));
}

const link = (address, text) => el("a", { href: address, target: "_blank", rel: "noopener noreferrer nofollow", dir: "auto" }, text);

/** Returns the text or the link for a credit of places or pictures, as the providers' terms require. */
export function credit(line) {
  if (line.includes(HOT_PEPPER.text)) return link(HOT_PEPPER.address, line);
  const anchor = ANCHOR.exec(line);
  return anchor ? link(anchor[1], anchor[2]) : el("bdi", {}, line);
}
