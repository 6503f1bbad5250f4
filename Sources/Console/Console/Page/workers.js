// A card for each worker, drawn from its /status: readiness, backlog, and the state of each provider.

import { el, syncChildren } from "./dom.js";
import { duration, hasText, number, shortened, t } from "./text.js";

/** The maximum number of classes and tenants on a card, those with the most waiting requests. */
const SHOWN_FLOWS = 4;

const place = document.getElementById("workers");

export function showWorkers(workers) {
  syncChildren(place, {
    items: workers.length > 0 ? workers : [{ url: "" }], key: ({ url }) => url, make: () => el("li", { class: "worker" }),
    update: (card, worker) => {
      const drawn = JSON.stringify([worker, document.documentElement.lang]);
      if (card.drawn === drawn) return;
      card.drawn = drawn;
      card.replaceChildren(...(worker.url === "" ? [el("p", { class: "faint" }, t("workers.none"))] : content(worker)));
    },
  });
}

function content({ url, reachable, problem, status }) {
  const [kind, word] = !reachable ? ["bad", "worker.away"] : status?.draining ? ["mild", "worker.draining"] : status?.ready ? ["good", "worker.ready"] : ["bad", "worker.not-ready"];
  const reason = reachable ? status?.notReady ?? status?.deliveryProblem : problem;
  return [
    el("div", { class: "worker-head" }, name(url, status?.host), el("span", { class: `code ${kind}` }, t(word))),
    reason && el("p", { class: "worker-problem", dir: "auto" }, shortened(reason, 300)),
    status?.commitOverdueSeconds > 0 && el("p", { class: "worker-problem" }, t("commit.overdue", { wait: duration(status.commitOverdueSeconds * 1000) })),
    reachable && status && figures(status),
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
  const named = hasText(`class.${name}`) ? t(`class.${name}`) : shortened(name, 20);
  return t(tenant ? "waiting.tenant" : "waiting.class", { class: named, tenant: shortened(tenant ?? "", 40), count: number(requests ?? 0), wait: duration((longestSeconds ?? 0) * 1000) });
}

function figures({ inFlight, undelivered, assignment = [] }) {
  const lags = assignment.map(({ lag }) => lag).filter(Number.isFinite);
  const lag = lags.length > 0 ? number(lags.reduce((sum, each) => sum + each, 0)) : "–";
  const figure = (name, value) => el("div", {}, el("dt", {}, t(name)), el("dd", {}, value));
  return el("dl", { class: "figures" },
    figure("in-flight", number(inFlight ?? 0)), figure("lag", lag), figure("undelivered", number(undelivered ?? 0)), figure("partitions", number(assignment.length)));
}

function provider({ provider: name, breaker, breakerReason, openForSeconds, pausedForSeconds, inFlight, concurrencyLimit, allowedPerSecond, waitingForRate, waitingForConcurrency, heldRequests, budget }) {
  const kind = breaker === "closed" ? "good" : breaker === "open" ? "bad" : "mild";
  const remaining = openForSeconds ?? pausedForSeconds;
  const waiting = (waitingForRate ?? 0) + (waitingForConcurrency ?? 0) + (heldRequests ?? 0);
  const facts = [
    Number.isFinite(concurrencyLimit) && t("limit.calls", { count: number(inFlight ?? 0), limit: number(concurrencyLimit) }),
    Number.isFinite(allowedPerSecond) && t("limit.allowed", { count: number(allowedPerSecond, allowedPerSecond < 10 ? 1 : 0) }),
    budget && t("limit.budget", { count: number(budget.used ?? 0), limit: number(budget.calls ?? 0) }),
    waiting > 0 && t("limit.waiting", { count: number(waiting) }),
    breakerReason, remaining > 0 && t("open.for", { wait: duration(remaining * 1000) }),
  ].filter(Boolean);
  return el("li", {},
    el("span", { class: "provider-name" }, shortened(name, 40)),
    el("span", { class: `code ${kind}` }, `${t("breaker")} ${hasText(`breaker.${breaker}`) ? t(`breaker.${breaker}`) : shortened(breaker, 20)}`),
    el("span", { class: "provider-facts" }, facts.join(" · ")));
}
