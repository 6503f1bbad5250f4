"""The processes behind the page: broker, provider, worker and console are `locsearch` processes on ports of their
own.
"""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "ops" / "experiments"))
from confluent_kafka import Producer
from harness.processes import Processes, first_line, free_port, wait_until

PROVIDERS = ("GOOGLE_PLACES", "GOOGLE_PLACES_LEGACY", "HOTPEPPER")
TOPICS = {
    "completed": "location-search.results",
    "failed": "location-search.errors",
    "requested": "location-search.requests",
    "letters": "location-search.dead-letters",
}
SHINJUKU = {"latitude": 35.690921, "longitude": 139.700258}


class ConsoleHarness:
    """Broker, provider and worker. Consoles come and go."""

    def __init__(self, program: str, logs: Path, latency: str = "40ms"):
        self.program = program
        self.processes = Processes(logs)
        self.broker = broker = self._start("broker", "broker", "--partitions", "2")
        simulator = self._start("simulator", "simulate", "--latency", latency)
        self.bootstrap, self.provider = first_line(broker), first_line(simulator)
        self.worker_port = free_port()
        self.worker = f"http://127.0.0.1:{self.worker_port}"
        self.worker_process = self._start("worker", "worker", **self._worker_settings())
        self.wait_for_worker()
        self.producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 0, "log_level": 0})

    def _start(self, name: str, *command: str, **settings: str) -> subprocess.Popen:
        return self.processes.start(name, [self.program, *command], settings, stdout=subprocess.PIPE, text=True)

    def wait_for_worker(self) -> None:
        wait_until(lambda: answers(self.worker + "/readyz"), 40, "a worker that is ready")

    def kill_worker(self) -> None:
        """Ends it as a crash would. It is our own child, named by its pid."""
        self.worker_process.kill()
        self.worker_process.wait(10)

    def restart_worker(self) -> None:
        """Starts a worker anew at the same address, and returns once it is ready."""
        self.worker_process = self._start("worker", "worker", **self._worker_settings())
        self.wait_for_worker()

    def _worker_settings(self) -> dict[str, str]:
        """One call for each request, no breaker and no limit that follows the provider, so that a fault shows at once
        and does not reach the next test: after refused calls, one that is slow on purpose would have all others wait.

        `auto` asks Hot Pepper alone. After a call of over a second, as when the machine stands still, it would go on to
        Google's places, which the map does not show.
        """
        settings = {
            "KAFKA_BOOTSTRAP_SERVERS": self.bootstrap,
            "KAFKA_PROPERTIES": "session.timeout.ms=6000,fetch.wait.max.ms=10",
            "ADMIN_PORT": str(self.worker_port),
            "WORKER_DEADLINE": "10s",
            "WORKER_REQUEST_STEPS": "true",
            "PROVIDERS_ORDER": "hotpepper",
            "GOOGLE_PLACES_API_KEY": "Zq7google+key",
            "HOTPEPPER_API_KEY": "Zq7hotpepper+key",
            "PROVIDERS_HOTPEPPER_CALLS_PER_DAY": "100000",
        }
        for name in PROVIDERS:
            settings |= {
                f"{name}_BASE_URL": self.provider,
                f"PROVIDERS_{name}_MAX_ATTEMPTS": "1",
                f"PROVIDERS_{name}_BREAKER_ENABLED": "false",
                f"PROVIDERS_{name}_ADAPTIVE_CONCURRENCY": "false",
            }
        return settings

    def console(self, name: str = "console", **settings: str | None) -> "Console":
        return Console(self, name, settings)

    def produce(
        self,
        kind: str,
        value: dict | bytes,
        key: str | bytes,
        headers: Sequence[tuple[str, bytes]] = (),
        timestamp: int = 0,
    ) -> None:
        """Writes a record as whoever may write to the topics could. It has arrived when this returns. A timestamp is in
        milliseconds; 0: now.
        """
        data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        self.producer.produce(TOPICS[kind], data, key=key, headers=list(headers), timestamp=timestamp)
        assert self.producer.flush(10) == 0, "the broker does not take a record"


