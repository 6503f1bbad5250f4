"""The rules of a faster clock: durations are divided, and nothing else changes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from harness.prometheus import RULES, Dashboard, faster


def test_durations_are_divided():
    rule = "        expr: rate(a_total[5m]) > 300\n        for: 10m\n        labels: {for: me}\n"
    assert (
        faster(rule, 60)
        == "        expr: rate(a_total[5000ms]) > 300\n        for: 10000ms\n        labels: {for: me}\n"
    )


def test_both_durations_of_a_subquery_are_divided():
    assert faster("deriv((a > 0)[6h:5m])", 60) == "deriv((a > 0)[360000ms:5000ms])"


def test_every_duration_of_the_rules_is_divided():
    ours = RULES.read_text()
    waits, ranges = ours.count("for: "), ours.count("[")
    assert waits and ranges
    changed = faster(ours, 60)
    assert changed.count("ms\n") + changed.count("ms]") == waits + ranges


def test_no_variable_of_grafana_is_left_in_a_query():
    dashboard = Dashboard("5s")
    queries = [query for panel in dashboard.panels for query in dashboard.queries(panel)]
    assert queries
    assert not [query for query in queries if "$" in query]
