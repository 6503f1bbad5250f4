// Chooses the map: Google's with a key, otherwise an outline of land and water, or tiles. Both have this interface:
//
//   view()                 {center: {latitude, longitude}, zoom}
//   setView({center, zoom})
//   size()                 {width, height} in pixels
//   point(location)        returns the position of a location in pixels from the map's top left corner
//   panBy(x, y)            moves the view by a number of pixels
//   place(element, location, {above})  adds an element with its bottom centre at the location; returns {remove()}
//   circle(name, {center, radiusMeters})  draws or replaces the circle of this name; without a second value, removes it
//   attribution            the text to show for the map's data, or an empty one
//   takesGooglePlaces      whether Google's terms allow their places on this map

import { OutlineMap } from "./outlinemap.js";

/** Opens a map in `container`. `onMove` is called after each change of the view. */
export async function openMap(container, { config, view, onMove }) {
  try {
    if (config.googleMapsKey) {
      const { GoogleMap } = await import("./googlemap.js");
      return await GoogleMap.open(container, { key: config.googleMapsKey, view, onMove });
    }
  } catch {
    // Without the library, the outline shows the same places.
    container.replaceChildren();
  }
  const map = new OutlineMap(container, { view, onMove, tiles: config.tiles, hasStreets: config.streets });
  // By the terms for the EEA, pages receive only ids and positions of Google's places, which may be on any map.
  map.takesGooglePlaces = config.terms === "eea";
  return map;
}
