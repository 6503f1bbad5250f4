// Shows a failure and its remedy. One banner for failed requests and for requests that were not accepted.

import { setText } from "./dom.js";
import { linkToLife } from "./link.js";
import { duration, hasText, number, t } from "./text.js";

const RETRIES = new Set(["retry", "wait"]);

export class ErrorBanner {
  #banner = document.getElementById("banner");
  #retry = document.getElementById("banner-retry");
  #error;
  #key;
  #dismissed;
  #readyAt = 0;
  #timer;
  #again;

  /** `again(error)` repeats the failed request. */
  constructor(again) {
    this.#again = again;
    this.#retry.addEventListener("click", () => this.#isReady() && this.#again(this.#error));
    document.getElementById("banner-close").addEventListener("click", () => {
      this.#dismissed = this.#key;
      this.#draw();
    });
  }

  /** Shows an error, or nothing. The wait of `retryAfterMs` begins when the error is first shown. */
  show(error) {
    const key = error && `${error.requestId ?? ""} ${error.code} ${error.at ?? ""}`;
    if (key !== this.#key) {
      this.#key = key;
      this.#readyAt = performance.now() + (error?.retryAfterMs ?? 0);
    }
    this.#error = error;
    this.#draw();
  }

  #isReady() {
    return performance.now() >= this.#readyAt;
  }

  #draw() {
    clearTimeout(this.#timer);
    const error = this.#key === this.#dismissed ? undefined : this.#error;
    this.#banner.hidden = !error;
    if (!error) return;

    const operation = error.advice ? "" : `${hasText(`failed.${error.operation}`) ? t(`failed.${error.operation}`) : t("failed")} `;
    setText(document.getElementById("banner-title"), hasText(`code.${error.code}`) ? t(`code.${error.code}`) : t("code.unknown", { code: error.code }));
    setText(document.getElementById("banner-advice"), `${operation}${this.#advice(error)}`);
    setText(document.getElementById("banner-message"), [error.member, error.message].filter(Boolean).join(": "));

    linkToLife(document.getElementById("banner-life"), error);

    const retries = RETRIES.has(error.remedy) || (error.remedy === undefined && error.retryable === true);
    this.#retry.hidden = !retries;
    this.#count();
  }

  #advice(error) {
    if (error.advice) return error.advice;
    if (error.code === "unauthorized" && error.remedy === undefined) return t("remedy.ask-operator");
    const wait = duration(Math.ceil((error.retryAfterMs ?? 0) / 1000) * 1000);
    return hasText(`remedy.${error.remedy}`) ? t(`remedy.${error.remedy}`, { wait }) : t("remedy.retry");
  }

  /** Counts down on the button. It stays focusable, so that keyboard users keep their position. */
  #count() {
    const left = Math.ceil((this.#readyAt - performance.now()) / 1000);
    setText(this.#retry, left > 0 ? t("retry.in", { seconds: number(left) }) : t("retry"));
    this.#retry.setAttribute("aria-disabled", String(left > 0));
    if (left > 0) this.#timer = setTimeout(() => this.#count(), 200);
  }
}
