// The traffic page: one event stream supplies the table of outcomes, the charts, the fleet's card and the workers' cards.

import { Charts } from "./charts.js";
import { Controls } from "./controls.js";
import { startDeadCard } from "./deadcard.js";
import { Health } from "./health.js";
import { OutcomeTable } from "./outcomes.js";
import { showFleet } from "./fleet.js";
import { startPreferences } from "./preferences.js";
import { RecordView } from "./record.js";
import { follow } from "./stream.js";
import { onLanguage } from "./text.js";
import { showWorkers } from "./workers.js";

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
