// One whole dead letter: its fault, record and origin. It can be corrected as text, which the console checks during typing.

import { getDeadLetter, judgeLetter } from "./api.js";
import { el, setAttribute, setText } from "./dom.js";
import { copyButton, facts, indented, recordBody, recordHead, recordPlace } from "./record.js";
import { canGoAgain, canGoBack, expires, faultWords, reasonOf, stateOf } from "./redrive.js";
import { moment, number, shortened, t } from "./text.js";

const byId = (id) => document.getElementById(id);
const MILLISECONDS_AFTER_A_KEY = 350;

/** Returns the command that sends one letter back, for letters that the console does not send. */
const forceCommand = ({ partition, offset }) =>
  `locsearch dead-letters redrive --force --reason crashed-workers --partition ${partition} --from-offset ${offset} --to-offset ${offset + 1}`;

/** Returns the bytes of a letter as editable text. Bytes that are not UTF-8 are shown as such. */
function textOf({ value, valueBase64 }) {
  if (valueBase64 === undefined) return indented(value ?? "");
  return new TextDecoder().decode(Uint8Array.from(atob(valueBase64), (character) => character.charCodeAt(0)));
}

export class LetterView {
  #drawer = byId("letter");
  #body = byId("letter-body");
  #actions;
  #position;
  #letter;
  #problem;
  #editor;

  /** `actions`: closed(position), send(letter, value). */
  constructor(actions) {
    this.#actions = actions;
    byId("letter-close").addEventListener("click", () => this.close());
    this.#drawer.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    addEventListener("beforeunload", (event) => this.#editor?.isChanged && event.preventDefault());
  }

  get position() {
    return this.#position;
  }

