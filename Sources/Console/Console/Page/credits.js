// Lines that name where places and pictures come from, as the providers' terms ask.

import { el } from "./dom.js";

/** Hot Pepper's terms ask for a link with its credit. The address is ours: no record says where it leads. */
const HOT_PEPPER = { text: "ホットペッパーグルメ Webサービス", address: "https://webservice.recruit.co.jp/" };
/** Google's legacy API sends some credits as an anchor. Only this shape is taken for a link; anything else is shown as it is. */
const ANCHOR = /^<a href="(https?:\/\/[^"<>\s]+)">([^<>&]+)<\/a>$/;

const link = (address, text) => el("a", { href: address, target: "_blank", rel: "noopener noreferrer nofollow", dir: "auto" }, text);

/** Returns what to show for a line: text, or a link. */
export function credit(line) {
  if (line.includes(HOT_PEPPER.text)) return link(HOT_PEPPER.address, line);
  const anchor = ANCHOR.exec(line);
  return anchor ? link(anchor[1], anchor[2]) : el("bdi", {}, line);
}
