// A map of tiles, drawn by Leaflet. The interface is described in map.js.

import { el } from "./dom.js";
import { reducedMotion } from "./preferences.js";

function load(element) {
  return new Promise((resolve, reject) => {
    element.addEventListener("load", resolve);
    element.addEventListener("error", () => reject(new Error("Leaflet is not there")));
    document.head.append(element);
  });
}

const pair = ({ latitude, longitude }) => [latitude, longitude];

export class LeafletMap {
  takesGooglePlaces = false;

  #leaflet;
  #map;
  #circles = new Map();

  static async open(container, options) {
    await Promise.all([
      load(el("link", { rel: "stylesheet", href: "/leaflet/leaflet.css" })),
      load(el("script", { src: "/leaflet/leaflet.js" })),
    ]);
    return new LeafletMap(globalThis.L, container, options);
  }

  constructor(leaflet, container, { tiles, view, onMove }) {
    this.#leaflet = leaflet;
    this.attribution = tiles.attribution ?? "";
    const moves = !reducedMotion();

    // Zooming uses the page's own buttons and keys. The page shows the attribution as text, where Leaflet would interpret it as
    // HTML.
    this.#map = leaflet.map(container, {
      attributionControl: false, zoomControl: false, keyboard: false,
      fadeAnimation: moves, zoomAnimation: moves, markerZoomAnimation: moves, inertia: moves,
    });
    leaflet.tileLayer(tiles.url, { maxZoom: 20, maxNativeZoom: tiles.maxZoom ?? 19, alt: "" }).addTo(this.#map);
    this.#map.on("move zoomend", onMove);
    this.setView(view);
    new ResizeObserver(() => this.#map.invalidateSize({ animate: false })).observe(container);
  }

  view() {
    const { lat, lng } = this.#map.getCenter();
    return { center: { latitude: lat, longitude: lng }, zoom: this.#map.getZoom() };
  }

  setView({ center, zoom }) {
    this.#map.setView(pair(center), Math.floor(zoom), { animate: false });
  }

  size() {
    const { x, y } = this.#map.getSize();
    return { width: x, height: y };
  }

  point(location) {
    return this.#map.latLngToContainerPoint(pair(location));
  }

  panBy(x, y) {
    this.#map.panBy([x, y], { animate: !reducedMotion(), duration: 0.2 });
  }

  place(element, location, { above = 0 } = {}) {
    const symbol = this.#leaflet.divIcon({ html: element, className: "overlay", iconSize: [0, 0] });
    const marker = this.#leaflet.marker(pair(location), { icon: symbol, interactive: false, keyboard: false, zIndexOffset: above * 1000 });
    marker.addTo(this.#map);
    // A click on a marker is not a click on the map, and the wheel scrolls an info window.
    this.#leaflet.DomEvent.disableClickPropagation(element);
    return { remove: () => marker.remove() };
  }

  circle(name, shape) {
    this.#circles.get(name)?.remove();
    this.#circles.delete(name);
    if (!shape) return;
    const drawing = this.#leaflet.circle(pair(shape.center), { radius: shape.radiusMeters, className: `circle ${name}`, interactive: false });
    this.#circles.set(name, drawing.addTo(this.#map));
  }
}
