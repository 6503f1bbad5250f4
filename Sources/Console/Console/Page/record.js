// One outcome's record as stored in its topic: its position, its request's position, headers and body as text.

import { getOutcome } from "./api.js";
import { el, setText } from "./dom.js";
import { lifeLink } from "./link.js";
import { codeMark } from "./outcomes.js";
import { reasonOf } from "./redrive.js";
import { clock, duration, hasText, number, shortened, t } from "./text.js";

export class RecordView {
  #drawer = document.getElementById("record");
  #body = document.getElementById("record-body");
  #outcome;
  #answer;
  #problem;
  #actions;

  /** `actions`: closed(id). */
  constructor(actions) {
    this.#actions = actions;
    document.getElementById("record-close").addEventListener("click", () => this.#close());
    this.#drawer.addEventListener("keydown", (event) => event.key === "Escape" && this.#close());
  }

  #close() {
    this.#drawer.hidden = true;
    this.#actions.closed(this.#outcome?.id);
    this.#outcome = undefined;
  }

  async open(outcome) {
    this.#outcome = outcome;
    this.#answer = this.#problem = undefined;
    this.#drawer.hidden = false;
    this.#draw();
    this.#drawer.focus();

    try {
      const answer = await getOutcome(outcome.id);
      if (this.#outcome === outcome) this.#answer = answer;
    } catch (error) {
      if (this.#outcome === outcome) this.#problem = error;
    }
    if (this.#outcome === outcome) this.#draw();
  }

  #draw() {
    if (!this.#outcome) return;
    this.#body.replaceChildren(this.#head(this.#outcome), this.#places(this.#outcome), ...this.#content());
  }

  #head({ code, operation, provider, waitedMs, workedMs, tookMs, upstreamMs, attempts, at, sessionId, traceId, source, requestId }) {
    const time = (milliseconds) => (Number.isFinite(milliseconds) ? duration(milliseconds) : undefined);
    return el("div", { class: "record-facts" },
      el("p", {}, codeMark(code), " ", hasText(`code.${code}`) ? t(`code.${code}`) : ""),
      facts([
        ["time", clock(at, { milliseconds: true })], ["operation", operation], ["provider", provider],
        ["took", Number.isFinite(waitedMs) ? time(tookMs) : undefined], ["waited", time(waitedMs)],
        ["worked", time(workedMs)], ["upstream", time(upstreamMs)],
        ["attempts", Number.isFinite(attempts) ? number(attempts) : undefined], ["trace", traceId && shortened(traceId, 64)],
      ]),
      el("p", {}, lifeLink({ source, requestId })),
      sessionId && el("p", {}, el("a", { href: `./#session=${encodeURIComponent(sessionId)}` }, t("record.session"))));
  }

  #places({ topic, partition, offset, source }) {
    return el("div", {}, recordPlace("record.where", { topic, partition, offset }), recordPlace("record.source", source));
  }

  #content() {
    if (this.#problem) return [el("p", { class: "note", role: "status" }, t("record.failed", { reason: reasonOf(this.#problem) }))];
    if (!this.#answer) return [el("p", { class: "faint", role: "status" }, t("record.loading"))];
    return [...recordHead(this.#answer), ...recordBody(this.#answer)].filter(Boolean);
  }
}

/** Shows the position of a record, under a heading, with a command to read it. `time` is the time of writing. */
export function recordPlace(name, at, time) {
  if (!at?.topic) return undefined;
  const command = kcatCommand(at);
  const place = t("at", { topic: shortened(at.topic, 249), partition: at.partition, offset: at.offset });
  return el("div", { class: "where" },
    el("h3", {}, t(name)), el("p", { dir: "auto" }, time ? `${place} · ${time}` : place), command && copyButton(command, t("copy.kcat")));
}

/** Draws the facts that are known: `[name of a text, value]`. */
export const facts = (entries) => el("dl", { class: "facts" }, ...entries.filter(([, value]) => value !== undefined && value !== "")
  .map(([name, value]) => [el("dt", {}, t(name)), el("dd", { dir: "auto" }, value)]));

/** The value of a record. Bytes that are not text are in Base64. */
export function recordBody({ value, valueBase64 }) {
  return [
    el("div", { class: "body-head" }, el("h3", {}, t("record.body")), copyButton(valueBase64 ?? value ?? "", t("copy"))),
    valueBase64 !== undefined && el("p", { class: "faint" }, t("record.bytes")),
    el("pre", { class: "code-text", tabindex: "0", "aria-label": t("record.body") }, valueBase64 ?? (value === undefined ? t("record.no-value") : indented(value))),
  ];
}

/** The key and the headers of a record. */
export function recordHead({ key, keyBase64, headers = [] }) {
  const text = ({ value, valueBase64 }) => value ?? (valueBase64 === undefined ? "" : `${t("record.base64")} ${valueBase64}`);
  return [
    el("h3", {}, t("record.key")), el("p", { class: "code-text", dir: "auto" }, key ?? keyBase64 ?? "–"),
    el("h3", {}, t("record.headers")),
    headers.length === 0 ? el("p", { class: "faint" }, "–") : el("table", { class: "headers" }, el("tbody", {}, ...headers.map((header) =>
      el("tr", {}, el("th", { scope: "row" }, header.name), el("td", { dir: "auto" }, text(header)))))),
  ];
}

/**
 * Returns the shell command that shows a record. The position of a request comes from an outcome's headers, which are not trusted.
 * So there is a command only if the topic's name is valid in Kafka.
 */
export function kcatCommand({ topic, partition, offset }) {
  const isTopic = /^[A-Za-z0-9._-]{1,249}$/.test(topic) && topic !== "." && topic !== "..";
  const areNumbers = [partition, offset].every((value) => Number.isSafeInteger(value) && value >= 0);
  return isTopic && areNumbers ? `kcat -C -t '${topic}' -p ${partition} -o ${offset} -c 1 -e -b ` : undefined;
}

/** A button that copies a text. If a browser does not allow it, the text can still be selected. */
export function copyButton(text, label) {
  const button = el("button", { type: "button", class: "small copy", title: text.length < 200 ? text : undefined }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      setText(button, t("copied"));
      setTimeout(() => setText(button, label), 2000);
    } catch {
      button.disabled = true;
    }
  });
  return button;
}

/** The tokens of JSON. Its text is not parsed into values: that would change numbers with too many digits and repeated names. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Returns JSON with one line per member; other texts unchanged. */
export function indented(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }

  let [result, depth, previous] = ["", 0, ""];
  const line = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of text.matchAll(TOKENS)) {
    const closes = token === "}" || token === "]";
    if (closes) depth -= 1;
    const isFirst = previous === "{" || previous === "[";
    if (closes && !isFirst) result += line();
    else if (!closes && (isFirst || previous === ",")) result += line();
    result += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth += 1;
    previous = token;
  }
  return result;
}
