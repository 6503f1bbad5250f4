// The traffic page: one event stream supplies the table of outcomes, the charts, the fleet's card and the workers' cards.

import { getDeadLetters } from "./api.js";
import { Charts } from "./charts.js";
import { Controls } from "./controls.js";
import { setText } from "./dom.js";
import { showFleet, showWorkers } from "./fleet.js";
import { Health } from "./health.js";
import { OutcomeTable } from "./outcomes.js";
import { RecordView } from "./record.js";
import { reasonOf, summaryOf } from "./redrive.js";
import { follow } from "./stream.js";
import { t } from "./text.js";

/** The console reads the topic for each count, so a hidden page requests none. */
const BETWEEN_COUNTS = 20_000;

const charts = new Charts();
const record = new RecordView({ closed: (id) => outcomes.focusRow(id) });
const outcomes = new OutcomeTable({ open: (outcome) => record.open(outcome) });
const health = new Health();
const controls = new Controls();

showFleet(health.report);

follow(() => `api/traffic/events${outcomes.lastId ? `?after=${outcomes.lastId}` : ""}`, {
  outcomes: (batch) => outcomes.add(batch),
  rates: ({ rates }) => charts.add(rates),
  pipeline: (report) => {
    health.setReport(report);
    showFleet(report);
  },
  workers: ({ workers }) => {
    showWorkers(workers);
    controls.follow(workers);
  },
}, (status) => health.setConnection(status));

startDeadCard();

/** The card that counts dead letters, which have a separate page. */
function startDeadCard() {
  const summary = document.getElementById("dead-summary");
  let isCounting = false;
  const count = async () => {
    if (document.hidden || isCounting) return;
    isCounting = true;
    setText(summary, await getDeadLetters({ limit: 1 }).then(summaryOf, (error) => t("dead.failed", { reason: reasonOf(error) })));
    isCounting = false;
  };

  setText(summary, t("dead.loading"));
  count();
  setInterval(count, BETWEEN_COUNTS);
  document.addEventListener("visibilitychange", count);
}
