#!/usr/bin/env python3
"""Each alert counts one fleet at a time: healthy or paused fleets, in its namespace and in others, change nothing.

    tools/with-prometheus ops/grafana/.venv/bin/python ops/prometheus/fleets_test.py

Each test of alerts_test.yaml and alerts_hours_test.yaml is one fleet in trouble. It runs again beside four others, and
must come to the same result: a healthy and a paused fleet in its namespace under other jobs, and the same two in other
namespaces under its own job, instance and group. The query by which KEDA scales has its test here, too.
"""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml
from check import TESTS

HERE = Path(__file__).resolve().parent
SCALED_OBJECT = HERE.parent / "kubernetes/components/scale-on-backlog/scaled-object.yaml"
NO_NEIGHBOURS = {"no worker is known"}  # There would be others.

# What a series of a healthy fleet is; 0 where it is not named.
HEALTHY = {
    "locsearch_partition_lag": "5x800",
    "locsearch_requests_taken_total": "0+60x800",
    "locsearch_request_topic_wait_seconds_bucket": "0+60x800",
    "locsearch_request_class_wait_seconds_bucket": "0+60x800",
    "locsearch_request_class_wait_seconds_count": "0+60x800",
    "locsearch_fleet_topic_usable": "1x800",
    "locsearch_provider_budget": "1000x800",
    "locsearch_provider_budget_left": "1000x800",
    "locsearch_provider_retries_total": "0+60x800",
    "locsearch_loop_busy_seconds_total": "0+6x800",
    "locsearch_group_waiting": "5x800",
    "locsearch_group_members": "2x800",
    "locsearch_partitions_assigned": "12x800",
    "locsearch_group_completions_per_second": "9x800",
    "process_start_time_seconds": "100x800",
    "process_resident_memory_bytes": "100e6x800",
    "process_open_fds": "10x800",
    "process_max_fds": "100x800",
    "up": "1x800",
}
# What differs where intake is paused. The lag of such a fleet has an alert of its own.
PAUSED = {
    "locsearch_requests_taken_total": "900x800",
    "locsearch_request_topic_wait_seconds_bucket": "900x800",
    "locsearch_group_completions_per_second": "0x800",
}
# Such series are there in trouble only.
ABSENT = {
    "locsearch_topic_blocked",
    "locsearch_partition_blocked",
    "locsearch_control_active",
    "locsearch_ready",
    "locsearch_worker_info",
}
SERIES = re.compile(r"^(?P<metric>\w+)\{(?P<labels>.*)\}$")


def series(metric: str, labels: dict[str, str], values: str) -> dict[str, str]:
    text = ", ".join(f'{name}="{value}"' for name, value in labels.items())
    return {"series": f"{metric}{{{text}}}", "values": values}


def neighbour(test: dict, name: str, labels: dict[str, str], is_paused: bool) -> list[dict]:
    """Returns the series of another fleet, which are those of the test with other labels and values."""
    found: dict[str, dict] = {}
    lag = "0x800" if name == "LocsearchIntakePaused" and is_paused else HEALTHY["locsearch_partition_lag"]
    values = HEALTHY | (PAUSED if is_paused else {}) | {"locsearch_partition_lag": lag}
    for entry in test["input_series"]:
        metric, own = taken_apart(entry["series"])
        if metric not in ABSENT:
            one = series(metric, own | labels_for(metric, own, labels), values.get(metric, "0x800"))
            found[one["series"]] = one

    worker = {"job": labels["job"], "instance": labels["instance"], "namespace": labels["namespace"]}
    state = [
        series("locsearch_ready", worker, "0x800" if is_paused else "1x800"),
        series("locsearch_worker_info", worker | {"group": labels["group"]}, "1x800"),
    ]
    order = {"control": "pause-intake", "provider": "", "scope": "fleet"}
    return [
        *found.values(),
        *state,
        *([series("locsearch_control_active", worker | order, "1x800")] if is_paused else []),
    ]


