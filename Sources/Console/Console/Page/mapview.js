// Everything on the map: a marker for each place, the info window of the active one, the circles of the search.

import { el, icon, picture, setAttribute, setText } from "./dom.js";
import { metersBetween, metersPerPixel, zoomForCircle } from "./mercator.js";
import { hasContent, isGooglePlace, placeKey } from "./store.js";
import { distance, shortened, t } from "./text.js";

const MARGIN = 16;

export class MapView {
  #map;
  #markers = new Map();
  #info;
  #actions;
  #circles = {};

  /** `actions`: activate(key or undefined), hover(key or undefined), details(place), photo(place). */
  constructor(map, actions) {
    this.#map = map;
    this.#actions = actions;
    const credit = document.getElementById("map-attribution");
    setText(credit, map.attribution);
    credit.title = map.attribution;
    document.getElementById("zoom-in").addEventListener("click", () => this.#zoom(1));
    document.getElementById("zoom-out").addEventListener("click", () => this.#zoom(-1));
    document.getElementById("map").addEventListener("keydown", (event) => this.#key(event));
  }

  #zoom(steps) {
    const { center, zoom } = this.#map.view();
    this.#map.setView({ center, zoom: Math.round(zoom + steps) });
  }

  #key(event) {
    if (event.target !== event.currentTarget || event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowLeft: [-90, 0], ArrowRight: [90, 0], ArrowUp: [0, -90], ArrowDown: [0, 90] };
    if (moves[event.key]) this.#map.panBy(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.#zoom(1);
    else if (event.key === "-") this.#zoom(-1);
    else return;
    event.preventDefault();
  }

  /** Whether a place has a known position and may be shown on this map. */
  shows(place) {
    return Boolean(place.location) && (this.#map.takesGooglePlaces || !isGooglePlace(place));
  }

  /** Redraws the markers that have changed; their numbers are those of the list. */
  showPlaces(places) {
    const seen = new Set();
    places.forEach((place, index) => {
      if (!this.shows(place)) return;
      const key = placeKey(place);
      seen.add(key);

      const at = `${place.location.latitude} ${place.location.longitude}`;
      let marker = this.#markers.get(key);
      if (marker?.at !== at) {
        marker?.overlay.remove();
        const button = this.#button(key);
        marker = { at, button, overlay: this.#map.place(button, place.location, { above: 1 }) };
        this.#markers.set(key, marker);
      }
      setText(marker.button.firstChild, String(index + 1));
      setAttribute(marker.button, "aria-label", `${index + 1}: ${shortened(place.name)}`);
    });

    for (const [key, marker] of this.#markers) {
      if (seen.has(key)) continue;
      marker.overlay.remove();
      this.#markers.delete(key);
    }
  }

  #button(key) {
    return el("button", {
      class: "marker", type: "button", "data-place": key,
      onclick: (event) => this.#actions.activate(key, { from: "map", byKeyboard: event.detail === 0 }),
      onpointerenter: () => this.#actions.hover(key), onpointerleave: () => this.#actions.hover(undefined),
      onfocus: () => this.#actions.hover(key), onblur: () => this.#actions.hover(undefined),
    }, el("span", { class: "marker-number" }));
  }

  /** Marks the markers of the active place and of the hovered one. */
  mark({ active, hovered, selected }) {
    for (const [key, { button }] of this.#markers) {
      button.classList.toggle("is-active", key === active);
      button.classList.toggle("is-hovered", key === hovered);
      button.classList.toggle("is-selected", key === selected);
      setAttribute(button, "aria-pressed", String(key === active));
      button.parentElement.classList.toggle("is-raised", key === active || key === hovered);
    }
  }

  /** Moves the focus to the actions of the active place. */
  focusInfo() {
    this.#info?.element.querySelector("button")?.focus();
  }

  /** Returns the focus to a place's marker, after its info window was closed by keyboard. */
  focusMarker(key) {
    this.#markers.get(key)?.button.focus();
  }

  /** Opens the info window of a place, or closes it. Both are cheap if nothing changed. */
  showInfo(place) {
    const wanted = place && this.shows(place) ? place : undefined;
    const text = wanted && JSON.stringify(wanted);
    if (this.#info?.text === text) return;

    const isSame = this.#info && wanted && this.#info.key === placeKey(wanted);
    const focused = isSame && this.#info.element.contains(document.activeElement) ? document.activeElement.dataset.does : undefined;
    this.#info?.overlay.remove();
    this.#info = undefined;
    if (!wanted) return;

    const close = () => {
      this.#actions.activate(undefined, { from: "map" });
      this.#markers.get(placeKey(wanted))?.button.focus();
    };
    const element = infoWindow(wanted, { ...this.#actions, close });
    const overlay = this.#map.place(element, wanted.location, { above: 3 });
    this.#info = { key: placeKey(wanted), text, element, overlay };
    if (focused) element.querySelector(`[data-does="${focused}"]`)?.focus();
    if (!isSame) requestAnimationFrame(() => this.#reveal(element, wanted.location));
  }

  /** Moves the map only as far as needed to show the whole info window. */
  #reveal(element, location) {
    const { x, y } = this.#map.point(location);
    const { width, height } = this.#map.size();
    const half = element.offsetWidth / 2 + MARGIN;
    const top = y - element.offsetHeight - 56 - MARGIN;
    const card = document.getElementById("detail");
    const right = card.hidden || matchMedia("(max-width: 760px)").matches ? 0 : card.offsetWidth + MARGIN;
    // The window ends 50 pixels above its place, and has to end above the button at the bottom.
    const button = document.querySelector(".search-here").offsetTop;

    const moveX = x - half < 0 ? x - half : Math.max(0, x + half - (width - right));
    const moveY = top < 0 ? top : Math.max(0, y + MARGIN - height, y - 50 - button);
    if (moveX || moveY) this.#map.panBy(moveX, moveY);
  }

  /** Draws the circle of the present search, and a dashed one for the next search if it differs. */
  showCircles({ made, next }) {
    const isSame = made && next && Math.abs(made.radiusMeters - next.radiusMeters) < 1
      && metersBetween(made.center, next.center) < made.radiusMeters * 0.02;
    this.#drawCircle("made", made);
    this.#drawCircle("next", isSame ? undefined : next);
  }

  /** Drawing changes the map, which calls back. So unchanged circles are not drawn again. */
  #drawCircle(name, shape) {
    const text = JSON.stringify(shape);
    if (this.#circles[name] === text) return;
    this.#circles[name] = text;
    this.#map.circle(name, shape);
  }

  /** Zooms out, and moves, if a search's circle is not completely visible. */
  reveal({ center, radiusMeters }) {
    const { width, height } = this.#map.size();
    const { x, y } = this.#map.point(center);
    const radius = radiusMeters / metersPerPixel(center.latitude, this.#map.view().zoom);
    if (x - radius >= 0 && y - radius >= 0 && x + radius <= width && y + radius <= height) return;
    const zoom = Math.floor(zoomForCircle({ center, radiusMeters, pixels: Math.min(width, height) - 2 * MARGIN }) * 4) / 4;
    this.#map.setView({ center, zoom: Math.min(zoom, this.#map.view().zoom) });
  }
}

/** Makes the info window of a place: name, distance, and actions. `actions`: details(place), photo(place), close(). */
function infoWindow(place, actions) {
  const facts = [place.category, distance(place.distanceMeters)].filter(Boolean);
  const button = (name, kind) =>
    el("button", { class: `small ${kind}`, type: "button", "data-does": name, onclick: () => actions[name](place) }, t(name));

  return el("section", { class: "info", "aria-label": shortened(place.name), onkeydown: (event) => event.key === "Escape" && actions.close() },
    picture(place.imageURL, "info-picture"),
    el("div", { class: "info-text" },
      el("bdi", { class: "info-name" }, place.name ?? t("unnamed")),
      el("span", { class: "info-facts" }, el("bdi", {}, facts.join(" · "))),
      hasContent(place) && el("div", { class: "info-actions" }, button("details", "primary"), button("photo", ""))),
    el("button", { class: "close", type: "button", "aria-label": t("close"), "data-does": "close", onclick: actions.close }, icon("close")));
}
