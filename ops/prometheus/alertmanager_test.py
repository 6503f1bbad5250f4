#!/usr/bin/env python3
"""Lets causes happen to a real Alertmanager, which runs on alertmanager.yaml, and counts pages: one cause is one page.

    tools/setup alerts && ops/grafana/.venv/bin/python ops/prometheus/alertmanager_test.py

Each cause has an Alertmanager of its own. Its clock is sixty times faster: the durations of the file are divided by
sixty, and nothing else is changed. What a cause lets fire is what the experiment `alerts` and the runbooks tell of it.
"""

import http.server
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import check
import yaml

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
RULES = {alert["alert"]: alert for alert in check.alerts_of(yaml.safe_load((HERE / "alerts.yaml").read_text()))}
SECONDS = {"m": 60, "h": 3600, "d": 86400}
WITHIN = 60.0
LISTENING = re.compile(r'msg="Listening on" address=(\S+)')
PROGRAM = shutil.which("alertmanager") or "prometheus-alertmanager"  # the second is Debian's name


@dataclass(frozen=True)
class Cause:
    """Alerts that fire within a minute of each other, those that follow after minutes, and what people are told."""

    name: str
    together: list[dict[str, str]]
    later: list[dict[str, str]] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    tickets: list[str] = field(default_factory=list)


def alert(name: str, **labels: str) -> dict[str, str]:
    return {"alertname": name, "job": "w", **labels}


def each(name: str, instances: int = 5, **labels: str) -> list[dict[str, str]]:
    return [alert(name, instance=f"worker-{number}", **labels) for number in range(instances)]


def annotations(labels: dict[str, str]) -> dict[str, str]:
    """Returns an alert's texts, with its labels in them as Prometheus puts them there."""

    def filled(text: str) -> str:
        return re.sub(r"{{ \$labels\.(\w+) }}", lambda label: labels.get(label[1], ""), text)

    return {name: filled(text) for name, text in RULES[labels["alertname"]]["annotations"].items()}


