"""A real Prometheus scrapes two workers under load, and every question of the dashboard and of the alerts has an
answer.
"""

import json
import math
import os
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from harness.lab import Experiment, Lab
from harness.mixture import Mixture
from harness.prometheus import Dashboard, Prometheus
from harness.provider import fault
from harness.traffic import request

# The rules run on a clock that is so many times faster; in the long form they are left as they are.
TIMES_FASTER = 60

# Metrics that a worker has only under conditions that are not met here.
ABSENT = {
    "locsearch_topic_blocked": "no topic is blocked",
    "locsearch_partition_blocked": "no partition is blocked",
    "locsearch_requests_past_half_retention": "the embedded broker tells no topic's settings",
    "locsearch_control_active": "nobody has ordered anything",
    "locsearch_group_members": "the console has it, which knows of groups without workers",
    "locsearch_group_waiting": "the console has it",
    "locsearch_group_completions_per_second": "the console has it",
}
# Panels that are empty where all is well.
MAY_BE_EMPTY = {"Who waits for their turn?": "every request has its turn at once"}


def has_values(series: list[dict]) -> bool:
    return any(not math.isnan(float(one["value"][1])) for one in series)


def empty_queries(prometheus: Prometheus, dashboard: Dashboard) -> list[str]:
    """Returns the queries of the dashboard that give nothing, each behind its panel's title."""
    panels = [panel for panel in dashboard.panels if panel["title"] not in MAY_BE_EMPTY]
    queries = [(panel["title"], query) for panel in panels for query in dashboard.queries(panel)]
    return [f"{title}: {query}" for title, query in queries if not has_values(prometheus.query(query))]


def rule_problems(prometheus: Prometheus) -> list[str]:
    """Returns what is wrong with the rules: those that cannot be evaluated, and those that ask for what no worker
    has.
    """
    problems = []
    for rule in prometheus.rules():
        if rule["health"] != "ok":
            problems.append(f"{rule['name']} is {rule['health']}: {rule.get('lastError')}")
        bare = re.sub(r"\{[^}]*\}", "", rule["query"])
        for metric in set(re.findall(r"\b(?:locsearch|process)_\w+", bare)):
            if metric not in ABSENT and not prometheus.query(f"count({metric})"):
                problems.append(f"{rule['name']} asks for {metric}, which no worker has")
    return problems


def usual_mixture(lab: Lab) -> Mixture:
    """Makes some of everything that the dashboard shows: retries, errors, shared and wasted calls, dead letters."""
    mixture = Mixture(lab.sender)
    mixture.set("hotpepper", 55)
    mixture.set("batch", 5, priority="batch")
    mixture.set("google", 25, provider="google-places")
    mixture.set("retried", 4, keyword=fault("503*1"))
    mixture.set("rejected-by-provider", 2, keyword=fault("404"))
    mixture.set("slow", 2, provider="google-places", keyword=fault("hang"), timeoutMs=400)
    mixture.set("same", 10, location={"latitude": 35.0, "longitude": 139.0}, keyword=fault("delay=300"))
    mixture.set("typing", 6, lambda id, number: typed(lab, id, number))
    mixture.set("no-request", 2, lambda id, number: lab.sender.send(None, b'{"location":"nowhere"}', id, bad=True))
    return lab._observe(mixture)


class Collector(BaseHTTPRequestHandler):
    """A trace collector that takes everything and keeps nothing."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_) -> None:
        pass

    @classmethod
    def start(cls) -> str:
        """Returns its address. It ends with this process."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), cls)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"


def typed(lab: Lab, id: str, number: int) -> None:
    """Sends one of three searches that a person makes within half a second: each supersedes the one before."""
    session = f"session{number // 3}"
    lab.sender.send(
        id,
        request(id, number, sessionId=session, keyword=fault("delay=600")),
        session,
        partition=number // 3 % lab.partitions,
        session=session,
    )


def run(lab: Lab) -> None:
    times_faster, interval = lab.size((TIMES_FASTER, "5s"), (1, "20s"))
    prometheus = Prometheus(lab.processes, lab.folder, times_faster, scrape_every=lab.size(0.5, 2))
    dashboard = Dashboard(interval)
    lab.begin()
    lab.provider.varied_latency(60, 300)
    fleet = lab.workers(
        2,
        topics__requests=f"{lab.topics.requests}:interactive+batch",
        providers__googlePlaces__requestsPerSecond=200,
        providers__hotpepper__callsPerDay=1_000_000,
        tracing__endpoint=Collector.start(),
        tracing__sampleRatio=0.1,
    )
    for worker in fleet.workers.values():
        prometheus.watch(f"worker-{worker.index + 1}", worker.admin_port)
    mixture = usual_mixture(lab)

    began = time.time()
    if lab.long:
        story(lab, mixture)
    empty = ["not asked yet"]
    deadline = time.monotonic() + 30
    while empty and time.monotonic() < deadline:
        time.sleep(0.5)
        empty = empty_queries(prometheus, dashboard)
    for query in empty:
        lab.check(False, f"empty under load: {query}")
    for problem in rule_problems(prometheus):
        lab.check(False, problem)

    lab.figure(
        "panels",
        f"{len(dashboard.panels)}, {sum(len(panel['targets']) for panel in dashboard.panels)} queries, "
        f"{len(empty)} of them empty",
    )
    lab.figure("alert rules", len(prometheus.rules()))
    lab.figure("series", round(prometheus.number('count({job="locsearch"})') or 0))
    for worker in fleet.workers.values():
        lab.figure(
            f"series of worker-{worker.index + 1}",
            round(prometheus.number(f'scrape_samples_scraped{{instance="worker-{worker.index + 1}"}}') or 0),
        )
    if lab.long:
        # `make dashboard-picture` says where it looks for them.
        panels = Path(os.environ.get("LOCSEARCH_PANELS") or lab.folder / "panels.json")
        panels.write_text(json.dumps(recorded(prometheus, dashboard, began, time.time())))
    mixture.stop()
    lab.end()


def story(lab: Lab, mixture: Mixture) -> None:
    """Six minutes in the life of two workers, for the picture: a calm, a peak, a provider in trouble, and a calm
    again.
    """
    time.sleep(90)
    lab.say("peak")
    mixture.set("peak", 200)
    time.sleep(80)
    mixture.set("peak", 0)
    time.sleep(40)
    lab.say("a provider fails")
    mixture.set("google", 0)
    mixture.set("failing", 30, provider="google-places", keyword=fault("503"))
    time.sleep(70)
    mixture.set("failing", 0)
    mixture.set("google", 25)
    time.sleep(80)


def recorded(prometheus: Prometheus, dashboard: Dashboard, start: float, end: float) -> dict:
    """Returns what each panel showed from start to end."""
    step = max(1, round((end - start) / 300))
    panels = {
        panel["id"]: [prometheus.query_range(query, start, end, step) for query in dashboard.queries(panel)]
        for panel in dashboard.panels
    }
    return {"start": start, "end": end, "panels": panels}


EXPERIMENTS = [
    Experiment(
        "dashboard",
        "a real Prometheus scrapes two workers under load: no query of the dashboard is empty, each "
        "alert rule can be evaluated",
        run,
        seconds=(90, 900),
    )
]
