"""The queries of the autoscaler, by Prometheus' own tests: from no worker to many, paused, and without answers."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import chart
import operator_files
import pytest
import yaml

KUBECTL = os.fspath(Path(sys.executable).parent / "kubectl")
FLEET = 'namespace="location-search", job="location-search/locsearch-worker"'
CONSOLE = 'namespace="location-search", job="locsearch-console"'
READABLE = f"locsearch_group_readable{{{CONSOLE}}}"
PAUSED = f'locsearch_control_active{{{FLEET}, control="pause-intake", scope="fleet", instance="a"}}'


def waiting(partition: int) -> str:
    return f'locsearch_group_waiting{{{CONSOLE}, group="g", topic="t", partition="{partition}"}}'


def runnable(instance: str, fleet: str = FLEET) -> str:
    return f'locsearch_runnable_backlog{{{fleet}, instance="{instance}"}}'


# What Prometheus has, and what the queries `waiting` and `backlog` give. None: no answer, an error for KEDA.
CASES: dict[str, tuple[dict[str, int], int | None, int | None]] = {
    "no worker, and requests wait": ({READABLE: 1, waiting(0): 5, waiting(1): 0}, 1, 0),
    "no worker, and nothing waits": ({READABLE: 1, waiting(0): 0, waiting(1): 0}, 0, 0),
    "two workers": ({READABLE: 1, waiting(0): 2500, runnable("a"): 1500, runnable("b"): 1000}, 1, 2500),
    "an exhausted quota": ({READABLE: 1, waiting(0): 9000, runnable("a"): 0}, 1, 0),
    "a paused fleet": ({READABLE: 1, waiting(0): 9000, runnable("a"): 9000, PAUSED: 1}, 1, 0),
    "another fleet": ({READABLE: 1, waiting(0): 0, runnable("a", 'namespace="x", job="x/w"'): 7}, 0, 0),
    "brokers that do not answer": ({READABLE: 0, runnable("a"): 3}, None, 3),
    "no console": ({runnable("a"): 3}, None, 3),
    "nothing at all": ({}, None, None),
}


@pytest.fixture(scope="module", params=["production", "chart"])
def queries(request: pytest.FixtureRequest) -> dict[str, str]:
    objects = chart.documents(operator_files.build_overlay(request.param, KUBECTL))
    [scaled] = [thing for thing in objects if thing["kind"] == "ScaledObject"]
    return {trigger["name"]: trigger["metadata"]["query"] for trigger in scaled["spec"]["triggers"]}


def test_queries_give_what_the_autoscaler_needs(queries, tmp_path):
    def check(query: str, value: int | None) -> dict[str, Any]:
        samples = [] if value is None else [{"labels": "{}", "value": value}]
        return {"expr": queries[query], "eval_time": "1m", "exp_samples": samples}

    tests = [
        {
            "name": name,
            "interval": "1m",
            "input_series": [{"series": series, "values": f"{value}x2"} for series, value in given.items()],
            "promql_expr_test": [check("waiting", active), check("backlog", backlog)],
        }
        for name, (given, active, backlog) in CASES.items()
    ]
    path = tmp_path / "scaling.yaml"
    path.write_text(yaml.safe_dump({"evaluation_interval": "1m", "tests": tests}))
    command = [operator_files.ROOT / "tools/with-prometheus", "promtool", "test", "rules", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