class Console:
    """One console, which can be killed and started anew at the same address."""

    def __init__(self, harness: ConsoleHarness, name: str, settings: dict[str, str | None]):
        self.harness, self.name = harness, name
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        given = {
            "KAFKA_BOOTSTRAP_SERVERS": harness.bootstrap,
            "CONSOLE_PORT": str(self.port),
            "CONSOLE_WORKERS": harness.worker,
            "CONSOLE_PICTURE_BASE_URL": harness.provider + "/pictures",
            **settings,
        }
        # None: not set.
        self.settings = {name: value for name, value in given.items() if value is not None}
        self.start()

    def start(self) -> None:
        self.process = self.harness._start(self.name, "console", **self.settings)
        assert first_line(self.process) == f"console {self.url}"

    def kill(self) -> None:
        """Ends it as a crash would. It is our own child, named by its pid."""
        self.process.kill()
        self.process.wait(10)

    def said(self) -> str:
        """Tells whether the console answers, or whether a page does not hear it."""
        if (status := self.process.poll()) is not None:
            return f"the console ended with {status}"
        return "the console answers" if answers(self.url + "/api/config") else "the console does not answer"

    def send(self, session: str, **members) -> str:
        """Sends a request as a page does, and returns its id."""
        body = json.dumps({"operation": "search", "location": SHINJUKU, "radiusMeters": 500, **members}).encode()
        request = urllib.request.Request(
            f"{self.url}/api/sessions/{session}/requests", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)["requestId"]


class Demo:
    """`locsearch demo` with its console: broker, provider and one worker in its process, one worker in another."""

    def __init__(self, program: str, logs: Path, *options: str):
        self.processes = Processes(logs)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [program, "demo", "--console-port", str(port), "--admin-port", "0", *options]
        # The folder is where a demo says how to reach it: other programs of this machine need not find this one.
        self.processes.start("demo", command, {"XDG_RUNTIME_DIR": str(logs)})
        log = logs / "demo.log"
        wait_until(lambda: "Ctrl-C ends the demo" in log.read_text(), 150, "a demo that is up")

    def controls(self) -> dict[str, bool]:
        """Whether each control is on."""
        with urllib.request.urlopen(f"{self.url}/api/demo/faults", timeout=10) as answer:
            return {control["name"]: control["isOn"] for control in json.load(answer)["controls"]}

    def clear(self) -> None:
        """Switches all faults off."""
        request = urllib.request.Request(
            f"{self.url}/api/demo/faults/clear", b"{}", {"content-type": "application/json"}
        )
        urllib.request.urlopen(request, timeout=20).close()


@contextmanager
def running_demo(*options: str):
    """A demo with its log in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="locsearch-demo-", ignore_cleanup_errors=True) as logs:
        demo = Demo(program(), Path(logs), *options)
        try:
            yield demo
        finally:
            demo.processes.end_all()


def answers(url: str) -> bool:
    try:
        return urllib.request.urlopen(url, timeout=2).status == 200
    except OSError:
        return False


class Tiles:
    """A source of tiles: every tile is the same drawing. It remembers which ones were asked for."""

    DRAWING = (
        b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256"><path d="M0 0h256v256H0z" fill="#eee"/></svg>'
    )

    def __init__(self):
        self.asked: list[str] = []
        tiles = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                tiles.asked.append(self.path)
                self.send_response(200)
                self.send_header("content-type", "image/svg+xml")
                self.send_header("content-length", str(len(tiles.DRAWING)))
                self.end_headers()
                self.wfile.write(tiles.DRAWING)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@contextmanager
def console_harness(prefix: str, kind: type[ConsoleHarness] = ConsoleHarness):
    """Processes of its own, with their logs in a folder whose name has a prefix."""
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as logs:
        harness = kind(program(), Path(logs))
        try:
            yield harness
        finally:
            harness.processes.end_all()


def program() -> str:
    """The program under test, which `make test-browser` has built."""
    path = os.environ.get("LOCSEARCH")
    assert path, "LOCSEARCH names the program to test: run make test-browser"
    return path