NO_WORKER = alert("LocsearchNoWorker", group="g")
NO_WORKER_KNOWN = {"alertname": "LocsearchNoWorker"}  # it has no job, because there is none
PARTITIONS_UNREAD = {"alertname": "LocsearchPartitionsUnread", "group": "g"}  # of a console's and of workers' metrics
NOBODY_CONSUMES = {**alert("LocsearchNobodyConsumes", group="g"), "job": "console"}
CAUSES = [
    Cause(
        "no worker runs",
        together=[NO_WORKER, alert("LocsearchNothingTaken"), NOBODY_CONSUMES],
        later=[*each("LocsearchWorkerUnreachable"), alert("LocsearchRequestsNearDeletion")],
        pages=["LocsearchNoWorker"],
    ),
    Cause(
        "Prometheus has never found a worker", together=[NO_WORKER_KNOWN, NOBODY_CONSUMES], pages=["LocsearchNoWorker"]
    ),
    Cause(
        "no worker of one fleet runs, and another one lacks a topic",
        together=[
            {**NO_WORKER, "namespace": "a"},
            {**NOBODY_CONSUMES, "namespace": "a"},
            {**NOBODY_CONSUMES, "namespace": "b"},
            {**alert("LocsearchTopicTakesNoRecords", topic="results"), "namespace": "b"},
        ],
        later=[{**alert("LocsearchNothingTaken"), "namespace": name} for name in ("a", "b")],
        pages=["LocsearchNoWorker", "LocsearchNobodyConsumes", "LocsearchTopicTakesNoRecords"],
    ),
    Cause(
        "all brokers are away",
        together=[*each("LocsearchCommitsOverdue"), alert("LocsearchTopicTakesNoRecords"), NO_WORKER],
        later=[
            *each("LocsearchFleetTopicUnusable"),
            *each("LocsearchWorkerNotReady"),
            alert("LocsearchNothingTaken"),
            alert("LocsearchBacklogGrows"),
        ],
        pages=["LocsearchNoWorker"],
    ),
    Cause(
        "the brokers of one of two deployments are away",
        together=[*each("LocsearchCommitsOverdue"), alert("LocsearchTopicTakesNoRecords")],
        later=[
            *each("LocsearchFleetTopicUnusable"),
            *each("LocsearchWorkerNotReady"),
            alert("LocsearchNothingTaken"),
            alert("LocsearchRequestsLate"),
        ],
        pages=["LocsearchCommitsOverdue"],
    ),
    Cause(
        "nobody may write to the outcome topics",
        together=[
            alert("LocsearchTopicTakesNoRecords", topic="results"),
            alert("LocsearchTopicTakesNoRecords", topic="errors"),
        ],
        later=[alert("LocsearchNothingTaken"), *each("LocsearchWorkerNotReady"), alert("LocsearchRequestsLate")],
        pages=["LocsearchTopicTakesNoRecords"],
    ),
    Cause(
        "the logs of two topics were truncated",
        together=[
            alert("LocsearchPartitionBlocked", topic="requests"),
            alert("LocsearchPartitionBlocked", topic="batch-requests"),
        ],
        later=[alert("LocsearchNothingTaken"), *each("LocsearchWorkerNotReady", instances=2)],
        pages=["LocsearchPartitionBlocked"],
    ),
    Cause(
        "a key is refused",
        together=[alert("LocsearchKeyRefused", provider="hotpepper")],
        later=[alert("LocsearchErrors", code="unauthorized"), alert("LocsearchRetriesRefused", provider="hotpepper")],
        pages=["LocsearchKeyRefused"],
    ),
    Cause("a foreign program joins the group", together=[PARTITIONS_UNREAD], pages=["LocsearchPartitionsUnread"]),
    Cause(
        "no worker is left, and its partitions are nobody's",
        together=[NO_WORKER, NOBODY_CONSUMES, PARTITIONS_UNREAD],
        pages=["LocsearchNoWorker"],
    ),
    Cause(
        "a quota is used up",
        together=[alert("LocsearchQuotaUsedUp", provider="hotpepper")],
        later=[
            alert("LocsearchErrors", code="rate-limited"),
            alert("LocsearchProviderPaused", provider="hotpepper"),
            alert("LocsearchBudgetNearlyUsed", provider="hotpepper"),
        ],
        pages=["LocsearchQuotaUsedUp"],
    ),
    Cause(
        "a provider is down",
        together=[alert("LocsearchErrors", code=code) for code in ("timeout", "unreachable")],
        later=[
            alert("LocsearchErrors", code="circuit-open"),
            alert("LocsearchBreakerOpen", provider="hotpepper"),
            alert("LocsearchRetriesRefused", provider="hotpepper"),
        ],
        pages=["LocsearchErrors"],
    ),
    Cause(
        "workers are full of calls that hang",
        together=[alert("LocsearchNothingTaken"), alert("LocsearchRequestsLate"), alert("LocsearchBacklogGrows")],
        later=[alert("LocsearchRequestsNearDeletion")],
        pages=["LocsearchNothingTaken"],
    ),
    Cause(
        "workers that Prometheus does not scrape are dead",
        together=[NOBODY_CONSUMES],
        later=[*each("LocsearchWorkerUnreachable")],
        pages=["LocsearchNobodyConsumes"],
        tickets=["LocsearchWorkerUnreachable"],
    ),
    Cause(
        "somebody forgets that intake is paused",
        together=[alert("LocsearchIntakePaused")],
        later=[alert("LocsearchRequestsNearDeletion")],
        tickets=["LocsearchIntakePaused", "LocsearchRequestsNearDeletion"],
    ),
    Cause(
        "there is too much to do",
        together=[alert("LocsearchRequestsLate"), alert("LocsearchBacklogGrows")],
        pages=["LocsearchRequestsLate"],
    ),
    Cause(
        "requests are deleted unread",
        together=[alert("LocsearchRequestsDeletedUnread"), alert("LocsearchRequestsNearDeletion")],
        pages=["LocsearchRequestsDeletedUnread"],
    ),
    Cause(
        "a worker crashes again and again",
        together=[alert("LocsearchWorkerRestarts", instance="worker-1")],
        later=[
            alert("LocsearchWorkerUnreachable", instance="worker-1"),
            alert("LocsearchWorkerNotReady", instance="worker-1"),
        ],
        tickets=["LocsearchWorkerRestarts"],
    ),
    # Two causes are two pages.
    Cause(
        "two keys are refused",
        together=[alert("LocsearchKeyRefused", provider=name) for name in ("hotpepper", "google-places")],
        pages=["LocsearchKeyRefused", "LocsearchKeyRefused"],
    ),
    Cause(
        "a key is refused, and another provider is down",
        together=[alert("LocsearchKeyRefused", provider="hotpepper"), alert("LocsearchErrors", code="timeout")],
        later=[alert("LocsearchErrors", code="unauthorized")],
        pages=["LocsearchErrors", "LocsearchKeyRefused"],
    ),
    Cause(
        "one deployment lacks a topic, and another one's requests are late",
        together=[
            alert("LocsearchTopicTakesNoRecords", topic="results"),
            {**alert("LocsearchRequestsLate"), "job": "v"},
        ],
        pages=["LocsearchRequestsLate", "LocsearchTopicTakesNoRecords"],
    ),
]


