#!/usr/bin/env python3
"""Writes dashboard.json from dashboard.yaml.

generate.py            writes the file
generate.py --check    says whether the file is what the source gives; exit status 1 if it is not
"""

import json
import sys
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "dashboard.yaml"
TARGET = HERE / "dashboard.json"

LINE = 24  # Grafana divides the width of a page into so many columns.
WIDTH = 8
HEIGHTS = {"stat": 5, "timeseries": 8, "states": 8}
DATA_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
ABBREVIATIONS = {
    "$workers": 'namespace=~"$namespace", job=~"$job", instance=~"$instance"',
    # An alert that no worker is known names no fleet.
    "$fleets": 'namespace=~"$namespace|", job=~"$job|"',
    "$interval": "$__rate_interval",
}


def dashboard(source: dict) -> dict:
    """Returns what Grafana imports."""
    return {
        "uid": source["uid"],
        "title": source["title"],
        "tags": ["locsearch"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": variables()},
        "annotations": {"list": [alerts_as_annotations()]},
        "links": [],
        "panels": panels(source["rows"]),
    }


def variables() -> list[dict]:
    def choice(name: str, label: str, query: str, all_values: str = ".+") -> dict:
        return {
            "name": name,
            "label": label,
            "type": "query",
            "datasource": DATA_SOURCE,
            "query": {"query": query, "refId": name},
            "definition": query,
            "refresh": 2,
            "sort": 1,
            "multi": True,
            "includeAll": True,
            "allValue": all_values,
            "current": {"text": "All", "value": "$__all"},
        }

    return [
        {
            "name": "datasource",
            "label": "Data source",
            "type": "datasource",
            "query": "prometheus",
            "current": {},
            "refresh": 1,
        },
        # Outside Kubernetes there may be none.
        choice("namespace", "Namespace", "label_values(locsearch_build_info, namespace)", all_values=".*"),
        choice("job", "Job", 'label_values(locsearch_build_info{namespace=~"$namespace"}, job)'),
        choice(
            "instance", "Worker", 'label_values(locsearch_build_info{namespace=~"$namespace", job=~"$job"}, instance)'
        ),
    ]


def alerts_as_annotations() -> dict:
    """Marks in every panel when an alert fired."""
    return {
        "name": "Alerts",
        "datasource": DATA_SOURCE,
        "enable": True,
        "iconColor": "red",
        "expr": 'ALERTS{alertname=~"Locsearch.+", alertstate="firing", ' + ABBREVIATIONS["$fleets"] + "}",
        "titleFormat": "{{alertname}}",
        "textFormat": "{{severity}}",
        "step": "60s",
        "useValueForTime": False,
    }


def panels(rows: list[dict]) -> list[dict]:
    found: list[dict] = []
    top = 0
    for row in rows:
        found.append(
            {
                "id": len(found) + 1,
                "type": "row",
                "title": row["title"],
                "collapsed": False,
                "gridPos": {"x": 0, "y": top, "w": LINE, "h": 1},
                "panels": [],
            }
        )
        top += 1

        left, height = 0, 0
        for entry in row["panels"]:
            width, own_height = entry.get("width", WIDTH), HEIGHTS[entry.get("type", "timeseries")]
            if left + width > LINE:
                left, top, height = 0, top + height, 0
            found.append(panel(entry, len(found) + 1, {"x": left, "y": top, "w": width, "h": own_height}))
            left, height = left + width, max(height, own_height)
        top += height
    return found


def panel(entry: dict, number: int, position: dict) -> dict:
    kind = entry.get("type", "timeseries")
    shared = {
        "id": number,
        "title": entry["title"],
        "description": entry["good"],
        "datasource": DATA_SOURCE,
        "gridPos": position,
        "targets": [target(legend, query, index) for index, (legend, query) in enumerate(entry["queries"].items())],
    }
    defaults = {"unit": entry.get("unit", "short"), "min": 0}
    if "max" in entry:
        defaults["max"] = entry["max"]

    if kind == "stat":
        steps = [{"color": "green", "value": None}] + (
            [{"color": "red", "value": entry["red"]}] if "red" in entry else []
        )
        defaults |= {"color": {"mode": "thresholds"}, "thresholds": {"mode": "absolute", "steps": steps}}
        options: dict[str, Any] = {
            "reduceOptions": {"calcs": ["lastNotNull"]},
            "colorMode": "value",
            "graphMode": "area",
            "textMode": "value_and_name" if len(entry["queries"]) > 1 else "auto",
        }
        return shared | {"type": "stat", "fieldConfig": {"defaults": defaults, "overrides": []}, "options": options}

    if kind == "states":
        mappings = {
            str(value): {"text": text, "color": color, "index": value}
            for value, (text, color) in entry["states"].items()
        }
        defaults |= {
            "mappings": [{"type": "value", "options": mappings}],
            "custom": {"fillOpacity": 80, "lineWidth": 0},
        }
        options = {
            "mergeValues": True,
            "showValue": "auto",
            "legend": {"showLegend": True, "displayMode": "list", "placement": "bottom"},
        }
        return shared | {
            "type": "state-timeline",
            "fieldConfig": {"defaults": defaults, "overrides": []},
            "options": options,
        }

    stack = entry.get("stack", False)
    defaults["custom"] = {
        "lineWidth": 1,
        "fillOpacity": 40 if stack else 10,
        "showPoints": "never",
        "stacking": {"mode": "normal" if stack else "none", "group": "A"},
    }
    options = {
        "legend": {"showLegend": True, "displayMode": "list", "placement": "bottom"},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return shared | {"type": "timeseries", "fieldConfig": {"defaults": defaults, "overrides": []}, "options": options}


def target(legend: str, query: str, index: int) -> dict:
    for short, long in ABBREVIATIONS.items():
        query = query.replace(short, long)
    # Exemplars are points that lead from a duration to a trace; there are none unless Prometheus stores them.
    exemplar = {"exemplar": True} if "_seconds_bucket" in query else {}
    return {
        "refId": chr(ord("A") + index),
        "datasource": DATA_SOURCE,
        "expr": query,
        "legendFormat": legend,
        **exemplar,
    }


def main() -> int:
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__)
        return 64

    written = json.dumps(dashboard(yaml.safe_load(SOURCE.read_text())), indent=2) + "\n"
    if not sys.argv[1:]:
        TARGET.write_text(written)
        return 0

    if not TARGET.exists() or TARGET.read_text() != written:
        print("ops/grafana/dashboard.json is not what dashboard.yaml gives: run `make dashboard`", file=sys.stderr)
        return 1
    print("ops/grafana/dashboard.json is what its source gives")
    return 0


if __name__ == "__main__":
    sys.exit(main())
