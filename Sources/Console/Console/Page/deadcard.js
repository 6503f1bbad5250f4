// The card of the traffic page that counts dead letters. They have a separate page.

import { getDeadLetters } from "./api.js";
import { setText } from "./dom.js";
import { reasonOf } from "./redrive.js";
import { clock, number, onLanguage, t } from "./text.js";

/** The console reads the topic for each count, so a hidden page requests none. */
const BETWEEN_COUNTS = 20_000;

export function startDeadCard() {
  const summary = document.getElementById("dead-summary");
  let draw = () => setText(summary, t("dead.loading"));
  let isCounting = false;

  const show = (next) => {
    draw = next;
    draw();
  };
  const counted = ({ total, pending, isPartial, readAt }) => {
    const name = total === 0 ? "dead.none" : isPartial ? "dead.summary.newest" : "dead.summary";
    show(() => setText(summary, `${t(name, { total: number(total), pending: number(pending) })} ${t("dead.as-of", { time: clock(readAt) })}`));
  };
  const failed = (error) => show(() => setText(summary, t("dead.failed", { reason: reasonOf(error) })));
  const count = async () => {
    if (document.hidden || isCounting) return;
    isCounting = true;
    await getDeadLetters({ limit: 1 }).then(counted, failed);
    isCounting = false;
  };

  onLanguage(() => draw());
  draw();
  count();
  setInterval(count, BETWEEN_COUNTS);
  document.addEventListener("visibilitychange", count);
}
