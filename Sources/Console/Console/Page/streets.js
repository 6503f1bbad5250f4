// The streets of a simulated world, from the console of a demo. They are loaded in blocks, when they become visible.

import { getStreets } from "./api.js";
import { project, unproject } from "./mercator.js";
import { decodeLine } from "./shapes.js";

const BLOCK_DEGREES = 0.05;
const UNITS_PER_DEGREE = 100_000;
/** Below this zoom, there would be too many streets. */
export const STREETS_FROM_ZOOM = 13;
const MOST_BLOCKS = 200;

export class Streets {
  #blocks = new Map();
  #onNews;

  /** `onNews()` is called when more can be drawn. */
  constructor(onNews) {
    this.#onNews = onNews;
  }

  /** Returns the visible blocks that are loaded, and requests the missing ones. */
  seen({ origin, zoom, size }) {
    if (zoom < STREETS_FROM_ZOOM) return [];
    const northWest = unproject(origin, zoom);
    const southEast = unproject({ x: origin.x + size.width, y: origin.y + size.height }, zoom);
    const row = (latitude) => Math.floor((latitude + 90) / BLOCK_DEGREES);
    const column = (longitude) => Math.floor((longitude + 180) / BLOCK_DEGREES);

    const found = [];
    for (let north = row(southEast.latitude); north <= row(northWest.latitude); north++) {
      for (let east = column(northWest.longitude); east <= column(southEast.longitude); east++) {
        const block = this.#block(north, east);
        if (block) found.push(block);
      }
    }
    return found;
  }

  #block(row, column) {
    const key = `${row}/${column}`;
    if (!this.#blocks.has(key)) {
      if (this.#blocks.size >= MOST_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value);
      this.#blocks.set(key, undefined);
      this.#load(key, row, column);
    }
    return this.#blocks.get(key);
  }

  async #load(key, row, column) {
    try {
      const { main, streets, parks, names } = await getStreets(row, column);
      const lines = (texts) => texts.map((text) => decodeLine(text, UNITS_PER_DEGREE));
      const places = names.map((name) => ({ ...name, at: project(name, 0) }));
      this.#blocks.set(key, { main: lines(main), streets: lines(streets), parks: lines(parks), names: places });
      this.#onNews();
    } catch {
      // Without streets, the map shows land and water.
    }
  }
}
