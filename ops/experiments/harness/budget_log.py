"""Reads the fleet's topic as the protocol of budgets defines it, independently of the workers.

See docs/internals/budgets.md. Snapshots are not needed, because the topic is read from its first record.
"""

import json
import time
from collections import Counter
from dataclasses import dataclass, field

from confluent_kafka import Consumer, TopicPartition


@dataclass
class Account:
    """What the fleet has used and reserved of one account in one period."""

    limit: int = 0
    ordered: int | None = None  # The limit that a person gave.
    made: int = 0
    reserved: Counter = field(default_factory=Counter)  # By sender: granted, and neither returned nor used.

    @property
    def taken(self) -> int:
        return self.made + self.reserved.total()


class BudgetLog:
    """The fleet's records of budgets, in the order of the topic's only partition."""

    def __init__(self, bootstrap: str, topic: str, fetch_wait_ms: int):
        self.accounts: dict[tuple[str, str], Account] = {}  # By name and period.
        self._newest: dict[str, int] = {}
        self._next = 0
        self._partition = TopicPartition(topic, 0, 0)
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"{topic}-budget-log",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": fetch_wait_ms,
                "log_level": 2,
            }
        )
        self._consumer.assign([self._partition])

    def read(self, within: float = 10) -> None:
        """Reads to the topic's present end."""
        end = self._consumer.get_watermark_offsets(self._partition, 5, cached=False)[1]
        deadline = time.monotonic() + within
        while self._next < end:
            if time.monotonic() > deadline:
                raise TimeoutError(f"read {self._next} of {end} records of the fleet's topic in {within:.0f} s")
            for message in self._consumer.consume(500, 0.1):
                if not message.error():
                    self._next = message.offset() + 1
                    self.apply(json.loads(message.value()))

    def apply(self, record: dict) -> None:
        """Applies one record. Those with an earlier number of their sender have no effect."""
        budget = record.get("budget")
        if not budget or budget["number"] <= self._newest.get(budget["sender"], 0):
            return
        self._newest[budget["sender"]] = budget["number"]
        for entry in budget["entries"]:
            self._apply(entry, budget["sender"])
        if (order := budget.get("order")) and "limit" in order:
            self.accounts.setdefault((order["account"], order["period"]), Account()).ordered = order["limit"]

    def _apply(self, entry: dict, sender: str) -> None:
        account = self.accounts.setdefault((entry["account"], entry["period"]), Account())
        account.limit = entry["limit"] if account.ordered is None else account.ordered
        made = sum(entry["made"].values())
        account.made += made
        account.reserved[sender] -= made + entry["giveBack"]
        account.reserved[sender] += min(entry["take"], max(0, account.limit - account.taken))

    def close(self) -> None:
        self._consumer.close()
