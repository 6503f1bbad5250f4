// The projection of web maps: the world is a square of 256 pixels at zoom 0, whose side doubles with each step.

const RADIANS = Math.PI / 180;
const EQUATOR_METERS = 40_075_016.686;
const LARGEST_LATITUDE = 85.05112878;

/** Returns the position of a location on the world's square at a zoom, in pixels from its north-west corner. */
export function project({ latitude, longitude }, zoom) {
  const size = 256 * 2 ** zoom;
  const bounded = Math.min(Math.max(latitude, -LARGEST_LATITUDE), LARGEST_LATITUDE) * RADIANS;
  return {
    x: (size * (longitude + 180)) / 360,
    y: (size * (1 - Math.asinh(Math.tan(bounded)) / Math.PI)) / 2,
  };
}

/** The inverse of `project`. */
export function unproject({ x, y }, zoom) {
  const size = 256 * 2 ** zoom;
  return {
    latitude: Math.atan(Math.sinh(Math.PI * (1 - (2 * y) / size))) / RADIANS,
    longitude: (x / size) * 360 - 180,
  };
}

/** Returns the number of metres in one pixel at a latitude. */
export const metersPerPixel = (latitude, zoom) => (EQUATOR_METERS * Math.cos(latitude * RADIANS)) / (256 * 2 ** zoom);

/** Returns the largest zoom at which a circle fits into a number of pixels. */
export const zoomForCircle = ({ center, radiusMeters, pixels }) =>
  Math.log2((EQUATOR_METERS * Math.cos(center.latitude * RADIANS) * pixels) / (256 * 2 * radiusMeters));

/** Returns the metres between two locations, accurate enough for a search's radius. */
export function metersBetween(one, other) {
  const east = (other.longitude - one.longitude) * Math.cos(((one.latitude + other.latitude) / 2) * RADIANS);
  return (Math.hypot(east, other.latitude - one.latitude) * EQUATOR_METERS) / 360;
}

/** Returns a location with as few decimals as are needed to keep it exact to the metre. */
export const rounded = ({ latitude, longitude }) => ({
  latitude: Math.round(latitude * 1e6) / 1e6,
  longitude: Math.round(longitude * 1e6) / 1e6,
});
