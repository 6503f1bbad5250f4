"""The provider simulator and its control plane."""

import json
import subprocess
import urllib.request
from collections import Counter

from .processes import Processes, first_line


class Provider:
    """All three provider APIs on loopback: `locsearch simulate`, or one that runs already at `base_url`."""

    def __init__(self, base_url: str):
        self.base_url = base_url.rstrip("/")
        self._before_reset: Counter = Counter()

    @classmethod
    def start(cls, processes: Processes, command: str, env: dict[str, str] | None = None) -> "Provider":
        simulate = [command, "simulate", "--port", "0"]
        process = processes.start("provider", simulate, env, stdout=subprocess.PIPE, text=True)
        return cls(next(word for word in first_line(process).split() if word.startswith("http")))

    # The members of the default profile that experiments change.

    def latency(self, ms: float) -> None:
        """Makes each answer take so long."""
        self.configure(latency=f"{ms}ms")

    def varied_latency(self, median_ms: float, p99_ms: float) -> None:
        self.configure(latency=f"p50:{median_ms}ms,p99:{p99_ms}ms")

    def faults(self, share: float, *kinds: str) -> None:
        """Makes this share of the calls, 0 to 1, end in one of the kinds of fault."""
        self.configure(faults={kind: share / len(kinds) for kind in kinds})

    def capacity(self, at_once: int | None) -> None:
        """Serves so many calls at once; the others wait for their turn."""
        self.configure(capacity=at_once)

    def configure(self, **changes) -> None:
        self._call("/_sim/config", json.dumps(changes).encode())

    def reset(self) -> None:
        """Sets the counters to zero, but for those of `received`."""
        self._before_reset = self.received()
        self._call("/_sim/reset", b"{}")

    # Counts

    def stats(self) -> dict:
        return json.loads(self._call("/_sim/stats"))

    def calls(self) -> int:
        """Returns the number of calls since the last reset."""
        return self.stats()["requests"]

    def received(self) -> Counter:
        """Returns the number of calls by provider since the start."""
        return self._before_reset + Counter({api: of["requests"] for api, of in self.stats()["apis"].items()})

    def aborted(self) -> int:
        """Returns the number of calls whose client went away before the answer."""
        return self.stats()["aborted"]

    def arrivals(self) -> dict[int, int]:
        """Returns the number of calls by second of the clock, since 1970."""
        counted = self.stats()["perSecond"]
        return {counted["first"] + i: n for i, n in enumerate(counted["counts"])}

    def most_in_one_second(self) -> int:
        """Returns the most calls in any window of one second, wherever it begins."""
        return self.stats()["maxInAnySecond"]

    def _call(self, path: str, body: bytes | None = None) -> bytes:
        call = urllib.request.Request(self.base_url + path, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(call, timeout=10) as answer:
            return answer.read()


def fault(kind: str) -> str:
    """Returns the keyword that makes the simulator do this to one request."""
    return f"fault:{kind}"


def rarely_slow(number: int) -> str | None:
    """Returns the keyword that makes one request of a hundred take 20 s, however often it is asked.

    101 has no factor in common with the number of partitions, so that each of them has slow requests.
    """
    return fault("delay=20000") if number % 101 == 50 else None
