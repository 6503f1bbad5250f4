// Addresses of pages. That of the search page contains the session and the search, so that a copied link opens the same; the state
// itself is on the server. That of a request's page contains its id.

import { el, setAttribute } from "./dom.js";
import { t } from "./text.js";

const ZOOM_AT_START = 16;
const CHARACTERS = "abcdefghijkmnpqrstuvwxyz23456789";

/** A session's name. It must not be guessable, because it gives access to the session. */
function freshSession() {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  return [...bytes].map((byte) => CHARACTERS[byte % CHARACTERS.length]).join("");
}

function bounded(text, [least, most]) {
  const value = text === null || text === "" ? NaN : Number(text);
  return value >= least && value <= most ? value : undefined;
}

/** Reads the address. Missing or invalid values get the defaults of a new page; the default location comes from the console. */
export function readLink() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const session = parts.get("session");
  const latitude = bounded(parts.get("lat"), [-85, 85]);
  const longitude = bounded(parts.get("lng"), [-180, 180]);
  const hasPlace = latitude !== undefined && longitude !== undefined;

  return {
    session: session && session.length <= 128 ? session : freshSession(),
    center: hasPlace ? { latitude, longitude } : undefined,
    hasPlace,
    zoom: bounded(parts.get("zoom"), [3, 20]) ?? ZOOM_AT_START,
    values: {
      category: parts.get("category")?.slice(0, 64) || undefined,
      categories: parts.get("categories")?.slice(0, 256).split(","),
      rankBy: parts.get("order") || undefined,
      keyword: parts.get("keyword")?.slice(0, 256) || undefined,
      provider: parts.get("provider") || undefined,
      radiusMeters: bounded(parts.get("radius"), [1, 50_000]),
      openNow: parts.get("open") === "1",
    },
    /** Whether to search immediately if the session is empty. Used only on the page of a demo. */
    searchesAtOnce: parts.has("go"),
  };
}

/** Updates the address, without an entry in the browser's history. */
export function writeLink({ session, center, zoom, values }) {
  const parts = new URLSearchParams({ session, lat: center.latitude.toFixed(6), lng: center.longitude.toFixed(6), zoom: String(Math.round(zoom * 100) / 100) });
  if (values.categories) parts.set("categories", values.categories.join(","));
  else parts.set("category", values.category);
  parts.set("radius", String(values.radiusMeters));
  if (values.keyword) parts.set("keyword", values.keyword);
  if (values.provider !== "auto") parts.set("provider", values.provider);
  if (values.rankBy) parts.set("order", values.rankBy);
  if (values.openNow) parts.set("open", "1");
  history.replaceState(null, "", `#${parts}`);
}

/** The position of a record in the format of an outcome's `ce_id`, which the console finds at once. */
const positionOf = ({ topic, partition, offset }) => `${topic}-${partition}-${offset}`;

/** Returns the address of a request's page; undefined if the request has no id. `source` is its position, if known. */
function lifeAddress({ source, requestId }) {
  const id = source?.topic ? positionOf(source) : requestId;
  return id ? `request?id=${encodeURIComponent(id)}` : undefined;
}

/** Sets an existing link to the page of a request; hides it if the request has no id. */
export function linkToLife(link, request) {
  const address = lifeAddress(request ?? {});
  link.hidden = !address;
  if (address) setAttribute(link, "href", address);
}

/** Makes a link to the page of a request, with the default text or another one. */
export function lifeLink(request, words) {
  const address = lifeAddress(request);
  return address && el("a", { class: "life-link", href: address }, words ?? t("life.open"));
}