class Receivers(http.server.ThreadingHTTPServer):
    """Takes notifications, and remembers them by receiver."""

    def __init__(self) -> None:
        self.notifications: list[tuple[str, dict]] = []
        self.changed = threading.Condition()
        receivers = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with receivers.changed:
                    receivers.notifications.append((body["receiver"], body))
                    receivers.changed.notify_all()
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def groups(self, receiver: str) -> dict[str, dict]:
        """Returns the newest notification of each group, as pagers tell incidents apart."""
        return {body["groupKey"]: body for name, body in self.notifications if name == receiver}

    def wait_for(self, receiver: str, name: str) -> None:
        """Waits until an alert has been told of."""

        def is_there() -> bool:
            groups = self.groups(receiver).values()
            return any(each["labels"]["alertname"] == name for group in groups for each in group["alerts"])

        with self.changed:
            if not self.changed.wait_for(is_there, WITHIN):
                raise TimeoutError(f"{receiver} was not told of {name} within {WITHIN:.0f} s")


def faster(text: str, receivers: Receivers) -> str:
    """Returns alertmanager.yaml with durations that are divided by sixty, and receivers that can be looked at."""

    def divided(duration: re.Match) -> str:
        return f"{duration[1]}: {int(duration[2]) * SECONDS[duration[3]] * 1000 // 60}ms"

    text = re.sub(r"(group_wait|group_interval|repeat_interval): (\d+)([mhd])", divided, text)
    return text.replace("127.0.0.1:9099", f"127.0.0.1:{receivers.server_port}")


