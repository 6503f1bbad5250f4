// Our own map: outlines of land and water, towns, and a grid of coordinates (Mercator's projection), without the internet; or tiles.
// The interface is described in map.js.

import { el, setAttribute, svg } from "./dom.js";
import { moveByPointer } from "./gestures.js";
import { Ground } from "./ground.js";
import { metersPerPixel, project, unproject } from "./mercator.js";
import { WORLD } from "./shapes.js";
import { t } from "./text.js";
import { Tiles } from "./tiles.js";

const ZOOM = { least: 3, most: 20 };
/** The possible distances between grid lines, in degrees: the smallest one with enough room is used. */
const STEPS = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const LEAST_PIXELS = 84;

const degrees = (value, step, [positive, negative]) =>
  `${Math.abs(value).toFixed(Math.max(0, -Math.floor(Math.log10(step))))}° ${value < 0 ? negative : positive}`;

export class OutlineMap {
  attribution;
  takesGooglePlaces = false;

  #view;
  #size = { width: 0, height: 0 };
  #onMove;
  #overlays = new Set();
  #circles = new Map();
  #isDrawing = false;

  #ground;
  #tiles;
  #grid = svg("path", { class: "grid-lines" });
  #labels = svg("g", { class: "grid-labels" });
  #shapes = svg("g", {});
  #layer = el("div", { class: "overlays" });

  /** `hasStreets`: the console has the streets of a simulated world. `tiles`: {url, maxZoom, attribution}, if there are any. */
  constructor(container, { view, onMove, tiles, hasStreets = false }) {
    this.attribution = tiles?.attribution ?? (hasStreets ? "Natural Earth" : t("map.no-streets"));
    if (tiles) this.#tiles = new Tiles(tiles);
    this.#view = view;
    this.#onMove = onMove;
    const drawing = svg("svg", { class: "grid", "aria-hidden": "true" }, this.#grid, this.#shapes, this.#labels);
    this.#ground = new Ground({ hasStreets, onNews: () => this.#changed() });
    container.replaceChildren(this.#ground.element, ...(this.#tiles ? [this.#tiles.element] : []), drawing, this.#layer);

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
    // The world repeats beyond the date line.
    const longitude = ((((center.longitude + 180) % 360) + 360) % 360) - 180;
    this.#view = { center: { ...center, longitude }, zoom: Math.min(Math.max(zoom, ZOOM.least), ZOOM.most) };
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
    const view = { origin: this.#origin(), zoom: this.#view.zoom, size: this.#size };
    this.#ground.draw(view);
    this.#tiles?.draw(view);
    this.#drawGrid();
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

  /** Streets and tiles need no grid. */
  #drawGrid() {
    const { width, height } = this.#size;
    const zoom = this.#view.zoom;
    let path = "";
    const labels = [];
    if (!this.#tiles && !this.#ground.hasStreets(zoom)) {
      const origin = this.#origin();
      const northWest = unproject(origin, zoom);
      const southEast = unproject({ x: origin.x + width, y: origin.y + height }, zoom);
      const pixelsPerDegree = (WORLD * 2 ** zoom) / 360;
      const step = STEPS.find((step) => step * pixelsPerDegree >= LEAST_PIXELS) ?? STEPS.at(-1);
      const lines = (from, to, draw) => {
        for (let index = Math.ceil(from / step); index * step <= to; index++) draw(index * step);
      };

      lines(northWest.longitude, southEast.longitude, (longitude) => {
        const x = Math.round(this.point({ latitude: 0, longitude }).x) + 0.5;
        path += `M${x} 0V${height}`;
        if (x < width - LEAST_PIXELS) labels.push(svg("text", { x: x + 6, y: height - 10 }, degrees(longitude, step, ["E", "W"])));
      });
      lines(southEast.latitude, northWest.latitude, (latitude) => {
        const y = Math.round(this.point({ latitude, longitude: 0 }).y) + 0.5;
        path += `M0 ${y}H${width}`;
        labels.push(svg("text", { x: 10, y: y - 6 }, degrees(latitude, step, ["N", "S"])));
      });
    }
    setAttribute(this.#grid, "d", path || "M0 0");
    this.#labels.replaceChildren(...labels);
  }
}
