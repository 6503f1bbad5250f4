"""A real Prometheus with the project's alert rules, on a clock that may run faster than ours."""

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from .processes import Processes, free_port, wait_until

TOP = Path(__file__).resolve().parent.parent.parent.parent
RULES = TOP / "ops" / "prometheus" / "alerts.yaml"
DASHBOARD = TOP / "ops" / "grafana" / "dashboard.json"
SECONDS = {"s": 1, "m": 60, "h": 3600}


def faster(rules: str, times: float) -> str:
    """Returns the rules with each of their durations, `for: 5m`, `[5m]` and `[6h:5m]`, divided by `times`. Nothing
    else changes.
    """

    def divided(duration: re.Match) -> str:
        milliseconds = int(duration["number"]) * SECONDS[duration["unit"]] * 1000 / times
        return f"{duration['before']}{milliseconds:.0f}ms{duration['after']}"

    before, after = r"\bfor: |\[|(?<=\d[smh]):", r"(?=:\d)|\]|$"
    duration = rf"(?P<before>{before})(?P<number>\d+)(?P<unit>[smh])(?P<after>{after})"
    return re.sub(duration, divided, rules, flags=re.MULTILINE)


class Prometheus:
    """Scrapes the workers that it is told of, and evaluates the rules. The program comes from tools/with-prometheus."""

    def __init__(self, processes: Processes, folder: Path, times_faster: float = 1, scrape_every: float = 0.5):
        self._targets = folder / "targets.json"
        self._watched: dict[str, int] = {}
        rules = folder / "alerts.yaml"
        rules.write_text(faster(RULES.read_text(), times_faster))
        every = f"{scrape_every * 1000:.0f}ms"
        config = folder / "prometheus.json"  # JSON is YAML, too.
        config.write_text(
            json.dumps(
                {
                    "global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
                    "rule_files": [str(rules)],
                    "scrape_configs": [{"job_name": "locsearch", "file_sd_configs": [{"files": [str(self._targets)]}]}],
                }
            )
        )
        self._write_targets()

        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        look_back = f"{5 * 60 * 1000 / times_faster:.0f}ms"  # This is how old a sample may be: 5 minutes unless set.
        options = [
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'prometheus'}",
            f"--web.listen-address=127.0.0.1:{port}",
            f"--query.lookback-delta={look_back}",
        ]
        self.process = processes.start("prometheus", [str(TOP / "tools" / "with-prometheus"), "prometheus", *options])
        wait_until(self._is_ready, 60, "Prometheus to be ready", 0.2)

    def _is_ready(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError("Prometheus ended by itself: see prometheus.log")
        try:
            with urllib.request.urlopen(self.url + "/-/ready", timeout=1) as answer:
                return answer.status == 200
        except OSError:
            return False

    # What is scraped

    def watch(self, name: str, port: int) -> None:
        """Scrapes a worker under this name, which stays the same when the worker is replaced."""
        self._watched[name] = port
        self._write_targets()

    def forget(self, name: str) -> None:
        del self._watched[name]
        self._write_targets()

    def _write_targets(self) -> None:
        groups = [
            {"targets": [f"127.0.0.1:{port}"], "labels": {"instance": name}} for name, port in self._watched.items()
        ]
        new = self._targets.with_suffix(".new")
        new.write_text(json.dumps(groups))
        new.rename(self._targets)

    # Questions

    def query(self, expression: str) -> list[dict]:
        """Returns the series of an instant query. Raises RuntimeError with Prometheus' words when it is no query."""
        return self._ask("query", query=expression)["result"]

    def query_range(self, expression: str, start: float, end: float, step: float) -> list[dict]:
        return self._ask("query_range", query=expression, start=start, end=end, step=step)["result"]

    def number(self, expression: str) -> float | None:
        """Returns the value of the first series, None when there is none."""
        found = self.query(expression)
        return float(found[0]["value"][1]) if found else None

    def rules(self) -> list[dict]:
        return [rule for group in self._ask("rules")["groups"] for rule in group["rules"]]

    def alerts(self, state: str = "firing") -> dict[str, list[dict]]:
        """Returns the alerts in this state by name."""
        found: dict[str, list[dict]] = {}
        for alert in self._ask("alerts")["alerts"]:
            if alert["state"] == state:
                found.setdefault(alert["labels"]["alertname"], []).append(alert)
        return found

    def _ask(self, what: str, **parameters) -> dict:
        address = f"{self.url}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(f"Prometheus refuses {parameters}: {json.load(e).get('error')}") from None


class Dashboard:
    """The panels of ops/grafana/dashboard.json, with Grafana's variables filled in."""

    def __init__(self, interval: str):
        """`interval` stands for Grafana's $__rate_interval, such as 5s."""
        self.interval = interval
        self.panels = [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]

    def queries(self, panel: dict) -> list[str]:
        return [self._filled_in(target["expr"]) for target in panel["targets"]]

    def _filled_in(self, query: str) -> str:
        for name, value in {
            "$__rate_interval": self.interval,
            "$namespace": ".*",
            "$job": ".+",
            "$instance": ".+",
        }.items():
            query = query.replace(name, value)
        return query
