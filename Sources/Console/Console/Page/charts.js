// Two small charts of the last five minutes, drawn as SVG without a library: outcomes per second, and their latency.

import { el, setAttribute, setText, svg } from "./dom.js";
import { clock, duration, number, t } from "./text.js";

const SECONDS = 300;
/** The minimum width of the chart in seconds, for a console that has just started. */
const LEAST_SECONDS = 60;
/** The newest seconds, which an axis always covers. An older peak that is this many times higher than most values is cut. */
const [NEWEST_SECONDS, PEAK] = [15, 2];
const SPACE = { left: 54, right: 8, top: 10, bottom: 22 };

/** Returns the smallest round number that is not below `value`. Half of it is round as well. */
function roundedUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return [1, 1.2, 1.6, 2, 2.5, 3, 4, 5, 6, 8, 10].map((factor) => factor * power).find((round) => round >= value * 0.999);
}

/** Returns the value up to which an axis is readable: after a pause, a few old values must not flatten all others. */
function readable(values, newest) {
  const most = values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.9)] ?? 0;
  return Math.max(...newest, Math.min(Math.max(...values, 0), PEAK * most));
}

class Chart {
  #frame;
  #legend;
  #window;
  #drawing = svg("svg", { role: "img", class: "drawing" });
  #series;
  #format;
  #rates = [];
  #describe;
  #cutsPeaks;

