"""The provider simulator and its control plane."""
import json
import subprocess
import urllib.request

from .processes import Processes, first_line


class Provider:
    """All three provider APIs on loopback: `locsearch simulate`, or one that runs already at `base_url`."""

    def __init__(self, base_url: str):
        self.base_url = base_url.rstrip("/")

    @classmethod
    def start(cls, processes: Processes, command: str) -> "Provider":
        process = processes.start("provider", [command, "simulate", "--port", "0"], stdout=subprocess.PIPE, text=True)
        return cls(next(word for word in first_line(process).split() if word.startswith("http")))

    def configure(self, **changes) -> None:
        """Changes of the default profile: latency, faults, capacity, quota."""
        self._call("/_sim/config", json.dumps(changes).encode())

    def reset(self) -> None:
        """Sets the counters to zero."""
        self._call("/_sim/reset", b"{}")

    def stats(self) -> dict:
        return json.loads(self._call("/_sim/stats"))

    def _call(self, path: str, body: bytes | None = None) -> bytes:
        call = urllib.request.Request(self.base_url + path, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(call, timeout=10) as answer:
            return answer.read()
