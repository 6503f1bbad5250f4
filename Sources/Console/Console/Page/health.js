// Whether requests can be processed: checks the browser's network, the console, Kafka and the workers, in this order.

import { setText } from "./dom.js";
import { t } from "./text.js";

const FAULTS = { "brokers-away": "broker-away", "no-worker": "no-worker", "workers-not-ready": "not-ready" };
/** States in which requests are processed, but not well: the header names them too. */
const TROUBLES = { "answers-with-errors": "failing", "partitions-unread": "unread" };
/** A fault must last this long before it is shown; shorter ones occur while a console or a worker restarts. */
const SETTLING = 1000;

export class Health {
  #note = document.getElementById("connection");
  #connection = "open";
  #isSettled = true;
  #timer;
  #onChange;

  /** The newest report of the pipeline. */
  report = { verdict: "unknown" };
  /** The time of the console's last event, by this page's clock. */
  reportedAt = -Infinity;

  /** `onChange()` is called when the fault may have changed. */
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

  /** The first missing link of the chain that processes a request; undefined if none is known to be missing. */
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
    this.#draw();
    this.#onChange();
  }

  /** Draws the note in the page's header. */
  #draw() {
    const note = this.fault ?? (this.#isSettled ? TROUBLES[this.report.verdict] : undefined);
    this.#note.hidden = !note;
    if (note) setText(this.#note.lastElementChild, t(`connection.${note}`));
  }
}
