// The whole fleet in one card: the brokers' view of the workers' group, which exists even if no worker runs.

import { el, setText, syncChildren } from "./dom.js";
import { age, clock, number, shortened, t } from "./text.js";

const KINDS = { working: "good", unknown: "mild" };
const place = (name) => document.getElementById(`fleet-${name}`);

export function showFleet({ verdict, problem, workers, backlog }) {
  const mark = place("verdict");
  mark.className = `code ${KINDS[verdict] ?? "bad"}`;
  setText(mark, t(`fleet.${verdict}`));
  // After the brokers became unreachable, the last figures are shown as old.
  place("figures").classList.toggle("is-old", verdict === "brokers-away");
  const advice = ["no-worker", "brokers-away", "workers-not-ready"].includes(verdict) ? t(`fleet.${verdict}.advice`) : "";
  setText(place("problem"), advice);
  setText(place("reason"), shortened(problem ?? "", 300));
  place("figures").replaceChildren(...(backlog ? figures(backlog, verdict, workers) : []));
  setText(place("note"), backlog ? note(backlog, verdict) : "");
  showPartitions(backlog?.partitions ?? []);
}

function figures({ waiting, oldestMs, rates, workOffMs, makesNoProgress, members }, verdict, workers) {
  const figure = (name, value) => el("div", {}, el("dt", {}, t(name)), el("dd", {}, value));
  const perSecond = (value) => (Number.isFinite(value) ? t("limit.rate", { count: number(value, value < 100 ? 1 : 0) }) : "–");
  const workOff = makesNoProgress ? t("fleet.never") : waiting === 0 ? t("fleet.at-once") : Number.isFinite(workOffMs) ? age(workOffMs) : "–";
  return [
    figure("fleet.waiting", Number.isFinite(waiting) ? number(waiting) : "–"),
    figure("fleet.oldest", Number.isFinite(oldestMs) ? age(oldestMs) : "–"),
    figure("fleet.work-off", workOff),
    figure("fleet.arrived", perSecond(rates?.arrivedPerSecond)),
    figure("fleet.finished", perSecond(rates?.finishedPerSecond)),
    figure("fleet.workers", workersOf(verdict, members, workers)),
  ];
}

/** If the group has members, admin endpoints that do not answer are no evidence of missing workers. */
function workersOf(verdict, members, workers) {
  if (workers && (workers.answering > 0 || verdict === "no-worker")) return t("fleet.ready", { ready: number(workers.ready), count: number(workers.asked) });
  return members === undefined ? "–" : t("fleet.members", { count: number(members) });
}

/** Shows the time of the figures, and the window of the rates. */
function note({ at, rates }, verdict) {
  const time = clock(at);
  if (verdict === "brokers-away") return t("fleet.old", { time });
  return rates ? t("fleet.note", { time, window: age(rates.windowMs) }) : t("fleet.note.first", { time });
}

function showPartitions(partitions) {
  place("partitions").hidden = partitions.length === 0;
  syncChildren(place("rows"), {
    items: partitions, key: ({ topic = "", partition }) => `${topic}-${partition}`, make: () => el("tr", {}),
    update: (row, { topic, partition, waiting, oldestMs, lag, member }) => {
      const figure = (value) => el("td", { class: "figure" }, Number.isFinite(value) ? number(value) : "–");
      const drawn = JSON.stringify([topic, partition, waiting, oldestMs, lag, member, document.documentElement.lang]);
      if (row.drawn === drawn) return;
      row.drawn = drawn;
      row.replaceChildren(
        el("td", { class: "figure" }, el("bdi", {}, topic ? `${shortened(topic, 60)} ${partition}` : String(partition))), figure(waiting),
        el("td", { class: "figure" }, Number.isFinite(oldestMs) ? age(oldestMs) : ""), figure(lag),
        el("td", { class: "name" }, el("bdi", {}, shortened(member ?? "", 60))));
    },
  });
}
