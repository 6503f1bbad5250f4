// Which map there is: Google's with a key, Leaflet with tiles, otherwise an outline of land and water. All three have this interface:
//
//   view()                 {center: {latitude, longitude}, zoom}
//   setView({center, zoom})
//   size()                 {width, height} in pixels
//   point(location)        where a location lies, in pixels from the map's top left corner
//   panBy(x, y)            moves the view by so many pixels
//   place(element, location, {above})  puts an element there, its bottom centre at the location; returns {remove()}
//   circle(name, {center, radiusMeters})  draws the circle of this name anew; without a second value it goes
//   attribution            the text to show for the map's data, or an empty one
//   takesGooglePlaces      whether Google's terms allow their places on it

import { OutlineMap } from "./outlinemap.js";

/** Opens a map in `container`. `onMove` is called after each change of what is shown. */
export async function openMap(container, { config, view, onMove }) {
  try {
    if (config.googleMapsKey) {
      const { GoogleMap } = await import("./googlemap.js");
      return await GoogleMap.open(container, { key: config.googleMapsKey, view, onMove });
    }
    if (config.leaflet && config.tiles) {
      const { LeafletMap } = await import("./leafletmap.js");
      return await LeafletMap.open(container, { tiles: config.tiles, view, onMove });
    }
  } catch {
    // Without the library the outline shows the same places.
    container.replaceChildren();
  }
  return new OutlineMap(container, { view, onMove, hasStreets: config.streets });
}
