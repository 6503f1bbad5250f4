"""Several kinds of requests side by side, each at a rate that can be changed while they are sent."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .traffic import Sender, request


@dataclass
class Kind:
    rate: float  # Per second; 0 stops the kind.
    send: Callable[[str, int], None]
    sent: int = 0
    due: float = 0.0


class Mixture(threading.Thread):
    """Sends until it is stopped. Nobody else may use its sender meanwhile."""

    def __init__(self, sender: Sender):
        super().__init__(daemon=True)
        self.sender = sender
        self._kinds: dict[str, Kind] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def set(self, name: str, rate: float, send: Callable[[str, int], None] | None = None, **members) -> None:
        """Sends so many requests of a kind per second. They have these members, unless `send` sends something of its
        own: it is called with an id and a number."""

        def usual(id: str, number: int) -> None:
            own = {member: value(number) if callable(value) else value for member, value in members.items()}
            self.sender.send(id, request(id, number, **own), id)

        with self._lock:
            if name in self._kinds:
                self._kinds[name].rate = rate
            else:
                self._kinds[name] = Kind(rate, send or usual)

    def run(self) -> None:
        last = time.monotonic()
        while not self._stopped.wait(0.01) and not self.sender.ended:
            now = time.monotonic()
            with self._lock:
                for name, kind in self._kinds.items():
                    kind.due += kind.rate * (now - last)
                    while kind.due >= 1:
                        kind.due -= 1
                        kind.sent += 1
                        kind.send(f"{name}{kind.sent}", kind.sent)
            last = now
        self.sender.flush()

    def stop(self) -> None:
        self._stopped.set()
        if self.is_alive():
            self.join(20)
