// The traffic page: one event stream supplies the table of outcomes, the charts, the fleet's card and the workers' cards.

import { getDeadLetters } from "./api.js";
import { Charts } from "./charts.js";
import { Controls } from "./controls.js";
import { setText } from "./dom.js";
import { showFleet, showWorkers } from "./fleet.js";
import { Health } from "./health.js";
import { OutcomeTable } from "./outcomes.js";
import { startPreferences } from "./preferences.js";
import { RecordView } from "./record.js";
import { reasonOf } from "./redrive.js";
import { follow } from "./stream.js";
import { clock, number, onLanguage, t } from "./text.js";

/** The console reads the topic for each count, so a hidden page requests none. */
const BETWEEN_COUNTS = 20_000;

startPreferences();

const charts = new Charts();
const record = new RecordView({ closed: (id) => outcomes.focusRow(id) });
const outcomes = new OutcomeTable({ open: (outcome) => record.open(outcome) });
let workers = [];
const health = new Health();
const controls = new Controls();

onLanguage(() => {
  charts.draw();
  outcomes.relabel();
  record.draw();
  showFleet(health.report);
  showWorkers(workers);
  controls.draw();
  health.draw();
});
showFleet(health.report);

follow(() => `/api/traffic/events${outcomes.lastId ? `?after=${outcomes.lastId}` : ""}`, {
  outcomes: (batch) => outcomes.add(batch),
  history: ({ rates }) => charts.begin(rates),
  rates: (rate) => charts.add(rate),
  pipeline: (report) => {
    health.setReport(report);
    showFleet(report);
  },
  workers: (event) => {
    workers = event.workers;
    showWorkers(workers);
    controls.follow(workers);
  },
}, (status) => health.setConnection(status));

startDeadCard();

/** The card that counts dead letters, which have a separate page. */
function startDeadCard() {
  const summary = document.getElementById("dead-summary");
  let draw = () => setText(summary, t("dead.loading"));
  let isCounting = false;

  const show = (next) => {
    draw = next;
    draw();
  };
  const counted = ({ total, pending, isPartial, readAt }) => {
    const name = total === 0 ? "dead.none" : isPartial ? "dead.summary.newest" : "dead.summary";
    show(() => setText(summary, `${t(name, { total: number(total), pending: number(pending) })} ${t("dead.as-of", { time: clock(readAt) })}`));
  };
  const failed = (error) => show(() => setText(summary, t("dead.failed", { reason: reasonOf(error) })));
  const count = async () => {
    if (document.hidden || isCounting) return;
    isCounting = true;
    await getDeadLetters({ limit: 1 }).then(counted, failed);
    isCounting = false;
  };

  onLanguage(() => draw());
  draw();
  count();
  setInterval(count, BETWEEN_COUNTS);
  document.addEventListener("visibilitychange", count);
}
