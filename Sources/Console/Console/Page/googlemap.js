// Google's map, the only one on which Google's places may be shown. The interface is described in map.js.

import { el } from "./dom.js";
import { language } from "./text.js";

const point = ({ latitude, longitude }) => ({ lat: latitude, lng: longitude });

function load(key) {
  return new Promise((resolve, reject) => {
    const query = new URLSearchParams({ key, language, loading: "async", callback: "locsearchMapIsThere" });
    globalThis.locsearchMapIsThere = resolve;
    const script = el("script", { src: `https://maps.googleapis.com/maps/api/js?${query}` });
    script.addEventListener("error", () => reject(new Error("Google's map is not there")));
    document.head.append(script);
  });
}

export class GoogleMap {
  attribution = "";
  takesGooglePlaces = true;

  #maps;
  #map;
  #projection;
  #container;
  #circles = new Map();

  static async open(container, options) {
    await load(options.key);
    return new GoogleMap(globalThis.google.maps, container, options);
  }

  constructor(maps, container, { view, onMove }) {
    this.#maps = maps;
    this.#container = container;
    this.#map = new maps.Map(container, {
      center: point(view.center), zoom: view.zoom, disableDefaultUI: true, keyboardShortcuts: false, clickableIcons: false,
      isFractionalZoomEnabled: true,
    });
    this.#map.addListener("bounds_changed", onMove);

    // Google's map returns the position of a location only through an overlay, so there is an empty one.
    this.#projection = new maps.OverlayView();
    this.#projection.draw = () => {};
    this.#projection.setMap(this.#map);
  }

  view() {
    const center = this.#map.getCenter();
    return { center: { latitude: center.lat(), longitude: center.lng() }, zoom: this.#map.getZoom() };
  }

  setView({ center, zoom }) {
    this.#map.moveCamera({ center: point(center), zoom });
  }

  size() {
    return { width: this.#container.clientWidth, height: this.#container.clientHeight };
  }

  point(location) {
    const place = this.#projection.getProjection()?.fromLatLngToContainerPixel(new this.#maps.LatLng(point(location)));
    return place ?? { x: 0, y: 0 };
  }

  panBy(x, y) {
    this.#map.panBy(x, y);
  }

  place(element, location, { above = 0 } = {}) {
    const holder = el("div", { class: "overlay" }, element);
    holder.style.zIndex = above * 1000;
    this.#maps.OverlayView.preventMapHitsAndGesturesFrom(element);

    const overlay = new this.#maps.OverlayView();
    overlay.onAdd = () => overlay.getPanes().floatPane.append(holder);
    overlay.onRemove = () => holder.remove();
    overlay.draw = () => {
      const { x, y } = overlay.getProjection().fromLatLngToDivPixel(new this.#maps.LatLng(point(location)));
      holder.style.transform = `translate(${x}px, ${y}px)`;
    };
    overlay.setMap(this.#map);
    return { remove: () => overlay.setMap(null) };
  }

  circle(name, shape) {
    this.#circles.get(name)?.setMap(null);
    this.#circles.delete(name);
    if (!shape) return;

    const style = getComputedStyle(document.documentElement);
    const circle = new this.#maps.Circle({
      center: point(shape.center), radius: shape.radiusMeters, clickable: false, map: this.#map,
      strokeColor: style.getPropertyValue("--circle"), strokeWeight: name === "next" ? 1 : 2, fillOpacity: name === "next" ? 0 : 0.08,
    });
    this.#circles.set(name, circle);
  }
}
