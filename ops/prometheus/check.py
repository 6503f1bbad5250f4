#!/usr/bin/env python3
"""Checks what promtool does not: that alerts, dashboard, runbooks, tests and metrics fit together.

    ops/prometheus/check.py [FOLDER]     FOLDER is the top of a repository; by default this one

- Each alert has a severity, a summary, a description, and the address of its own page in docs/runbooks, which exists.
- Each page there belongs to an alert, and its first word after the heading says the alert's severity.
- Each alert is seen to fire and to clear in alerts_test.yaml or alerts_hours_test.yaml, and is provoked by the
  experiment `alerts`.
- Each metric that an alert or a panel asks for is in docs/metrics.md.
- Alertmanager holds back alerts that there are. It holds back LocsearchNoWorker never, no page for a ticket, and no
  alert for one that this alert holds back.

Exit status: 0 all fits, 1 something does not; each problem is one line.
"""

import json
import re
import sys
from pathlib import Path

import yaml

TESTS = ("alerts_test.yaml", "alerts_hours_test.yaml")
NOT_OURS = {"up", "ALERTS"}  # Prometheus itself makes these.
TEXT = re.compile(r'"[^"]*"')
LABELS = re.compile(r"\{[^}]*\}|\b(?:by|on|group_left|group_right|without|ignoring)\s*\([^)]*\)")
METRIC = re.compile(r"\b(?:locsearch|messaging|process|up|ALERTS)(?:_\w+)?\b(?!\s*\()")
SUFFIX = re.compile(r"_(bucket|sum|count)$")


def metrics_in(query: str) -> set[str]:
    """Returns the names of the metrics that a query asks for; those of a histogram's series without their suffix."""
    bare = LABELS.sub(" ", TEXT.sub('""', query))
    return {SUFFIX.sub("", name) for name in METRIC.findall(bare)}


def alerts_of(rules: dict) -> list[dict]:
    return [rule for group in rules["groups"] for rule in group["rules"] if "alert" in rule]


def rule_problems(alerts: list[dict]):
    names = [alert["alert"] for alert in alerts]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{name}: two alerts have this name"

    for alert in alerts:
        name = alert["alert"]
        if alert.get("labels", {}).get("severity") not in ("page", "ticket"):
            yield f"{name}: severity is neither page nor ticket"
        for needed in ("summary", "description"):
            if not alert.get("annotations", {}).get(needed):
                yield f"{name}: no {needed}"
        if alert.get("annotations", {}).get("runbook_url") != f"docs/runbooks/{name}.md":
            yield f"{name}: runbook_url is not docs/runbooks/{name}.md"


def page_problems(alerts: list[dict], folder: Path):
    severities = {alert["alert"]: alert.get("labels", {}).get("severity", "") for alert in alerts}
    pages = {page.stem: page.read_text() for page in folder.glob("*.md") if page.stem != "README"}
    index = (folder / "README.md").read_text() if (folder / "README.md").exists() else ""

    for name in sorted(severities.keys() - pages.keys()):
        yield f"{name}: no page docs/runbooks/{name}.md"
    for name in sorted(pages.keys() - severities.keys()):
        yield f"docs/runbooks/{name}.md: no alert has this name"
    for name in sorted(severities.keys() & pages.keys()):
        if not pages[name].startswith(f"# {name}\n\n**{severities[name].capitalize()}.** "):
            yield f"docs/runbooks/{name}.md: does not begin with its name and **{severities[name].capitalize()}.**"
        if f"({name}.md) | {severities[name]} |" not in index:
            yield f"docs/runbooks/README.md: no line for {name} with severity {severities[name]}"


