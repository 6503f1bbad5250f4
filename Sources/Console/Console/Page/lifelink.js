// Addresses of the page of a request, from wherever one is shown.

import { el, setAttribute } from "./dom.js";
import { t } from "./text.js";

/** The position of a record as outcomes name it in `ce_id`, which the console finds at once. */
const positionOf = ({ topic, partition, offset }) => `${topic}-${partition}-${offset}`;

/** The address of a request's page; undefined where nothing names the request. `source` is its position, where that is known. */
function lifeAddress({ source, requestId }) {
  const id = source?.topic ? positionOf(source) : requestId;
  return id ? `/request?id=${encodeURIComponent(id)}` : undefined;
}

/** Has a link that is there lead to the page of a request; hides it where nothing names one. */
export function linkToLife(link, request) {
  const address = lifeAddress(request ?? {});
  link.hidden = !address;
  if (address) setAttribute(link, "href", address);
}

/** A link to the page of a request, with the page's own words or others. */
export function lifeLink(request, words) {
  const address = lifeAddress(request);
  return address && el("a", { class: "life-link", href: address }, words ?? t("life.open"));
}
