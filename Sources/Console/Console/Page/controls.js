// Shows the operators' orders to the fleet, with author and end. Pauses and resumes after a confirmation.

import { getControls, sendPause } from "./api.js";
import { el, setText } from "./dom.js";
import { duration, hasText, moment, named, number, shortened, t } from "./text.js";

const byId = (id) => document.getElementById(`controls-${id}`);
/** The lengths of a pause in seconds; the last one has no end. */
const TIMES = [600, 1800, 3600, 14_400, undefined];

/** The states of a provider that an operator may end, after the key was repaired. */
const REFUSALS = new Set(["key-refused", "quota-used-up"]);

const targetName = (provider) => (provider ? named("provider", provider) : t("controls.intake"));

export class Controls {
  #list = { orders: [], providers: [] };
  #seen = "";
  #refused = new Map();
  #choice;

  constructor() {
    byId("form").addEventListener("submit", (event) => {
      event.preventDefault();
      const [provider, seconds] = [byId("target").value || undefined, TIMES[byId("time").value]];
      this.#ask({ pause: true, provider, intake: !provider, forSeconds: seconds });
    });
    byId("cancel").addEventListener("click", () => byId("confirm").close());
    byId("do").addEventListener("click", () => this.#give());
    this.#draw();
    this.#read();
  }

  /** Reads the orders again if the workers' controls have changed. */
  follow(workers) {
    const providers = workers.flatMap(({ status }) => status?.providers ?? []).filter(({ breakerReason }) => REFUSALS.has(breakerReason));
    this.#refused = new Map(providers.map(({ provider, breakerReason }) => [provider, breakerReason]));
    const seen = JSON.stringify([[...this.#refused], workers.map(({ status }) => status?.controls?.orders)]);
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#read();
  }

  async #read() {
    try {
      this.#list = await getControls();
    } catch {
      // Another part of the page reports that the console or Kafka is unreachable. The next report reads again.
      this.#seen = undefined;
    }
    this.#draw();
  }

  #draw() {
    const { orders, providers } = this.#list;
    byId("none").hidden = orders.length > 0;
    const refused = [...this.#refused].map(([provider, reason]) => el("li", {}, el("strong", {}, `${targetName(provider)}: ${t(`state.${reason}`)}`), el("button", {
      type: "button", class: "small", "aria-label": `${t("controls.retry")}: ${targetName(provider)}`, onclick: () => this.#ask({ retry: true, provider }),
    }, t("controls.retry"))));
    byId("orders").replaceChildren(...refused, ...orders.map((order) => this.#row(order)));
    this.#options(byId("target"), [["", t("controls.intake")], ...providers.map((name) => [name, named("provider", name)])]);
    this.#options(byId("time"), TIMES.map((seconds, index) => [String(index), seconds ? t("controls.for", { time: duration(seconds * 1000) }) : t("controls.forever")]));
  }

  /** Fills a list of choices, and keeps the selected one. */
  #options(select, choices) {
    const chosen = select.value;
    select.replaceChildren(...choices.map(([value, text]) => el("option", { value }, text)));
    if (choices.some(([value]) => value === chosen)) select.value = chosen;
  }

  #row({ control, provider, value, level, scope, worker, by, at, until }) {
    const values = { name: shortened(control, 40), provider: provider && named("provider", provider), value: shortened(value ?? level ?? "", 20) };
    const words = t(hasText(`order.${control}`) ? `order.${control}` : "order.other", values);
    const origin = t(until ? "order.until" : "order.open", { by: shortened(by, 60), at: moment(at), until: until && moment(until) });
    const isForAll = scope === "fleet";
    const isPause = isForAll && ["pause-provider", "pause-intake"].includes(control);
    return el("li", {},
      el("strong", { dir: "auto" }, words),
      el("span", { class: "order-origin", dir: "auto" }, isForAll ? origin : `${t("order.worker", { worker: shortened(worker ?? "–", 60) })} · ${origin}`),
      isPause && el("button", {
        type: "button", class: "small", "aria-label": `${t("controls.resume")}: ${targetName(provider)}`,
        onclick: () => this.#ask({ pause: false, provider, intake: !provider }),
      }, t("controls.resume")));
  }

  /** Asks for confirmation; nothing is ordered before that. The cancel button has the focus. */
  #ask(choice) {
    this.#choice = choice;
    const verb = choice.retry ? "retry" : choice.pause ? "pause" : "resume";
    setText(byId("title"), t(`controls.${verb}.title`, { target: targetName(choice.provider) }));
    const time = choice.pause ? ` ${choice.forSeconds ? t("controls.for", { time: duration(choice.forSeconds * 1000) }) : t("controls.forever")}.` : "";
    setText(byId("text"), t(`controls.${verb}${choice.intake ? ".intake" : ""}.text`) + time);
    setText(byId("do"), t(choice.pause ? "controls.pause.do" : `controls.${verb}`));
    byId("later").checked = false;
    byId("later").parentElement.hidden = choice.retry;
    byId("confirm").showModal();
    byId("cancel").focus();
  }

  async #give() {
    byId("confirm").close();
    const button = byId("form").querySelector("button");
    button.disabled = true;
    this.#note("controls.giving");
    try {
      const { taken, workers } = await sendPause({ ...this.#choice, later: byId("later").checked });
      this.#note(workers > 0 ? "controls.taken" : "controls.nobody", { taken: number(taken), workers: number(workers) });
    } catch (error) {
      if (error.member === "later") this.#note("controls.unanswered");
      else this.#note("controls.failed", { reason: error.message || named("code", error.code) });
    }
    button.disabled = false;
    await this.#read();
  }

  #note(name, values) {
    byId("note").hidden = false;
    setText(byId("note"), t(name, values));
  }
}
