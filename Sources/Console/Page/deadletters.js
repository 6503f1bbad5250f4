// Dead letters: the records that could not be read as a request. Listed, chosen, and sent once more after a confirmation.

import { getDeadLetters, redrive } from "./api.js";
import { el, setText } from "./dom.js";
import { lifeLink } from "./lifelink.js";
import { clock, hasText, number, onLanguage, shortened, t } from "./text.js";

const byId = (id) => document.getElementById(id);
/** A letter that went back already, or whose content the topic did not take, is only shown. */
const canGoBack = ({ isRedriven, isWithoutContent }) => !isRedriven && !isWithoutContent;
const nameOf = ({ partition, offset }) => `${partition}-${offset}`;

export class DeadLetters {
  #dialog = byId("dead");
  #confirm = byId("confirm");
  #rows = byId("dead-rows");
  #chosen = new Set();
  #answer;

  constructor() {
    byId("dead-open").addEventListener("click", () => {
      this.#dialog.showModal();
      this.#list();
    });
    byId("dead-close").addEventListener("click", () => this.#dialog.close());
    byId("dead-list").addEventListener("click", () => this.#list());
    byId("dead-all").addEventListener("change", (event) => this.#chooseAll(event.target.checked));
    byId("dead-redrive").addEventListener("click", () => this.#ask());
    byId("confirm-cancel").addEventListener("click", () => this.#confirm.close());
    byId("confirm-do").addEventListener("click", () => this.#redrive());
    onLanguage(() => this.#draw());
    this.#list();
  }

  /** Reads the topic. What was chosen stays so as long as it can go back. */
  async #list() {
    const button = byId("dead-list");
    button.disabled = true;
    setText(byId("dead-summary"), t("dead.loading"));
    try {
      this.#answer = await getDeadLetters();
      this.#chosen = new Set(this.#selectable().map(nameOf).filter((name) => this.#chosen.has(name)));
    } catch (error) {
      this.#note("dead.failed", error);
      this.#answer = undefined;
    }
    button.disabled = false;
    this.#draw();
  }

  #note(name, values) {
    const reason = values instanceof Error ? values.message || (hasText(`code.${values.code}`) ? t(`code.${values.code}`) : values.code) : "";
    const note = byId("dead-note");
    setText(note, t(name, values instanceof Error ? { reason } : values));
    note.hidden = false;
    if (values instanceof Error) setText(byId("dead-summary"), t(name, { reason }));
  }

  #draw() {
    const { letters = [], total = 0, pending = 0, isPartial = false } = this.#answer ?? {};
    if (this.#answer) setText(byId("dead-summary"), total > 0 ? t(isPartial ? "dead.summary.newest" : "dead.summary", { total: number(total), pending: number(pending) }) : t("dead.none"));
    byId("dead-none").hidden = letters.length > 0;
    setText(byId("dead-none"), this.#answer ? t("dead.none") : "");
    this.#rows.replaceChildren(...letters.map((letter) => this.#row(letter)));
    this.#drawChoice();
  }

  #row(letter) {
    const { partition, offset, time, reason, source, valueHead, isRedriven, isWithoutContent } = letter;
    const box = el("input", { type: "checkbox", "aria-label": t("dead.select", { partition, offset }), disabled: !canGoBack(letter) });
    box.checked = this.#chosen.has(nameOf(letter));
    box.addEventListener("change", () => {
      if (box.checked) this.#chosen.add(nameOf(letter));
      else this.#chosen.delete(nameOf(letter));
      this.#drawChoice();
    });
    return el("tr", { class: isRedriven && "is-done" },
      el("td", {}, box),
      el("td", { class: "time" }, time ? `${new Date(time).toLocaleDateString(document.documentElement.lang)} ${clock(time)}` : "–"),
      el("td", {}, source ? lifeLink({ source }, `${shortened(source.topic, 60)} ${source.partition}/${source.offset}`) : "–"),
      el("td", { class: "reason", dir: "auto" }, shortened(reason ?? "", 300), isRedriven && el("span", { class: "code good" }, t("dead.redriven"))),
      el("td", { class: "value", dir: "auto" }, isWithoutContent ? el("span", { class: "faint" }, t("dead.empty")) : shortened(valueHead ?? "", 300)));
  }

  #selectable() {
    return (this.#answer?.letters ?? []).filter(canGoBack);
  }

  #chooseAll(isChosen) {
    this.#chosen = new Set(isChosen ? this.#selectable().map(nameOf) : []);
    this.#draw();
  }

  #drawChoice() {
    const [count, most] = [this.#chosen.size, this.#selectable().length];
    const button = byId("dead-redrive");
    setText(button, count > 0 ? t("dead.redrive.count", { count: number(count) }) : t("dead.redrive"));
    button.disabled = count === 0;
    const all = byId("dead-all");
    all.disabled = most === 0;
    all.checked = count > 0 && count === most;
    all.indeterminate = count > 0 && count < most;
  }

  /** Nothing is sent before this question has been answered. The button that does nothing has the focus. */
  #ask() {
    setText(byId("confirm-title"), t("dead.confirm", { count: number(this.#chosen.size) }));
    setText(byId("confirm-text"), t("dead.confirm.text", { topic: this.#letters()[0].source?.topic ?? "" }));
    this.#confirm.showModal();
    byId("confirm-cancel").focus();
  }

  /** The letters that are chosen. */
  #letters() {
    return this.#selectable().filter((letter) => this.#chosen.has(nameOf(letter)));
  }

  async #redrive() {
    const letters = this.#letters().map(({ partition, offset }) => ({ partition, offset }));
    byId("confirm-do").disabled = true;
    try {
      const { redriven, deleted } = await redrive(this.#answer.confirm, letters);
      await this.#list();
      this.#note("dead.done", { redriven: number(redriven), deleted: number(deleted) });
    } catch (error) {
      if (error.code === "changed") await this.#list();
      this.#note(error.code === "changed" ? "dead.changed" : "dead.failed", error.code === "changed" ? {} : error);
    } finally {
      byId("confirm-do").disabled = false;
      this.#confirm.close();
    }
  }
}
