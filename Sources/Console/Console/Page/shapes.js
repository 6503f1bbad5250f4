// Lines and areas of the map, in the world's pixels at zoom 0 (see mercator.js), and their drawing.

import { project } from "./mercator.js";

/** The side of the world's square at zoom 0. */
export const WORLD = 256;
/** From this zoom, areas are clipped to the view: a canvas draws coordinates of millions of pixels incorrectly. */
const CUT_FROM_ZOOM = 9;
const CUT_MARGIN = 40;

/**
 * Decodes a line in the encoding of Google's polylines: each point is its difference from the previous one, five bits per letter,
 * longitudes first.
 */
export function decodeLine(text, perDegree) {
  const values = [];
  let [value, shift] = [0, 0];
  for (let index = 0; index < text.length; index++) {
    const bits = text.charCodeAt(index) - 63;
    value |= (bits & 0x1f) << shift;
    shift += 5;
    if (bits >= 0x20) continue;
    values.push(value & 1 ? ~(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }

  const points = new Float64Array(values.length);
  const box = { west: Infinity, north: Infinity, east: -Infinity, south: -Infinity };
  let [longitude, latitude] = [0, 0];
  for (let index = 0; index < values.length; index += 2) {
    longitude += values[index];
    latitude += values[index + 1];
    const { x, y } = project({ latitude: latitude / perDegree, longitude: longitude / perDegree }, 0);
    points[index] = x;
    points[index + 1] = y;
    box.west = Math.min(box.west, x);
    box.east = Math.max(box.east, x);
    box.north = Math.min(box.north, y);
    box.south = Math.max(box.south, y);
  }
  return { points, box };
}

/** The visible part of the world: `origin` is its pixel at the top left corner, at the zoom of the view. */
export class Viewport {
  constructor({ origin, zoom, size }) {
    this.origin = origin;
    this.zoom = zoom;
    this.size = size;
    this.scale = 2 ** zoom;
    const first = Math.floor(origin.x / (WORLD * this.scale));
    const last = Math.floor((origin.x + size.width) / (WORLD * this.scale));
    /** The offsets, in worlds to the east, at which a shape is drawn: beyond the date line, the world is repeated. */
    this.turns = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  }

  x(worldX, turn) {
    return (worldX + turn * WORLD) * this.scale - this.origin.x;
  }

  y(worldY) {
    return worldY * this.scale - this.origin.y;
  }

  sees({ west, north, east, south }, turn) {
    return this.x(east, turn) >= 0 && this.x(west, turn) <= this.size.width && this.y(south) >= 0 && this.y(north) <= this.size.height;
  }
}

/** Returns the visible areas as one path. */
export function areaPath(areas, viewport) {
  const path = new Path2D();
  for (const turn of viewport.turns) {
    for (const { points, box } of areas) {
      if (!viewport.sees(box, turn)) continue;
      let corners = [];
      for (let index = 0; index < points.length; index += 2) corners.push([viewport.x(points[index], turn), viewport.y(points[index + 1])]);
      if (viewport.zoom >= CUT_FROM_ZOOM) corners = cut(corners, viewport.size);
      corners.forEach(([x, y], index) => (index === 0 ? path.moveTo(x, y) : path.lineTo(x, y)));
      path.closePath();
    }
  }
  return path;
}

/** Returns the visible lines as one path. */
export function linePath(lines, viewport) {
  const path = new Path2D();
  for (const turn of viewport.turns) {
    for (const { points, box } of lines) {
      if (!viewport.sees(box, turn)) continue;
      path.moveTo(viewport.x(points[0], turn), viewport.y(points[1]));
      for (let index = 2; index < points.length; index += 2) path.lineTo(viewport.x(points[index], turn), viewport.y(points[index + 1]));
    }
  }
  return path;
}

/** Clips an area to the view, edge by edge (Sutherland and Hodgman). */
function cut(corners, { width, height }) {
  const edges = [
    { axis: 0, at: -CUT_MARGIN, keeps: 1 },
    { axis: 0, at: width + CUT_MARGIN, keeps: -1 },
    { axis: 1, at: -CUT_MARGIN, keeps: 1 },
    { axis: 1, at: height + CUT_MARGIN, keeps: -1 },
  ];
  return edges.reduce((area, { axis, at, keeps }) => {
    const isInside = (corner) => (corner[axis] - at) * keeps >= 0;
    const rest = [];
    area.forEach((corner, index) => {
      const before = area[(index + area.length - 1) % area.length];
      if (isInside(corner) !== isInside(before)) {
        const part = (at - before[axis]) / (corner[axis] - before[axis]);
        rest.push([before[0] + (corner[0] - before[0]) * part, before[1] + (corner[1] - before[1]) * part]);
      }
      if (isInside(corner)) rest.push(corner);
    });
    return rest;
  }, corners);
}
