// Tiles of a tile server, above the outline of land and water.

import { el } from "./dom.js";
import { WORLD } from "./shapes.js";

/** The hosts that `{s}` in an address stands for. */
const HOSTS = ["a", "b", "c"];

export class Tiles {
  element = el("div", { class: "tiles", "aria-hidden": "true" });

  #url;
  #maxZoom;
  #images = new Map();

  constructor({ url, maxZoom }) {
    this.#url = url;
    this.#maxZoom = maxZoom;
  }

  /** Draws the tiles of the nearest whole zoom, scaled to that of the view. `origin` is the world's pixel at the top left corner. */
  draw({ origin, zoom, size }) {
    const level = Math.min(Math.round(zoom), this.#maxZoom);
    const side = WORLD * 2 ** (zoom - level);
    const last = Math.min(2 ** level - 1, Math.floor((origin.y + size.height) / side));
    const seen = new Map();
    for (let row = Math.max(0, Math.floor(origin.y / side)); row <= last; row++) {
      for (let column = Math.floor(origin.x / side); column * side < origin.x + size.width; column++) {
        const key = `${level}/${column}/${row}`;
        const image = this.#images.get(key) ?? this.#add(level, column, row);
        seen.set(key, image);
        // Whole pixels, so that there is no gap between two tiles.
        const [left, right] = [column, column + 1].map((edge) => Math.round(edge * side - origin.x));
        const [top, bottom] = [row, row + 1].map((edge) => Math.round(edge * side - origin.y));
        Object.assign(image.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
      }
    }
    for (const [key, image] of this.#images) if (!seen.has(key)) image.remove();
    this.#images = seen;
  }

  /** Beyond the date line, the world is repeated. */
  #add(level, column, row) {
    const across = 2 ** level;
    const x = ((column % across) + across) % across;
    const values = { z: level, x, y: row, s: HOSTS[(x + row) % HOSTS.length] };
    const image = el("img", { alt: "", draggable: "false", src: this.#url.replace(/\{([zxys])\}/g, (whole, name) => values[name]) });
    this.element.append(image);
    return image;
  }
}