class Alertmanager:
    def __init__(self, folder: Path):
        self.receivers = Receivers()
        (folder / "alertmanager.yaml").write_text(faster((HERE / "alertmanager.yaml").read_text(), self.receivers))
        (folder / "alertmanager.tmpl").write_text((HERE / "alertmanager.tmpl").read_text())
        # It chooses a free port itself, and logs it: another program may take one that is chosen for it.
        command = [PROGRAM, f"--config.file={folder}/alertmanager.yaml", f"--storage.path={folder}/data"]
        command += ["--web.listen-address=127.0.0.1:0", "--cluster.listen-address="]
        log = folder / "log"
        with log.open("w") as lines:
            self.process = subprocess.Popen(command, stdout=lines, stderr=lines)

        end = time.monotonic() + WITHIN
        while not (listening := LISTENING.search(log.read_text())) or not self.is_ready(listening[1]):
            if time.monotonic() > end or self.process.poll() is not None:
                raise TimeoutError(f"the Alertmanager is not ready:\n{log.read_text()}")
            time.sleep(0.05)
        self.url = f"http://{listening[1]}"

    def is_ready(self, address: str) -> bool:
        try:
            return urllib.request.urlopen(f"http://{address}/-/ready", timeout=2).status == 200
        except OSError:
            return False

    def fire(self, alerts: list[dict[str, str]]) -> None:
        body = [
            {"labels": {**RULES[labels["alertname"]]["labels"], **labels}, "annotations": annotations(labels)}
            for labels in alerts
        ]
        self.post(body)

    def post(self, alerts: list[dict]) -> None:
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api/v2/alerts", json.dumps(alerts).encode(), headers)
        urllib.request.urlopen(request, timeout=10).close()

    def settle(self, receiver: str, name: str) -> None:
        """Waits until all that fires has been told of: an alert that fires now, and waits as long, has been told of."""
        self.post([{"labels": {"alertname": name, "severity": receiver, "job": "settle"}}])
        self.receivers.wait_for(receiver, name)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(10)
        self.receivers.shutdown()
        self.receivers.server_close()


def told(cause: Cause) -> dict[str, list[dict]]:
    """Lets a cause happen, and returns the groups that each receiver was told of."""
    with tempfile.TemporaryDirectory() as folder:
        alertmanager = Alertmanager(Path(folder))
        try:
            # The worst order: what follows from another alert fires first.
            for labels in reversed(cause.together):
                alertmanager.fire([labels])
            alertmanager.settle("page", "SettledPage")
            alertmanager.fire(cause.later)
            alertmanager.settle("page", "SettledLater")
            alertmanager.settle("ticket", "SettledTicket")
        finally:
            alertmanager.close()
        return {
            receiver: [
                group
                for group in alertmanager.receivers.groups(receiver).values()
                if not group["groupLabels"]["alertname"].startswith("Settled")
            ]
            for receiver in ("page", "ticket")
        }


def rendered(template: str, group: dict) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as data:
        json.dump(group, data)
        data.flush()
        command = ["amtool", "template", "render", f"--template.glob={HERE}/alertmanager.tmpl"]
        command += [f"--template.data={data.name}", f'--template.text={{{{ template "{template}" . }}}}']
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class AlertmanagerTest(unittest.TestCase):
    groups: dict[str, dict[str, list[dict]]]

    @classmethod
    def setUpClass(cls) -> None:
        with ThreadPoolExecutor(len(CAUSES)) as pool:
            cls.groups = dict(zip([cause.name for cause in CAUSES], pool.map(told, CAUSES)))

    def test_one_cause_is_one_page(self) -> None:
        for cause in CAUSES:
            for receiver, expected in {"page": cause.pages, "ticket": cause.tickets}.items():
                with self.subTest(cause.name, receiver=receiver):
                    names = [group["groupLabels"]["alertname"] for group in self.groups[cause.name][receiver]]
                    self.assertEqual(sorted(names), expected)

    def test_each_alert_that_pages_is_part_of_a_cause(self) -> None:
        paged = {name for name, rule in RULES.items() if rule["labels"]["severity"] == "page"}
        self.assertEqual(paged - {name for cause in CAUSES for name in cause.pages}, set())

    def test_page_names_its_runbook(self) -> None:
        for cause in CAUSES:
            for group in self.groups[cause.name]["page"]:
                with self.subTest(cause.name):
                    text = rendered("locsearch.text", group)
                    [page] = re.findall(r"^What to do: https://\S+/(docs/runbooks/\w+\.md)$", text, re.MULTILINE)
                    self.assertTrue((TOP / page).exists())

                    title = rendered("locsearch.title", group).strip()
                    self.assertNotIn("\n", title)
                    self.assertTrue(title.startswith(group["alerts"][0]["annotations"]["summary"]), title)


if __name__ == "__main__":
    unittest.main()
