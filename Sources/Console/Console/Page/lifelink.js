// Links to the page of a request, from all pages.

import { el, setAttribute } from "./dom.js";
import { t } from "./text.js";

/** The position of a record in the format of an outcome's `ce_id`, which the console finds at once. */
const positionOf = ({ topic, partition, offset }) => `${topic}-${partition}-${offset}`;

/** Returns the address of a request's page; undefined if the request has no id. `source` is its position, if known. */
function lifeAddress({ source, requestId }) {
  const id = source?.topic ? positionOf(source) : requestId;
  return id ? `/request?id=${encodeURIComponent(id)}` : undefined;
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