  /** `series`: {name, label, value(rate)}; `format` formats an axis value; `describe(rates)` returns a summary in words. */
  constructor(name, { series, format, describe, cutsPeaks = false }) {
    this.#frame = document.getElementById(`${name}-chart`);
    this.#legend = document.getElementById(`${name}-legend`);
    this.#window = document.getElementById(`${name}-window`);
    this.#series = series;
    this.#format = format;
    this.#describe = describe;
    this.#cutsPeaks = cutsPeaks;
    this.#frame.replaceChildren(this.#drawing);
    this.#legend.replaceChildren(...series.map(({ name }) => el("li", { class: `key ${name}` }, el("span", {}), " ", el("strong", {}))));

    new ResizeObserver(() => this.draw(this.#rates)).observe(this.#frame);
  }

  draw(rates) {
    this.#rates = rates;
    const [width, height] = [this.#frame.clientWidth, this.#frame.clientHeight];
    if (width === 0) return;

    const last = rates.length > 0 ? Date.parse(rates.at(-1).at) : Date.now();
    const seconds = Math.max(LEAST_SECONDS, rates.length > 0 ? (last - Date.parse(rates[0].at)) / 1000 : 0);
    const x = (rate) => width - SPACE.right - ((last - Date.parse(rate.at)) / 1000 / seconds) * (width - SPACE.left - SPACE.right);
    const valuesOf = (rates) => rates.flatMap((rate) => this.#series.map(({ value }) => value(rate))).filter(Number.isFinite);
    const values = valuesOf(rates);
    const newest = valuesOf(rates.filter(({ at }) => last - Date.parse(at) < NEWEST_SECONDS * 1000));
    const top = roundedUp((this.#cutsPeaks ? readable(values, newest) : Math.max(...values, 0)) || 1);
    const y = (value) => height - SPACE.bottom - Math.min(value / top, 1) * (height - SPACE.top - SPACE.bottom);
    const peak = Math.max(...values, 0);
    const cut = peak > top && svg("text", { class: "peak", x: width - SPACE.right, y: SPACE.top + 13, "text-anchor": "end" }, t("chart.peak", { value: this.#format(peak) }));

    setAttribute(this.#drawing, "viewBox", `0 0 ${width} ${height}`);
    setAttribute(this.#drawing, "aria-label", rates.length > 0 ? this.#describe(rates) : t("chart.waiting"));
    this.#drawing.replaceChildren(...this.#axes({ width, height, top, y, seconds }), ...this.#lines(rates, { x, y }), ...(cut ? [cut] : []));
    this.#label(this.#newest(rates));
  }

  /** Returns the newest second with a value. A second without results has no latency. */
  #newest(rates) {
    return rates.findLast((rate) => this.#series.some(({ value }) => Number.isFinite(value(rate)))) ?? rates.at(-1);
  }

  #axes({ width, height, top, y, seconds }) {
    const values = [0, top / 2, top];
    return [
      ...values.map((value) => svg("path", { class: "line", d: `M${SPACE.left} ${Math.round(y(value)) + 0.5}H${width - SPACE.right}` })),
      ...values.map((value) => svg("text", { x: SPACE.left - 8, y: y(value) + 4, "text-anchor": "end" }, this.#format(value))),
      svg("text", { x: SPACE.left, y: height - 5 }, t("ago", { time: duration(seconds * 1000) })),
      svg("text", { x: width - SPACE.right, y: height - 5, "text-anchor": "end" }, t("now")),
    ];
  }

  /** Draws lines. A second without results has no latency, so the line has a gap there. A second between two gaps is a dot. */
  #lines(rates, { x, y }) {
    return this.#series.flatMap(({ name, value }) => {
      const has = (index) => index >= 0 && index < rates.length && Number.isFinite(value(rates[index]));
      const place = (rate) => `${x(rate).toFixed(1)} ${y(value(rate)).toFixed(1)}`;
      const line = rates.map((rate, index) => (has(index) ? `${has(index - 1) ? "L" : "M"}${place(rate)}` : ""));
      const dots = rates.map((rate, index) => (has(index) && !has(index - 1) && !has(index + 1) ? `M${place(rate)}h0` : ""));
      return [svg("path", { class: `curve ${name}`, d: line.join("") || "M0 0" }), svg("path", { class: `dots ${name}`, d: dots.join("") || "M0 0" })];
    });
  }

  #label(rate) {
    this.#series.forEach(({ label, value }, index) => {
      const [name, figure] = this.#legend.children[index].children;
      setText(name, label());
      const shown = rate && value(rate);
      setText(figure, Number.isFinite(shown) ? this.#format(shown) : "–");
    });
    setText(this.#window, rate ? t("chart.second", { time: clock(rate.at) }) : "");
  }
}

export class Charts {
  #rates = [];
  #latest = () => this.#rates.at(-1);

  #rate = new Chart("rate", {
    series: [
      { name: "completed", label: () => t("completed"), value: ({ completed }) => completed },
      { name: "failed", label: () => t("failures"), value: ({ failed }) => failed },
    ],
    format: (value) => number(value, value < 5 && value % 1 ? 1 : 0),
    describe: (rates) => t("chart.rate", {
      minutes: SECONDS / 60, completed: number(this.#latest().completed), failed: number(this.#latest().failed),
      most: number(Math.max(...rates.map(({ completed, failed }) => completed + failed))),
    }),
  });

  #latency = new Chart("latency", {
    series: ["p50", "p95", "p99"].map((name) => ({ name, label: () => name, value: ({ latencyMs }) => latencyMs?.[name] })),
    format: (value) => duration(value),
    cutsPeaks: true,
    describe: (rates) => {
      const newest = rates.findLast(({ latencyMs }) => latencyMs)?.latencyMs;
      return t("chart.latency", { minutes: SECONDS / 60, ...Object.fromEntries(["p50", "p95", "p99"].map((name) => [name, duration(newest?.[name])])) });
    },
  });

  /** Adds seconds. The first event of a connection has those of the last minutes. */
  add(rates) {
    // After a pause of the console, the seconds before it may be old.
    const oldest = Date.parse(rates.at(-1).at) - SECONDS * 1000;
    this.#rates = [...this.#rates.filter(({ at }) => at < rates[0].at), ...rates].filter(({ at }) => Date.parse(at) > oldest);
    this.#rate.draw(this.#rates);
    this.#latency.draw(this.#rates);
  }
}
