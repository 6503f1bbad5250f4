// The credits of places and pictures, as the providers' terms require.

import { el } from "./dom.js";

/** Hot Pepper's terms require a link with its credit. The address is fixed here and never comes from a record. */
const HOT_PEPPER = { text: "ホットペッパーグルメ Webサービス", address: "https://webservice.recruit.co.jp/" };
/** Google's legacy API sends some credits as an anchor. Only this form is converted to a link; all others are shown as text. */
const ANCHOR = /^<a href="(https?:\/\/[^"<>\s]+)">([^<>&]+)<\/a>$/;

const link = (address, text) => el("a", { href: address, target: "_blank", rel: "noopener noreferrer nofollow", dir: "auto" }, text);

/** Returns the text or the link for a line. */
export function credit(line) {
  if (line.includes(HOT_PEPPER.text)) return link(HOT_PEPPER.address, line);
  const anchor = ANCHOR.exec(line);
  return anchor ? link(anchor[1], anchor[2]) : el("bdi", {}, line);
}