  close() {
    if (this.#editor?.isChanged && !confirm(t("letter.leave"))) return;
    const position = this.#position;
    this.#drawer.hidden = true;
    this.#position = this.#editor = undefined;
    this.#actions.closed(position);
  }

  async open(position) {
    if (this.#editor?.isChanged && !confirm(t("letter.leave"))) return;
    this.#position = position;
    this.#letter = this.#problem = this.#editor = undefined;
    this.#drawer.hidden = false;
    this.#draw();
    this.#drawer.focus();
    await this.reload();
  }

  /** Closes the editor of a letter whose text was sent. */
  sent(letters) {
    if (letters.some(({ partition, offset }) => partition === this.#position?.partition && offset === this.#position.offset)) this.#editor = undefined;
  }

  /** Reads the letter, which may have gone back meanwhile. Edited text stays, unless the letter has gone back since. */
  async reload() {
    const position = this.#position;
    if (!position) return;
    const wasPending = this.#letter && !this.#letter.redriven;
    try {
      const letter = await getDeadLetter(position);
      if (this.#position !== position) return;
      [this.#letter, this.#problem] = [letter, undefined];
    } catch (error) {
      if (this.#position !== position) return;
      [this.#letter, this.#problem] = [undefined, error];
    }
    if (wasPending && this.#letter?.redriven) this.#editor = undefined;
    if (!this.#editor || this.#problem) this.#draw();
  }

  #draw() {
    if (!this.#position) return;
    setText(byId("letter-heading"), t("letter.at", this.#position));
    if (this.#problem) {
      const text = this.#problem.code === "forgotten" ? t("letter.gone", this.#position) : t("record.failed", { reason: reasonOf(this.#problem) });
      this.#editor = undefined;
      return this.#body.replaceChildren(el("p", { class: "note", role: "status" }, text));
    }
    if (!this.#letter) return this.#body.replaceChildren(el("p", { class: "faint", role: "status" }, t("record.loading")));
    this.#body.replaceChildren(this.#facts(), this.#now(), this.#record(), this.#places());
  }

  #facts() {
    const { reason, message, member, producer, time, worker, tries, requestId } = this.#letter;
    return el("div", { class: "record-facts" },
      el("h3", {}, t("letter.why")),
      el("p", {}, el("span", { class: "code bad" }, shortened(reason, 60))), el("p", { dir: "auto", lang: "en" }, shortened(message, 1000)),
      facts([
        ["letter.member", member], ["letter.producer", producer ?? t("dead.producer.none")], ["letter.time", moment(time)],
        ["letter.worker", worker], ["letter.tries", tries === undefined ? undefined : t("letter.tries.ended", { count: number(tries) })],
      ]),
      requestId && el("p", { class: "faint" }, t("letter.request", { id: shortened(requestId, 128) })));
  }

  /** Shows the result of sending the letter back now, and the buttons of the possible actions. */
  #now() {
    const letter = this.#letter;
    const kind = stateOf(letter);
    const parts = [el("h3", {}, t("letter.now")), el("p", { class: kind === "request" ? "verdict is-good" : "verdict", id: "letter-now" }, t(`letter.now.${kind}`))];
    if (kind === "fault") parts.push(el("p", { dir: "auto", lang: "en" }, ...faultWords(letter.faultMember, letter.fault)));
    if (kind === "crashing" && Number.isSafeInteger(letter.offset)) {
      const command = forceCommand(letter);
      parts.push(el("div", { class: "where" }, el("code", { class: "code-text" }, command), copyButton(command, t("copy"))));
    }
    if (canGoBack(letter) || canGoAgain(letter)) {
      if (letter.expiry) parts.push(el("p", { id: "letter-expiry" }, t(expires(letter) ? "letter.expired" : "letter.expires", { time: moment(letter.expiry) })));
      parts.push(el("div", { class: "letter-actions" },
        el("button", { type: "button", class: "small", id: "letter-edit", disabled: Boolean(this.#editor), onclick: () => this.#edit() }, t("letter.edit")),
        el("button", { type: "button", class: "small", id: "letter-send", disabled: Boolean(this.#editor), onclick: () => this.#actions.send(letter) }, t(letter.redriven ? "letter.send.again" : "letter.send"))));
    }
    return el("div", { class: "letter-now" }, ...parts);
  }

  #edit() {
    this.#editor = new Editor(this.#position, this.#letter, {
      cancel: () => {
        this.#editor = undefined;
        this.#draw();
        byId("letter-edit")?.focus();
      },
      send: (value) => this.#actions.send(this.#letter, value),
    });
    this.#draw();
    this.#editor.focus();
  }

  #record() {
    if (this.#letter.withoutContent) return "";
    const value = this.#editor ? [this.#editor.element] : recordBody(this.#letter);
    return el("div", { class: "letter-record" }, ...value, ...recordHead(this.#letter));
  }

  #places() {
    return el("div", {},
      recordPlace("letter.from", this.#letter),
      el("div", { class: "where" }, el("h3", {}, t("letter.where")), el("p", {}, t("letter.where.at", this.#letter.letter))));
  }
}

/** The editor of a letter's value. The console checks it during typing, by the workers' rules. */
class Editor {
  #position;
  #actions;
  #field;
  #verdict = el("p", { class: "verdict", id: "letter-verdict", role: "status" });
  #send;
  #original;
  #timer;
  #round = 0;
  /** The last check: `{}` before the first one, `{ fault }`, or `{ problem }`. */
  #answer = { isJudging: true };

  constructor(position, letter, actions) {
    this.#position = position;
    this.#actions = actions;
    this.#field = el("textarea", { id: "letter-text", class: "code-text", spellcheck: "false", autocomplete: "off", "aria-describedby": "letter-verdict", oninput: () => this.#typed() });
    // A text area changes line breaks, so the original text is the one that it returns.
    this.#field.value = textOf(letter);
    this.#original = this.#field.value;
    this.#field.rows = Math.min(Math.max(this.#original.split("\n").length + 1, 6), 24);
    this.#send = el("button", { type: "button", class: "primary", id: "letter-send-edited", onclick: () => this.#actions.send(this.isChanged ? this.#field.value : undefined) });
    const cancel = el("button", { type: "button", class: "small", id: "letter-cancel", onclick: () => this.#leave() }, t("letter.edit.cancel"));
    this.element = el("div", { class: "letter-editor" }, el("h3", {}, el("label", { for: "letter-text" }, t("letter.edit.label"))),
      this.#field, this.#verdict, el("div", { class: "letter-actions" }, this.#send, cancel));
    this.#drawVerdict();
    this.#judge();
  }

  get isChanged() {
    return this.#field.value !== this.#original;
  }

  focus() {
    this.#field.focus();
    this.#field.setSelectionRange(0, 0);
  }

  #leave() {
    clearTimeout(this.#timer);
    this.#round += 1;
    this.#actions.cancel();
  }

  #typed() {
    this.#answer = { isJudging: true };
    this.#drawVerdict();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#judge(), MILLISECONDS_AFTER_A_KEY);
  }

  async #judge() {
    const round = ++this.#round;
    let answer;
    try {
      answer = await judgeLetter(this.#position, this.#field.value);
    } catch (error) {
      answer = { problem: error };
    }
    if (round !== this.#round) return;
    this.#answer = answer;
    this.#drawVerdict();
  }

  #drawVerdict() {
    const { isJudging, fault, problem } = this.#answer;
    this.#verdict.classList.toggle("is-good", !isJudging && !fault && !problem);
    this.#verdict.classList.toggle("is-bad", Boolean(fault));
    if (isJudging) setText(this.#verdict, t("letter.judging"));
    else if (problem) setText(this.#verdict, t("letter.unjudged", { reason: reasonOf(problem) }));
    else if (fault) this.#verdict.replaceChildren(`${t("letter.invalid")} `, el("span", { lang: "en", dir: "auto" }, ...faultWords(fault.member, fault.message)));
    else setText(this.#verdict, t("letter.valid"));
    setAttribute(this.#field, "aria-invalid", fault ? "true" : undefined);
    setText(this.#send, t(this.isChanged ? "letter.send.edited" : "letter.send"));
    // An unchanged letter may go back although it may return; an edited one must be a valid request.
    this.#send.disabled = Boolean(isJudging || problem || (fault && this.isChanged));
  }
}
