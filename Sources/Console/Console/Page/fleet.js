// The fleet: a card with the brokers' view of the workers' group, which exists even if no worker runs, and a card for each worker.

import { el, fill, setText, syncChildren } from "./dom.js";
import { ahead, clock, duration, hasText, moment, named, number, shortened, t } from "./text.js";

const KINDS = { working: "good", unknown: "mild" };
/** The maximum number of classes and tenants on a card, those with the most waiting requests. */
const SHOWN_FLOWS = 4;
const place = (name) => document.getElementById(`fleet-${name}`);
const figure = (name, value) => el("div", {}, el("dt", {}, t(name)), el("dd", {}, value));

export function showFleet(report) {
  const { verdict, problem, workers, backlog } = report;
  const mark = place("verdict");
  mark.className = `code ${KINDS[verdict] ?? "bad"}`;
  setText(mark, t(`fleet.${verdict}`));
  // After the brokers became unreachable, the last figures are shown as old.
  place("figures").classList.toggle("is-old", verdict === "brokers-away");
  const advice = hasText(`fleet.${verdict}.advice`) ? t(`fleet.${verdict}.advice`) : "";
  setText(place("problem"), advice);
  const parts = healthOf(report);
  showParts(place("health"), parts);
  const failing = [...(advice ? [{ isBad: true, text: advice }] : []), ...parts.filter(({ isBad }) => isBad)];
  document.getElementById("failing").hidden = failing.length === 0;
  showParts(document.getElementById("failing-parts"), failing);
  setText(place("reason"), shortened(problem ?? "", 300));
  place("figures").replaceChildren(...(backlog ? figures(backlog, verdict, workers) : []));
  setText(place("note"), backlog ? note(backlog, verdict) : "");
  showPartitions(backlog?.partitions ?? []);
}

const showParts = (list, parts) => fill(list, parts, () => parts.map(({ isBad, text }) => el("li", { class: isBad ? "is-bad" : "", dir: "auto" }, text)));

/** Returns lines about the unread partitions, the share of failures, and each provider. */
function healthOf({ outcomes, providers = [], workers: { answering } = {}, backlog }) {
  const unread = (backlog?.partitions ?? []).filter(({ isUnread }) => isUnread);
  const members = [...new Set(unread.map(({ member }) => shortened(member ?? "", 60)))].filter(Boolean).join(", ");
  return [
    ...(unread.length > 0 ? [{ isBad: true, text: t(members ? "health.unread.by" : "health.unread", {
      count: number(unread.length), all: number(backlog.partitions.length), members, partitions: unread.map(({ topic = "", partition }) => `${shortened(topic, 60)} ${partition}`.trim()).join(", "),
    }) }] : []),
    ...(outcomes?.windowMs > 0 ? [{ isBad: outcomes.areFailing, text: share("outcomes", outcomes) }] : []),
    ...providers.map((provider) => ({ isBad: provider.isInTrouble, text: providerState(provider, answering) })),
  ];
}

const share = (what, { failed, failedPercent, total, windowMs, code }) => t(`health.${what}${failed > 0 ? "" : ".none"}`, { percent: number(failedPercent), count: number(total), window: duration(windowMs), code: shortened(code, 40) });

function providerState({ provider, state, reason, timeLeftMs, workers, calls }, answering) {
  const name = [state === "half-open" && state, reason, state === "closed" && calls?.areFailing && "failing", state].find((name) => name && hasText(`state.${name}`));
  const facts = [name ? t(`state.${name}`) : shortened(state, 40), timeLeftMs > 0 && t("open.for", { wait: duration(Math.ceil(timeLeftMs / 1000) * 1000) }),
    state !== "closed" && answering > 1 && t("health.workers", { count: number(workers), all: number(answering) }), calls?.failed > 0 && share("calls", calls)];
  return `${named("provider", provider)}: ${facts.filter(Boolean).join(" · ")}`;
}

