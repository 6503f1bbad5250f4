// The card of the traffic page that counts dead letters. They have a page of their own.

import { getDeadLetters } from "./api.js";
import { setText } from "./dom.js";
import { reasonOf } from "./redrive.js";
import { clock, number, onLanguage, t } from "./text.js";

export function startDeadCard() {
  const summary = document.getElementById("dead-summary");
  let draw = () => setText(summary, t("dead.loading"));
  onLanguage(() => draw());
  draw();
  getDeadLetters({ limit: 1 }).then(({ total, pending, isPartial, readAt }) => {
    const name = total === 0 ? "dead.none" : isPartial ? "dead.summary.newest" : "dead.summary";
    draw = () => setText(summary, `${t(name, { total: number(total), pending: number(pending) })} ${t("dead.as-of", { time: clock(readAt) })}`);
    draw();
  }, (error) => {
    draw = () => setText(summary, t("dead.failed", { reason: reasonOf(error) }));
    draw();
  });
}
