// Draws the life of one request: its outcome, its phases, and its records.

import { el, webAddress } from "./dom.js";
import { codeMark } from "./outcomes.js";
import { facts, recordBody, recordHead, recordPlace } from "./record.js";
import { duration, hasText, moment, named, number, shortened, t } from "./text.js";

/** Draws one request of the console's answer. */
export function lifeCard(life) {
  return el("article", { class: "card life" },
    el("div", { class: "life-head" }, el("h2", { dir: "auto" }, shortened(life.requestId, 300)), mark(life)),
    el("p", { class: "life-state" }, state(life)),
    message(life),
    timeline(life), knownFacts(life), places(life), letter(life), record(life));
}

const outcomeOf = ({ outcomes }) => outcomes.find(({ code }) => code === "ok") ?? outcomes[0];

function mark(life) {
  const outcome = outcomeOf(life);
  return outcome ? codeMark(outcome.code) : el("span", { class: "code mild" }, t(`life.mark.${life.state}`));
}

function state(life) {
  const outcome = outcomeOf(life);
  const wait = duration(life.totalMs);
  if (outcome) {
    const name = outcome.code === "ok" ? "life.answered" : "life.failed";
    const provider = outcome.provider ? named("provider", outcome.provider) : "";
    const places = Number.isFinite(outcome.places) ? t("life.places", { count: number(outcome.places) }) : "";
    return [Number.isFinite(life.totalMs) ? t(name, { wait }) : t(`${name}.open`), places, provider].filter(Boolean).join(" · ");
  }
  if (life.state === "waiting") {
    return life.before === 0 ? t("life.next", { partition: life.source.partition })
      : t("life.waiting", { partition: life.source.partition, count: number(life.before) });
  }
  return t(life.state === "finished" ? (life.deadLetter ? "life.set-aside" : "life.finished") : "life.unknown");
}

/** Returns the worker's error message, or the reason why the outcome is unknown. */
function message(life) {
  const outcome = outcomeOf(life);
  const words = outcome ? [outcome.member, outcome.message].filter(Boolean).join(": ") : life.problem;
  if (!words) return undefined;
  const label = outcome && hasText(`code.${outcome.code}`) ? `${t(`code.${outcome.code}`)}. ` : "";
  const retry = outcome?.retryAfterMs ? t("remedy.wait", { wait: duration(outcome.retryAfterMs) }) : outcome?.retryable ? t("remedy.retry") : "";
  return [
    el("p", {}, label, el("span", { lang: "en", dir: "auto" }, shortened(words, 1000))),
    retry && el("p", { class: "faint" }, retry),
  ];
}

// MARK: - Where the time went

function timeline(life) {
  if (!life.phases?.length) return undefined;
  const total = Math.max(life.totalMs, 1);
  return el("section", {},
    el("h3", {}, t("life.phases", { wait: duration(life.totalMs) })),
    el("ol", { class: "phases" }, ...life.phases.map((phase) => row(phase, total))),
    life.areStepsCut && el("p", { class: "faint" }, t("life.cut")),
    !life.areStepsKnown && el("p", { class: "faint" }, t("life.no-steps")));
}

function row(phase, total) {
  const isFailed = Boolean(phase.code) && phase.code !== "ok";
  const bar = el("span", {});
  bar.style.setProperty("--start", `${(100 * phase.startMs) / total}%`);
  bar.style.setProperty("--width", `${Math.min(100, (100 * phase.durationMs) / total)}%`);
  const kind = /^[a-z]+$/.test(phase.kind) ? `phase-${phase.kind}` : "";
  return el("li", { class: `phase ${kind}${isFailed ? " is-failed" : ""}` },
    el("span", { class: "figure start" }, el("span", { class: "unseen" }, `${t("life.after")} `), `+${duration(phase.startMs)}`),
    el("span", { class: "figure" }, el("span", { class: "unseen" }, `${t("life.took")} `), duration(phase.durationMs)),
    el("span", { class: "track", "aria-hidden": "true" }, bar),
    el("span", { class: "phase-what" }, words(phase), ...end(phase)));
}

function words({ kind, provider }) {
  const name = provider ? named("provider", provider) : "";
  return hasText(`phase.${kind}`) ? t(`phase.${kind}`, { provider: name }) : `${shortened(kind, 40)} ${name}`;
}

const end = ({ code, httpStatus }) => (code ? [codeMark(code), httpStatus ? ` HTTP ${httpStatus}` : ""] : []);

// MARK: - What is known

function knownFacts(life) {
  const outcome = outcomeOf(life);
  const trace = life.traceId && (webAddress(life.traceURL)
    ? el("a", { href: webAddress(life.traceURL), target: "_blank", rel: "noopener noreferrer" }, life.traceId) : life.traceId);
  return facts([
    ["life.received", life.record?.time && exactly(life.record.time)],
    ["life.producer", life.record?.producer && shortened(life.record.producer, 300)],
    ["life.expiry", life.record?.expiry && exactly(life.record.expiry)],
    ["operation", life.operation && named("operation", life.operation)],
    ["attempts", Number.isFinite(outcome?.attempts) ? number(outcome.attempts) : undefined],
    ["upstream", Number.isFinite(outcome?.upstreamMs) ? duration(outcome.upstreamMs) : undefined],
    ["life.tried", outcome?.triedProviders?.map((name) => named("provider", name)).join(" → ")],
    ["life.fault", life.record?.fault && el("span", { lang: "en" }, life.record.fault)],
    ["session", life.sessionId && el("a", { href: `./#session=${encodeURIComponent(life.sessionId)}` }, shortened(life.sessionId, 128))],
    ["trace", trace],
  ]);
}

/** Formats a time to the millisecond, for comparison with others. */
const exactly = (time) => moment(time, { milliseconds: true });

function places(life) {
  return el("section", {},
    recordPlace(life.record ? "life.source" : "life.source.gone", life.source),
    ...life.outcomes.map((outcome, index) => recordPlace(index === 0 ? "life.outcome" : "life.outcome.again", outcome, exactly(outcome.time))));
}

function letter({ deadLetter }) {
  if (!deadLetter) return undefined;
  const { reason, message, member, time, isRedriven, redrivenAt } = deadLetter;
  return el("section", {},
    recordPlace("life.letter", deadLetter, time && exactly(time)),
    el("p", { lang: "en", dir: "auto" }, `${reason}: ${[member, message].filter(Boolean).join(": ")}`),
    isRedriven && el("p", {}, redrivenAt ? t("life.redriven", { time: exactly(redrivenAt) }) : t("dead.state.redriven")));
}

function record({ record }) {
  if (!record) return undefined;
  return el("details", {}, el("summary", {}, t("life.record", { count: number(record.bytes) })), ...recordHead(record), ...recordBody(record));
}