function figures({ waiting, oldestMs, rates, workOffMs, makesNoProgress, members }, verdict, workers) {
  const perSecond = (value) => (Number.isFinite(value) ? t("limit.rate", { count: number(value, value < 100 ? 1 : 0) }) : "–");
  const workOff = makesNoProgress ? t("fleet.never") : waiting === 0 ? t("fleet.at-once") : duration(workOffMs);
  return [
    figure("fleet.waiting", Number.isFinite(waiting) ? number(waiting) : "–"),
    figure("fleet.oldest", duration(oldestMs)),
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
  return rates ? t("fleet.note", { time, window: duration(rates.windowMs) }) : t("fleet.note.first", { time });
}

function showPartitions(partitions) {
  place("partitions").hidden = partitions.length === 0;
  syncChildren(place("rows"), {
    items: partitions, key: ({ topic = "", partition }) => `${topic}-${partition}`, make: () => el("tr", {}),
    update: (row, partition) => fill(row, partition, () => cells(partition)),
  });
}

function cells({ topic, partition, waiting, oldestMs, lag, member }) {
  const figure = (value) => el("td", { class: "figure" }, Number.isFinite(value) ? number(value) : "–");
  return [
    el("td", { class: "figure" }, el("bdi", {}, topic ? `${shortened(topic, 60)} ${partition}` : String(partition))), figure(waiting),
    el("td", { class: "figure" }, Number.isFinite(oldestMs) ? duration(oldestMs) : ""), figure(lag),
    el("td", { class: "name" }, el("bdi", {}, shortened(member ?? "", 60))),
  ];
}

// MARK: - Workers

/** Draws each worker from its /status: readiness, backlog, and the state of each provider. */
export function showWorkers(workers) {
  syncChildren(document.getElementById("workers"), {
    items: workers.length > 0 ? workers : [{ url: "" }], key: ({ url }) => url, make: () => el("li", { class: "worker" }),
    update: (card, worker) => fill(card, worker, () => (worker.url === "" ? [el("p", { class: "faint" }, t("workers.none"))] : content(worker))),
  });
}

function content({ url, reachable, problem, status }) {
  const [kind, word] = !reachable ? ["bad", "worker.away"] : status?.draining ? ["mild", "worker.draining"] : status?.answersWithErrors ? ["bad", "worker.errors"] : status?.ready ? ["good", "worker.ready"] : ["bad", "worker.not-ready"];
  const reason = reachable ? status?.notReady ?? status?.answersWithErrors ?? status?.deliveryProblem : problem;
  return [
    el("div", { class: "worker-head" }, name(url, status?.name ?? status?.host), el("span", { class: `code ${kind}` }, t(word))),
    reason && el("p", { class: "worker-problem", dir: "auto" }, shortened(reason, 300)),
    status?.commitOverdueSeconds > 0 && el("p", { class: "worker-problem" }, t("commit.overdue", { wait: duration(status.commitOverdueSeconds * 1000) })),
    reachable && status && workerFigures(status),
    reachable && status?.waiting?.length > 0 && el("p", { class: "faint worker-waiting", dir: "auto" }, t("waiting.turn", { flows: status.waiting.slice(0, SHOWN_FLOWS).map(flow).join(" · ") })),
    reachable && status?.providers?.length > 0 && el("ul", { class: "providers" }, ...status.providers.map(provider)),
  ].filter(Boolean);
}

/** A worker is identified by its machine or pod. Its address is below that, or without it if the worker does not answer. */
function name(url, host) {
  const address = shortened(url.replace(/^https?:\/\//, ""), 48);
  if (!host) return el("strong", { title: shortened(url) }, address);
  return el("div", { class: "worker-name" }, el("strong", { title: shortened(host) }, shortened(host, 64)), el("span", { class: "faint", title: shortened(url) }, address));
}

/** Shows how many requests of one class and tenant wait to begin, and the age of the oldest. */
function flow({ class: name, tenant, requests, longestSeconds }) {
  return t(tenant ? "waiting.tenant" : "waiting.class", { class: named("class", name), tenant: shortened(tenant ?? "", 40), count: number(requests ?? 0), wait: duration((longestSeconds ?? 0) * 1000) });
}

function workerFigures({ inFlight, undelivered, assignment = [] }) {
  const lags = assignment.map(({ lag }) => lag).filter(Number.isFinite);
  const lag = lags.length > 0 ? number(lags.reduce((sum, each) => sum + each, 0)) : "–";
  return el("dl", { class: "figures" },
    figure("in-flight", number(inFlight ?? 0)), figure("lag", lag), figure("undelivered", number(undelivered ?? 0)), figure("partitions", number(assignment.length)));
}

/** Shows an account of the whole fleet: what is used, reserved and left of it, and when its period ends. */
function budget({ account, unit, used = 0, reserved = 0, left = 0, budget: limit = 0, warning = 100, endsInSeconds = 0 }) {
  const amount = (units) => unit === "calls" ? number(units) : `${number(units / 1e6, 2)} ${unit}`;
  const isLow = (used + reserved) * 100 >= limit * warning;
  const wait = endsInSeconds * 1000;
  // Periods end at a full minute.
  const end = moment(Math.round((Date.now() + wait) / 60_000) * 60_000);
  const facts = ["used", "reserved", "left"].map((name) => t(`budget.${name}`, { used: amount(used), reserved: amount(reserved), left: amount(left), limit: amount(limit) }));
  return el("li", { class: isLow && "is-low" },
    el("bdi", {}, shortened(account, 60)), isLow && el("span", { class: "code bad" }, t(left > 0 ? "budget.low" : "budget.used-up")),
    el("span", { class: "provider-facts" }, `${facts.join(" · ")} · `, el("span", { title: end }, t("budget.ends", { wait: ahead(wait) }))));
}

function provider({ provider: name, breaker, breakerReason, openForSeconds, pausedForSeconds, inFlight, concurrencyLimit, allowedPerSecond, waitingForRate, waitingForConcurrency, heldRequests, budgets = [] }) {
  const kind = breaker === "closed" ? "good" : breaker === "open" ? "bad" : "mild";
  const remaining = openForSeconds ?? pausedForSeconds;
  const waiting = (waitingForRate ?? 0) + (waitingForConcurrency ?? 0) + (heldRequests ?? 0);
  const facts = [
    Number.isFinite(concurrencyLimit) && t("limit.calls", { count: number(inFlight ?? 0), limit: number(concurrencyLimit) }),
    Number.isFinite(allowedPerSecond) && t("limit.allowed", { count: number(allowedPerSecond, allowedPerSecond < 10 ? 1 : 0) }),
    waiting > 0 && t("limit.waiting", { count: number(waiting) }),
    breakerReason, remaining > 0 && t("open.for", { wait: duration(remaining * 1000) }),
  ].filter(Boolean);
  return el("li", {},
    el("span", { class: "provider-name" }, shortened(name, 40)),
    el("span", { class: `code ${kind}`, title: t("breaker.term", { state: breaker }) }, named("breaker", breaker)),
    el("span", { class: "provider-facts" }, facts.join(" · ")),
    budgets.length > 0 && el("ul", { class: "budgets" }, ...budgets.filter(({ account }) => !account.includes("/free")).map(budget)));
}
