// A map that needs no tiles and no internet: outlines of land and water, towns, and a grid of coordinates (Mercator's projection).
// The interface is described in map.js.

import { el, setAttribute, svg } from "./dom.js";
import { moveByPointer } from "./gestures.js";
import { Ground } from "./ground.js";
import { metersPerPixel, project, unproject } from "./mercator.js";

const ZOOM = { least: 3, most: 20 };
/** The possible distances between grid lines, in degrees: the smallest one with enough room is used. */
const STEPS = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const LEAST_PIXELS = 84;
const PARTS = 5;
/** From this zoom, the outline has too little detail, so that the whole grid is drawn. */
const FINE_FROM_ZOOM = 12;

const degrees = (value, step, [positive, negative]) =>
  `${Math.abs(value).toFixed(Math.max(0, -Math.floor(Math.log10(step))))}° ${value < 0 ? negative : positive}`;

export class OutlineMap {
  attribution = "Natural Earth";
  takesGooglePlaces = false;

  #view;
  #size = { width: 0, height: 0 };
  #onMove;
  #overlays = new Set();
  #circles = new Map();
  #isDrawing = false;

  #ground;
  #fine = svg("path", { class: "grid-fine" });
  #coarse = svg("path", { class: "grid-coarse" });
  #labels = svg("g", { class: "grid-labels" });
  #shapes = svg("g", {});
  #layer = el("div", { class: "overlays" });

  /** `hasStreets`: the console has the streets of a simulated world. */
  constructor(container, { view, onMove, hasStreets = false }) {
    this.#view = view;
    this.#onMove = onMove;
    const drawing = svg("svg", { class: "grid", "aria-hidden": "true" }, this.#fine, this.#coarse, this.#shapes, this.#labels);
    this.#ground = new Ground({ hasStreets, onNews: () => this.#changed() });
    container.replaceChildren(this.#ground.element, drawing, this.#layer);

    moveByPointer(container, {
      pan: (x, y) => this.panBy(-x, -y),
      zoom: (steps, at) => this.#zoomAround(steps, at),
    });
    new ResizeObserver(([entry]) => {
      this.#size = { width: entry.contentRect.width, height: entry.contentRect.height };
      this.#changed();
    }).observe(container);
    this.#size = { width: container.clientWidth, height: container.clientHeight };
    this.#changed();
  }

  view() {
    return this.#view;
  }

  size() {
    return this.#size;
  }

  setView({ center, zoom }) {
    this.#view = { center, zoom: Math.min(Math.max(zoom, ZOOM.least), ZOOM.most) };
    this.#changed();
  }

  point(location) {
    const origin = this.#origin();
    const { x, y } = project(location, this.#view.zoom);
    return { x: x - origin.x, y: y - origin.y };
  }

  panBy(x, y) {
    const center = project(this.#view.center, this.#view.zoom);
    this.setView({ ...this.#view, center: unproject({ x: center.x + x, y: center.y + y }, this.#view.zoom) });
  }

  place(element, location, { above = 0 } = {}) {
    const holder = el("div", { class: "overlay" }, element);
    holder.style.zIndex = above * 1000;
    const overlay = { holder, location };
    this.#overlays.add(overlay);
    this.#layer.append(holder);
    this.#put(overlay);
    return {
      remove: () => {
        this.#overlays.delete(overlay);
        holder.remove();
      },
    };
  }

  circle(name, shape) {
    const known = this.#circles.get(name);
    if (!shape) {
      known?.drawing.remove();
      this.#circles.delete(name);
      return;
    }

    const drawing = known?.drawing ?? svg("circle", { class: `circle ${name}` });
    if (!known) this.#shapes.append(drawing);
    this.#circles.set(name, { drawing, ...shape });
    this.#changed();
  }

  /** Returns the world's pixel at the map's top left corner. */
  #origin() {
    const { x, y } = project(this.#view.center, this.#view.zoom);
    return { x: x - this.#size.width / 2, y: y - this.#size.height / 2 };
  }

  /** Zooms, keeping the location under `at` in place. */
  #zoomAround(steps, at) {
    const origin = this.#origin();
    const fixed = unproject({ x: origin.x + at.x, y: origin.y + at.y }, this.#view.zoom);
    const zoom = Math.min(Math.max(this.#view.zoom + steps, ZOOM.least), ZOOM.most);
    const { x, y } = project(fixed, zoom);
    this.setView({ center: unproject({ x: x - at.x + this.#size.width / 2, y: y - at.y + this.#size.height / 2 }, zoom), zoom });
  }

  /** Draws once per frame for all changes. */
  #changed() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#draw();
      this.#onMove();
    });
  }

  #draw() {
    this.#ground.draw({ origin: this.#origin(), zoom: this.#view.zoom, size: this.#size });
    this.#drawLines();
    for (const { drawing, center, radiusMeters } of this.#circles.values()) {
      const { x, y } = this.point(center);
      setAttribute(drawing, "cx", x.toFixed(1));
      setAttribute(drawing, "cy", y.toFixed(1));
      setAttribute(drawing, "r", (radiusMeters / metersPerPixel(center.latitude, this.#view.zoom)).toFixed(1));
    }
    for (const overlay of this.#overlays) this.#put(overlay);
  }

  #put({ holder, location }) {
    const { x, y } = this.point(location);
    holder.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
  }

  /** Streets need no grid, and the outline of land needs only coarse lines. */
  #drawLines() {
    const { width, height } = this.#size;
    const isWanted = { fine: this.#view.zoom >= FINE_FROM_ZOOM, coarse: true };
    if (this.#ground.hasStreets(this.#view.zoom)) isWanted.fine = isWanted.coarse = false;
    const origin = this.#origin();
    const northWest = unproject(origin, this.#view.zoom);
    const southEast = unproject({ x: origin.x + width, y: origin.y + height }, this.#view.zoom);

    const pixelsPerDegree = (256 * 2 ** this.#view.zoom) / 360;
    const step = STEPS.find((step) => step * pixelsPerDegree >= LEAST_PIXELS) ?? STEPS.at(-1);
    const paths = { fine: "", coarse: "" };
    const labels = [];

    const lines = (from, to, draw) => {
      const fine = step / PARTS;
      for (let index = Math.ceil(from / fine); index * fine <= to; index++) draw(index * fine, index % PARTS === 0);
    };
    lines(northWest.longitude, southEast.longitude, (longitude, isCoarse) => {
      const x = Math.round(this.point({ latitude: 0, longitude }).x) + 0.5;
      paths[isCoarse ? "coarse" : "fine"] += `M${x} 0V${height}`;
      if (isCoarse && x < width - LEAST_PIXELS) labels.push(svg("text", { x: x + 6, y: height - 10 }, degrees(longitude, step, ["E", "W"])));
    });
    lines(southEast.latitude, northWest.latitude, (latitude, isCoarse) => {
      const y = Math.round(this.point({ latitude, longitude: 0 }).y) + 0.5;
      paths[isCoarse ? "coarse" : "fine"] += `M0 ${y}H${width}`;
      if (isCoarse) labels.push(svg("text", { x: 10, y: y - 6 }, degrees(latitude, step, ["N", "S"])));
    });

    setAttribute(this.#fine, "d", (isWanted.fine && paths.fine) || "M0 0");
    setAttribute(this.#coarse, "d", (isWanted.coarse && paths.coarse) || "M0 0");
    this.#labels.replaceChildren(...(isWanted.coarse ? labels : []));
  }
}