def labels_for(metric: str, own: dict[str, str], labels: dict[str, str]) -> dict[str, str]:
    """Consoles of one namespace have one job; their groups tell them apart."""
    if metric.startswith("locsearch_group_"):
        return {"namespace": labels["namespace"], "group": labels["group"], "instance": "c-" + labels["instance"]}
    return {name: labels[name] for name in ("namespace", "job", "instance")}


def taken_apart(text: str) -> tuple[str, dict[str, str]]:
    match = SERIES.match(text)
    assert match, text
    return match["metric"], dict(re.findall(r'(\w+)="([^"]*)"', match["labels"]))


def beside_others(test: dict) -> dict:
    own = []
    for entry in test["input_series"]:
        metric, labels = taken_apart(entry["series"])
        own.append(series(metric, labels | {"namespace": "a"}, entry["values"]))
    others = [
        neighbour(
            test, test["name"], {"namespace": namespace, "job": job, "instance": instance, "group": group}, paused
        )
        for namespace, job, instance, group, paused in (
            ("b", "w", "a", "g", False),
            ("a", "v", "a2", "h", False),
            ("c", "w", "a", "g", True),
            ("a", "u", "a3", "k", True),
        )
    ]
    return test | {"input_series": own + [one for fleet in others for one in fleet]}


def promtool(folder: str, tests: list[dict], rules: list[str]) -> str:
    """Returns what promtool says against the tests; empty where it has nothing to say."""
    file = Path(folder) / "test.yaml"
    written = {"rule_files": rules, "evaluation_interval": tests[0]["interval"], "tests": tests}
    file.write_text(yaml.dump(written, Dumper=yaml.CSafeDumper))
    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, cwd=folder)
    return "" if done.returncode == 0 else done.stdout + done.stderr


class FleetsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_other_fleets_change_no_alert(self) -> None:
        shutil.copy(HERE / "alerts.yaml", self.folder)
        files = [yaml.load((HERE / name).read_text(), yaml.CSafeLoader) for name in TESTS]
        for test in [test for file in files for test in file["tests"]]:
            if test["name"] not in NO_NEIGHBOURS:
                with self.subTest(test["name"]):
                    self.assertEqual(promtool(self.folder, [beside_others(test)], ["alerts.yaml"]), "")

    def test_autoscaler_counts_its_own_fleet_and_none_that_is_paused(self) -> None:
        triggers = yaml.safe_load(SCALED_OBJECT.read_text())["spec"]["triggers"]
        [trigger] = [trigger for trigger in triggers if trigger["name"] == "backlog"]
        query = trigger["metadata"]["query"]
        ours = {"namespace": "location-search", "job": "location-search/locsearch-worker"}
        order = {"control": "pause-intake", "provider": "", "scope": "fleet"}

        def backlog(labels: dict[str, str], values: str) -> dict[str, str]:
            return series("locsearch_runnable_backlog", labels | {"instance": "a"}, values)

        def check(minute: int, expected: int | None) -> dict:
            samples = [] if expected is None else [{"labels": "{}", "value": expected}]
            return {"eval_time": f"{minute}m", "expr": query, "exp_samples": samples}

        test = {
            "interval": "1m",
            "input_series": [
                backlog(ours, "_x9 5000x19 stale"),
                # An older worker tells of a backlog also while intake is paused.
                series("locsearch_control_active", ours | order | {"instance": "a"}, "_x19 1x9 stale"),
                backlog(ours | {"job": "location-search/other"}, "70000x40"),
                backlog(ours | {"namespace": "trial"}, "70000x40"),
                series("locsearch_control_active", {"namespace": "trial", "job": "w"} | order, "1x40"),
            ],
            # No answer is an error to KEDA, which then changes nothing.
            "promql_expr_test": [check(5, None), check(15, 5000), check(25, 0), check(35, None)],
        }
        self.assertEqual(promtool(self.folder, [test], []), "")


if __name__ == "__main__":
    unittest.main()
