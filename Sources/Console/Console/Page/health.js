// Whether a request gets through: the browser's network, the console, Kafka and the workers, in this order.

import { setText } from "./dom.js";
import { t } from "./text.js";

const FAULTS = { "brokers-away": "broker-away", "no-worker": "no-worker", "workers-not-ready": "not-ready" };
/** A fault that shows for a moment only, as while a console or a worker starts anew, is none. */
const SETTLING = 1000;

export class Health {
  #note = document.getElementById("connection");
  #connection = "open";
  #isSettled = true;
  #timer;
  #onChange;

  /** The newest report of the pipeline. */
  report = { verdict: "unknown" };
  /** When the console last told something, by this page's clock. */
  reportedAt = -Infinity;

  /** `onChange()` is called when there may be another fault. */
  constructor(onChange = () => {}) {
    this.#onChange = onChange;
    for (const change of ["online", "offline"]) addEventListener(change, () => this.#changed());
  }

  /** Takes `open` or `lost`. */
  setConnection(status) {
    if (status !== this.#connection) this.#settle();
    this.#connection = status;
    document.documentElement.dataset.connection = status;
    this.#changed();
  }

  setReport(report) {
    if (report.verdict !== this.report.verdict) this.#settle();
    this.report = report;
    this.reportedAt = performance.now();
    this.#changed();
  }

  /** Whether the page's connection to the console is lost. */
  get isLost() {
    return this.#connection === "lost";
  }

  /** The first thing on a request's way that is not there; undefined when all of it is, as far as that is known. */
  get fault() {
    if (this.isLost) return navigator.onLine ? "console-away" : "offline";
    return this.#isSettled ? FAULTS[this.report.verdict] : undefined;
  }

  #settle() {
    this.#isSettled = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isSettled = true;
      this.#changed();
    }, SETTLING);
  }

  #changed() {
    this.draw();
    this.#onChange();
  }

  /** Draws the note in the page's head. */
  draw() {
    const { fault } = this;
    this.#note.hidden = !fault;
    if (fault) setText(this.#note.lastElementChild, t(`connection.${fault}`));
  }
}
