"""The history of the run, written to a file as it happens and counted at once."""

import json
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from history import History


class Recorder:
    """Takes events from any thread. Times are seconds since the run began."""

    def __init__(self, file: Path):
        self.history = History()
        self.problems: list[str] = []  # Problems of the harness itself; with one of them, the run proves nothing.
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._file = open(file, "w")

    @property
    def now(self) -> float:
        return time.monotonic() - self._began

    def add(self, e: str, **event) -> None:
        event = {"e": e, "t": round(self.now, 4), **event}
        with self._lock:
            self.history.add(event)
            self._file.write(json.dumps(event, separators=(",", ":")) + "\n")

    def problem(self, text: str) -> None:
        with self._lock:
            if text not in self.problems:
                self.problems.append(text)

    @property
    def sent(self) -> int:
        return len(self.history.requests)

    @property
    def finished(self) -> int:
        return self.history.finished

    def close(self) -> None:
        self._file.close()