def test_problems(alerts: list[dict], tests: list[dict], experiment: str):
    seen: dict[str, set[str]] = {}
    for test in tests:
        for check in test.get("promql_expr_test", []):
            if asked := re.fullmatch(r'count\(ALERTS\{alertname="(\w+)", alertstate="firing"\}\)', check["expr"]):
                # A test that ends quiet, after it was firing, has seen the alert clear.
                states = seen.setdefault(asked[1], set())
                if check["exp_samples"]:
                    states.add("fires")
                elif "fires" in states:
                    states.add("clears")

    for alert in alerts:
        for state in ("fires", "clears"):
            if state not in seen.get(alert["alert"], set()):
                yield f"{alert['alert']}: no test sees that it {state}"
        if f'"{alert["alert"]}"' not in experiment:
            yield f"{alert['alert']}: the experiment `alerts` does not provoke it"


def metric_problems(alerts: list[dict], dashboard: dict, reference: str):
    known = set(re.findall(r"^\| `(\w+)` \|", reference, re.MULTILINE)) | NOT_OURS
    queries = [(alert["alert"], alert["expr"]) for alert in alerts]
    queries += [
        (f'panel "{panel["title"]}"', target["expr"])
        for panel in dashboard["panels"]
        for target in panel.get("targets", [])
    ]
    for where, query in queries:
        asked = metrics_in(query)
        if not asked:
            yield f"{where}: asks for no metric"
        for name in sorted(asked - known):
            yield f"{where}: {name} is not in docs/metrics.md"


def names_matched(matchers: list[str]) -> set[str]:
    """Returns the alerts that the matchers of an inhibit rule name; names are listed with | between them."""
    [listed] = [match[1] for matcher in matchers if (match := re.match(r'alertname=~?"(.*)"$', matcher))]
    return set(listed.split("|"))


def held_back_by(name: str, pairs: set[tuple[str, str]]) -> set[str]:
    """Returns the alerts that an alert holds back, and those that these hold back, and so on."""
    found: set[str] = set()
    waiting = {name}
    while waiting:
        waiting = {target for source, target in pairs if source in waiting} - found
        found |= waiting
    return found


def inhibition_problems(alerts: list[dict], configuration: dict):
    severities = {alert["alert"]: alert.get("labels", {}).get("severity", "") for alert in alerts}
    pairs = {
        (source, target)
        for rule in configuration["inhibit_rules"]
        for source in names_matched(rule["source_matchers"])
        for target in names_matched(rule["target_matchers"])
    }
    for name in sorted({name for pair in pairs for name in pair} - severities.keys()):
        yield f"alertmanager.yaml: no alert is named {name}"

    for source, target in sorted(pairs):
        where = f"alertmanager.yaml: {source} holds back {target}"
        if target == "LocsearchNoWorker":
            yield f"{where}, which nothing may hold back"
        if severities.get(source) == "ticket" and severities.get(target) == "page":
            yield f"{where}, a ticket a page"
    for name in sorted(severities):
        if name in held_back_by(name, pairs):
            yield f"alertmanager.yaml: {name} is held back by what it holds back, so that nobody is told"


def problems_of(top: Path) -> list[str]:
    def parsed(name: str) -> dict:
        return yaml.load((top / name).read_text(), yaml.CSafeLoader)  # The fast one, written in C.

    alerts = alerts_of(parsed("ops/prometheus/alerts.yaml"))
    tests = [test for name in TESTS for test in parsed(f"ops/prometheus/{name}")["tests"]]
    dashboard = json.loads((top / "ops/grafana/dashboard.json").read_text())
    experiment = (top / "ops/experiments/experiments/alerts.py").read_text()
    reference = (top / "docs/metrics.md").read_text()

    found = [
        *rule_problems(alerts),
        *page_problems(alerts, top / "docs/runbooks"),
        *test_problems(alerts, tests, experiment),
        *inhibition_problems(alerts, parsed("ops/prometheus/alertmanager.yaml")),
    ]
    return found + list(metric_problems(alerts, dashboard, reference))


def main() -> int:
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if len(sys.argv) == 2 else 64

    top = Path(sys.argv[1]) if len(sys.argv) == 2 else Path(__file__).resolve().parent.parent.parent
    found = problems_of(top)
    for problem in found:
        print(problem)
    print(f"{len(found)} problems" if found else "alerts, Alertmanager, dashboard, runbooks and metrics fit together")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
