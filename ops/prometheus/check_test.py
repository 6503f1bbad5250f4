#!/usr/bin/env python3
"""Tests of check.py: each kind of mistake is found, and what is right is left alone."""

import shutil
import tempfile
import unittest
from pathlib import Path

import check

TOP = Path(__file__).resolve().parent.parent.parent
FILES = [
    "ops/prometheus/alerts.yaml",
    "ops/prometheus/alerts_test.yaml",
    "ops/grafana/dashboard.json",
    "ops/experiments/experiments/alerts.py",
    "docs/metrics.md",
    "ops/prometheus/alertmanager.yaml",
    "ops/prometheus/alerts_hours_test.yaml",
]


class CheckTest(unittest.TestCase):
    """Each test spoils one thing in a copy of the repository's own files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        for name in FILES:
            (self.top / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, self.top / name)
        shutil.copytree(TOP / "docs/runbooks", self.top / "docs/runbooks")

    def problems_with(self, file: str, old: str, new: str) -> str:
        """Returns the problems that come of a change in a file, without those that were there before."""
        before = set(check.problems_of(self.top))
        text = (self.top / file).read_text()
        self.assertIn(old, text)
        (self.top / file).write_text(text.replace(old, new, 1))
        return "\n".join(problem for problem in check.problems_of(self.top) if problem not in before)

    def test_metric_that_no_worker_has(self):
        self.assertIn(
            "LocsearchNothingTaken: locsearch_partitions_lag is not in",
            self.problems_with(FILES[0], "(locsearch_partition_lag)", "(locsearch_partitions_lag)"),
        )
        self.assertIn(
            "is not in docs/metrics.md",
            self.problems_with(FILES[2], "locsearch_commit_overdue_seconds", "locsearch_overdue"),
        )

    def test_metric_that_is_taken_out_of_the_reference(self):
        self.assertIn(
            "process_open_fds is not in", self.problems_with(FILES[4], "| `process_open_fds` |", "| `process_files` |")
        )

    def test_alert_that_is_held_back_wrongly(self):
        name, file = 'target_matchers: [alertname="LocsearchBacklogGrows"]', FILES[5]
        for other, problem in {
            "LocsearchBacklogShrinks": "no alert is named LocsearchBacklogShrinks",
            "LocsearchNoWorker": "LocsearchRequestsLate holds back LocsearchNoWorker, which nothing may hold back",
            "LocsearchNothingTaken": "LocsearchNothingTaken is held back by what it holds back",
            "LocsearchRequestsLate": "LocsearchRequestsLate is held back by what it holds back",
        }.items():
            with self.subTest(other):
                spoilt = name.replace("LocsearchBacklogGrows", other)
                self.assertIn(problem, self.problems_with(file, name, spoilt))
                self.problems_with(file, spoilt, name)

    def test_page_that_a_ticket_holds_back(self):
        self.assertIn(
            "LocsearchWorkerRestarts holds back LocsearchNothingTaken, a ticket a page",
            self.problems_with(
                FILES[5], 'LocsearchWorkerUnreachable|LocsearchWorkerNotReady"', 'LocsearchNothingTaken"'
            ),
        )

    def test_alert_without_page_and_page_without_alert(self):
        shutil.move(self.top / "docs/runbooks/LocsearchLoopBusy.md", self.top / "docs/runbooks/LocsearchLoopIdle.md")
        problems = "\n".join(check.problems_of(self.top))
        self.assertIn("LocsearchLoopBusy: no page docs/runbooks/LocsearchLoopBusy.md", problems)
        self.assertIn("docs/runbooks/LocsearchLoopIdle.md: no alert has this name", problems)

    def test_page_and_rule_that_disagree_about_the_severity(self):
        self.assertIn(
            "LocsearchErrors.md: does not begin with",
            self.problems_with("docs/runbooks/LocsearchErrors.md", "**Page.**", "**Ticket.**"),
        )
        self.assertIn(
            "no line for LocsearchErrors",
            self.problems_with(
                "docs/runbooks/README.md", "(LocsearchErrors.md) | page |", "(LocsearchErrors.md) | ticket |"
            ),
        )

    def test_alert_that_no_test_sees_clear(self):
        untested = 'count(ALERTS{alertname="LocsearchKeyRefused", alertstate="firing"})\', exp_samples: []}\n\n'
        self.assertIn(
            "LocsearchKeyRefused: no test sees that it clears",
            self.problems_with(FILES[1], untested, "vector(0) > 1', exp_samples: []}\n\n"),
        )

    def test_alert_that_nobody_provokes(self):
        self.assertIn(
            "the experiment `alerts` does not provoke it",
            self.problems_with(FILES[3], '"LocsearchMemoryHigh"', '"LocsearchMemory"'),
        )

    def test_alert_that_says_too_little(self):
        self.assertIn(
            "severity is neither page nor ticket",
            self.problems_with(FILES[0], "labels:\n          severity: page", "labels:\n          severity: loud"),
        )
        self.assertIn("no summary", self.problems_with(FILES[0], "summary:", "title:"))
        self.assertIn(
            "runbook_url is not",
            self.problems_with(FILES[0], "docs/runbooks/LocsearchErrors.md", "docs/runbooks/Errors.md"),
        )

    def test_names_of_labels_are_no_metrics(self):
        query = 'sum by (job, le) (rate(a_total{up="ALERTS"}[5m])) and on (process_x) locsearch_ready == 0 or x_bucket'
        self.assertEqual(check.metrics_in(query), {"locsearch_ready"})
        self.assertEqual(check.metrics_in("rate(locsearch_wait_seconds_bucket[5m])"), {"locsearch_wait_seconds"})


if __name__ == "__main__":
    unittest.main()
