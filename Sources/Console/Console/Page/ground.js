// Draws the ground of a map without tiles: water, land, lakes, names of towns, and the streets of a simulated world.

import { el } from "./dom.js";
import { project } from "./mercator.js";
import { areaPath, decodeLine, linePath, Viewport } from "./shapes.js";
import { Streets, STREETS_FROM_ZOOM } from "./streets.js";
import { language } from "./text.js";
import { towns } from "./towns.js";

const LANES_FROM_ZOOM = 14;
const QUARTERS_FROM_ZOOM = 14.5;
const TOWNS_UP_TO_ZOOM = 14;
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Hiragino Sans', 'Noto Sans JP', 'Noto Sans CJK JP', sans-serif";

export class Ground {
  element = el("canvas", { class: "ground", "aria-hidden": "true" });

  #context = this.element.getContext("2d");
  #outline = { land: [], lakes: [] };
  #streets;
  #towns = towns.map((town) => ({ ...town, at: project(town, 0) }));
  #onNews;

  /** `onNews()` is called when there is more to draw, or when the colours have changed. */
  constructor({ hasStreets, onNews }) {
    this.#onNews = onNews;
    if (hasStreets) this.#streets = new Streets(onNews);
    this.#load();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onNews);
  }

  /** Whether streets are drawn at a zoom, so that no grid is needed. */
  hasStreets(zoom) {
    return Boolean(this.#streets) && zoom >= STREETS_FROM_ZOOM;
  }

  async #load() {
    try {
      const answer = await fetch("assets/outline.json");
      const { land, lakes, perDegree } = await answer.json();
      const areas = (texts) => texts.map((text) => decodeLine(text, perDegree));
      this.#outline = { land: areas(land), lakes: areas(lakes) };
      this.element.dataset.state = "drawn";
      this.#onNews();
    } catch {
      // The grid is drawn without the outline.
    }
  }

  /** `origin` is the world's pixel at the top left corner. */
  draw(view) {
    const { size, zoom } = view;
    const context = this.#context;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    if (this.element.width !== width || this.element.height !== height) Object.assign(this.element, { width, height });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);

    const styles = getComputedStyle(this.element);
    const ink = (name) => styles.getPropertyValue(`--map-${name}`);
    const viewport = new Viewport(view);
    context.fillStyle = ink("water");
    context.fillRect(0, 0, size.width, size.height);

    const land = areaPath(this.#outline.land, viewport);
    context.fillStyle = ink("land");
    context.fill(land, "evenodd");
    context.fillStyle = ink("water");
    context.fill(areaPath(this.#outline.lakes, viewport), "evenodd");

    const names = new Names(context, { ink: ink("name"), halo: ink("land"), size });
    const blocks = this.#streets?.seen(view) ?? [];
    if (blocks.length > 0) {
      context.save();
      context.clip(land, "evenodd");
      drawStreets(context, blocks, viewport, ink);
      context.restore();
    }
    if (zoom < TOWNS_UP_TO_ZOOM) this.#writeTowns(names, viewport);
    if (zoom >= QUARTERS_FROM_ZOOM) {
      for (const { names: quarters } of blocks) for (const quarter of quarters) names.write(quarter, viewport, { size: 11.5 });
    }
  }

  #writeTowns(names, viewport) {
    for (const town of this.#towns) {
      if (viewport.zoom >= town.from) names.write(town, viewport, { size: town.from <= 4 ? 13 : 12, dot: true });
    }
  }
}

function drawStreets(context, blocks, viewport, ink) {
  const all = (kind) => blocks.flatMap((block) => block[kind]);
  const width = Math.min(Math.max(2.4 * 2 ** ((viewport.zoom - 15) * 0.8), 1), 16);
  const main = linePath(all("main"), viewport);
  const lanes = viewport.zoom >= LANES_FROM_ZOOM ? linePath(all("streets"), viewport) : undefined;

  context.fillStyle = ink("park");
  context.fill(areaPath(all("parks"), viewport));
  context.lineJoin = context.lineCap = "round";
  const stroke = (path, colour, wide) => {
    context.strokeStyle = colour;
    context.lineWidth = wide;
    context.stroke(path);
  };
  if (lanes) stroke(lanes, ink("edge"), width + 1.2);
  stroke(main, ink("edge"), width * 1.9 + 1.6);
  if (lanes) stroke(lanes, ink("street"), width);
  stroke(main, ink("main"), width * 1.9);
}

/** Writes names, the more important ones first, and leaves out names that would overlap. */
class Names {
  #context;
  #ink;
  #halo;
  #size;
  #taken = [];

  constructor(context, { ink, halo, size }) {
    this.#context = context;
    this.#ink = ink;
    this.#halo = halo;
    this.#size = size;
  }

  write(named, viewport, { size, dot = false }) {
    const context = this.#context;
    const text = named[language] ?? named.en;
    for (const turn of viewport.turns) {
      const [x, y] = [viewport.x(named.at.x, turn), viewport.y(named.at.y)];
      if (x < 0 || y < 0 || x > this.#size.width || y > this.#size.height) continue;

      context.font = `500 ${size}px ${FONT}`;
      const half = context.measureText(text).width / 2 + 6;
      const centre = dot ? y - size * 0.9 : y;
      const box = { west: x - half, east: x + half, north: centre - size, south: centre + size };
      const isFree = this.#taken.every((other) => box.east < other.west || box.west > other.east || box.south < other.north || box.north > other.south);
      if (!isFree) continue;
      this.#taken.push(box);

      Object.assign(context, { strokeStyle: this.#halo, fillStyle: this.#ink, lineWidth: 3.5, textBaseline: "middle", textAlign: "center" });
      context.strokeText(text, x, centre);
      context.fillText(text, x, centre);
      if (!dot) continue;
      context.beginPath();
      context.arc(x, y, 2, 0, 2 * Math.PI);
      context.fill();
    }
  }
}
