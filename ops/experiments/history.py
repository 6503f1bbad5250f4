#!/usr/bin/env python3
"""Judges the history of a run: what was sent, what came out, what was committed, who was killed.

    history.py FILE.jsonl        prints the counts, then each violation; exits 1 if there is one

One JSON object per line, in any order but for `outcome` (the reader's order) and `commit` (the sampler's):

    {"e": "params", "ordering": "unordered|key|partition", "inFlight": 256, "commitInterval": 1.0, "allowed": null}
        allowed: most duplicates; null: the bound of a kill -9 (below) for each kill; 0 for planned changes
    {"e": "sent", "t": 1.5, "id": "r1", "key": "k1", "p": 0, "o": 17, "session": "s1", "bad": true}
        acknowledged at partition p, offset o; bad: no request, so it must end as an error and a dead letter.
        found: true: not acknowledged, but in the log; it needs no outcome, though it may have one
    {"e": "outcome", "t": 1.7, "kind": "result|error|dead", "id": "r1", "key": "k1", "p": 0, "o": 17,
     "op": 3, "oo": 99, "ce": "...", "code": "timeout", "fault": "why it is no proper event"}
        p, o: the request's position by the outcome's headers; op, oo: the outcome's own; a: the attempts it names
    {"e": "commit", "t": 2.0, "committed": {"0": 18}, "ends": {"result": {"3": 100}, "error": {}, "dead": {}}}
        the group's offsets and, read after them, the end offsets of the outcome topics; where a broker's end offsets
        cannot be had exactly, "wall" (ms since 1970) instead: an outcome was out if its record's time "ts" is not later
    {"e": "kill", "t": 2.5, "worker": 1}     a crash; "losses": n when it counts as n; "open": n when the worker had
        that many requests open, which then count in place of inFlight
    {"e": "live", "t": 0.1, "workers": 4}    how many workers run from here on

A crash may repeat what the dead worker had in flight and what it had finished since its last commit, so
duplicates <= kills x (in-flight limit + what one worker finishes in one commit interval); the latter is measured
from the history itself: outcomes in the busiest interval, of as many partitions as each worker alive then had.
"""

import json
import math
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

OUTCOMES = ("result", "error")
SHOWN = 20  # So many of each kind of violation are shown; the rest is counted.


@dataclass(slots=True)
class Request:
    """One record of the requests topic and what became of it."""

    id: str | None
    key: str | None
    session: str | None
    bad: bool
    found: bool
    outcomes: list = field(default_factory=list)  # (kind, code, op, oo, ce, fault, ts, attempts), in the order read
    dead: list = field(default_factory=list)


@dataclass
class Verdict:
    sent: int = 0
    outcomes: int = 0  # The number of distinct requests that have an outcome.
    results: int = 0
    errors: int = 0
    dead_letters: int = 0
    lost: int = 0
    duplicates: int = 0
    dead_duplicates: int = 0
    wrong: int = 0
    superseded: int = 0
    order_violations: int = 0
    commit_violations: int = 0
    kills: int = 0
    most_per_worker: int = 0  # One worker's outcomes in its busiest commit interval.
    bound: int = 0
    codes: dict = field(default_factory=dict)
    violations: list = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.violations


class History:
    """Takes events one by one. `judge` may be called at any time, but says most once nothing more comes."""

    def __init__(self) -> None:
        self.params: dict[str, Any] = {"ordering": "unordered", "inFlight": 256, "commitInterval": 1.0, "allowed": None}
        self.requests: dict[tuple[int, int], Request] = {}
        self.early: dict[tuple[int, int], list] = defaultdict(
            list
        )  # Outcomes that were read before their request was acknowledged.
        self.commits: list[dict] = []
        self.kills = 0
        self.open_at_kills: list[int] = []  # The requests that a killed worker had open, of those that were asked.
        self.live: list[tuple[float, int]] = []
        self.per_interval: dict[int, Counter] = defaultdict(Counter)  # Outcomes by commit interval and partition.
        self.finished = 0  # The requests with at least one outcome and, if they were bad, a dead letter.

    # Taking events in

    def add(self, event: dict) -> None:
        getattr(self, "_" + event["e"], lambda _: None)(event)

    def _params(self, e: dict) -> None:
        self.params.update({k: v for k, v in e.items() if k != "e"})

    def _sent(self, e: dict) -> None:
        at = (e["p"], e["o"])
        if at in self.requests:
            return
        request = Request(e.get("id"), e.get("key"), e.get("session"), e.get("bad", False), e.get("found", False))
        self.requests[at] = request
        for outcome in self.early.pop(at, ()):
            self._take(request, outcome)

    def _outcome(self, e: dict) -> None:
        self.per_interval[int(e["t"] / self.params["commitInterval"])][e.get("p")] += e["kind"] in OUTCOMES
        position: Any = (e.get("p"), e.get("o"))
        request = self.requests.get(position)
        if request:
            self._take(request, e)
        else:
            self.early[position].append(e)

    def _take(self, request: Request, e: dict) -> None:
        before = self._is_finished(request)
        fault = self._fault(request, e)
        entry = (e["kind"], e.get("code"), e["op"], e["oo"], e.get("ce"), fault, e.get("ts"), e.get("a", 0))
        (request.outcomes if e["kind"] in OUTCOMES else request.dead).append(entry)
        self.finished += not before and self._is_finished(request)

    @staticmethod
    def _is_finished(request: Request) -> bool:
        return bool(request.outcomes) and (bool(request.dead) or not request.bad)

    def _commit(self, e: dict) -> None:
        self.commits.append(e)

    def _kill(self, e: dict) -> None:
        self.kills += e.get("losses", 1)
        if "open" in e:
            self.open_at_kills.append(e["open"])

    def _live(self, e: dict) -> None:
        self.live.append((e["t"], e["workers"]))

    @staticmethod
    def _fault(request: Request, e: dict) -> str | None:
        """Returns what is wrong with one outcome by itself, or None."""
        if e.get("fault"):
            return e["fault"]
        if e["kind"] == "dead":
            return None if request.bad else "a proper request became a dead letter"
        if request.bad and e["kind"] == "result":
            return "a record that is no request got a result"
        if request.id is not None and e.get("id") != request.id:
            return f"requestId is {e.get('id')!r}, not {request.id!r}"
        want = request.key if request.key is not None else request.id
        if want is not None and e.get("key") != want:
            return f"key is {e.get('key')!r}, not {want!r}"
        return None

    # Judging

    def judge(self) -> Verdict:
        v = Verdict(kills=self.kills)
        self._found: dict[str, list[str]] = defaultdict(list)
        self._count(v)
        self._identities(v)
        self._superseded(v)
        self._order(v)
        self._committed(v)
        self._bound(v)
        for what, where in self._found.items():
            v.violations += where[:SHOWN]
            if len(where) > SHOWN:
                v.violations.append(f"... and {len(where) - SHOWN} more: {what}")
        return v

    def _violation(self, what: str, at: tuple, text: str) -> None:
        self._found[what].append(f"{what}: {at[0]}/{at[1]}: {text}")

    def _count(self, v: Verdict) -> None:
        codes: Counter = Counter()
        for at, r in self.requests.items():
            v.sent += 1
            v.outcomes += bool(r.outcomes)
            v.results += sum(o[0] == "result" for o in r.outcomes)
            v.errors += sum(o[0] == "error" for o in r.outcomes)
            v.dead_letters += len(r.dead)
            v.duplicates += max(0, len(r.outcomes) - 1)
            v.dead_duplicates += max(0, len(r.dead) - 1)
            if r.outcomes:
                codes[r.outcomes[0][1] or r.outcomes[0][0]] += 1
            if not r.found and not r.outcomes:
                v.lost += 1
                self._violation("lost", at, f"{r.id}: no outcome")
            elif not r.found and r.bad and not r.dead:
                v.lost += 1
                self._violation("lost", at, f"{r.id}: no dead letter")
            for entry in r.outcomes + r.dead:
                if entry[5]:
                    v.wrong += 1
                    self._violation("wrong", at, entry[5])
        for at, events in self.early.items():
            v.wrong += len(events)
            self._violation("wrong", at, f"{len(events)} outcome(s) of a record that was never sent")
        v.codes = dict(codes.most_common())

    def _identities(self, v: Verdict) -> None:
        """Checks that a redelivered request gives the same event id again, and that no two requests give the same
        one.
        """
        owner: dict[str, tuple] = {}
        for at, r in self.requests.items():
            ids = {o[4] for o in r.outcomes if o[4]}
            if len(ids) > 1:
                v.wrong += 1
                self._violation("wrong", at, f"its outcomes have different ids: {sorted(ids)}")
            for i in ids:
                if owner.setdefault(i, at) != at:
                    v.wrong += 1
                    self._violation("wrong", at, f"ce_id {i} is also that of {owner[i]}")

    def _superseded(self, v: Verdict) -> None:
        newest: dict[tuple, int] = {}
        for (p, o), r in self.requests.items():
            if r.session:
                newest[(p, r.session)] = max(o, newest.get((p, r.session), -1))
        for (p, o), r in self.requests.items():
            if not any(x[1] == "superseded" for x in r.outcomes):
                continue
            v.superseded += 1
            if r.session is None or newest[(p, r.session)] <= o:
                v.wrong += 1
                self._violation("wrong", (p, o), "superseded, but no newer request of its session exists")

    def _order(self, v: Verdict) -> None:
        """Compares the first outcomes, as the outcome topics hold them, with the order of the requests."""
        ordering = self.params["ordering"]
        if ordering == "unordered":
            return
        lanes: dict[tuple, list] = defaultdict(list)
        for (p, o), r in self.requests.items():
            if r.outcomes:
                kind, _, op, oo = r.outcomes[0][:4]
                lanes[(kind, op, p, r.key if ordering == "key" else None)].append((oo, o))
        for (kind, _, p, key), pairs in lanes.items():
            highest = -1
            for _, o in sorted(pairs):
                if o < highest:
                    v.order_violations += 1
                    what = f"key {key!r}" if ordering == "key" else "its partition"
                    self._violation("order", (p, o), f"{kind} of {what} left after that of {highest}")
                highest = max(highest, o)

    def _committed(self, v: Verdict) -> None:
        """Checks that no offset was committed past a request whose outcome was not yet in the outcome topic."""
        by_partition: dict[int, list] = defaultdict(list)
        for (p, o), r in self.requests.items():
            by_partition[p].append((o, r))
        for rows in by_partition.values():
            rows.sort(key=lambda row: row[0])
        checked: dict[int, int] = defaultdict(int)  # Rows below this one are known to be out since an earlier sample.
        for sample in self.commits:
            for p, committed in ((int(p), c) for p, c in sample["committed"].items()):
                rows, i = by_partition[p], checked[p]
                while i < len(rows) and rows[i][0] < committed:
                    o, r = rows[i]
                    if not self._was_out(r, sample):
                        v.commit_violations += 1
                        self._violation(
                            "commit",
                            (p, o),
                            f"{committed} was committed at {sample['t']:.1f} s, its outcome was not out",
                        )
                    i += 1
                checked[p] = max(i, checked[p])

    @staticmethod
    def _was_out(r: Request, sample: dict) -> bool:
        ends, wall = sample.get("ends", {}), sample.get("wall")

        def out(kind, code, op, oo, ce, fault, ts, attempts) -> bool:
            return ts <= wall if wall is not None else oo < ends.get(kind, {}).get(str(op), 0)

        return any(out(*e) for e in r.outcomes) and (not r.bad or any(out(*e) for e in r.dead))

    def _bound(self, v: Verdict) -> None:
        v.most_per_worker = self.most_per_worker()
        allowed = self.params["allowed"]
        v.bound = self.loss_bound() if allowed is None else allowed
        for name, count in (("duplicates", v.duplicates), ("dead-letter duplicates", v.dead_duplicates)):
            if count > v.bound:
                self._found["duplicates"].append(f"{name}: {count}, and at most {v.bound} may be ({v.kills} kills)")

    def loss_bound(self) -> int:
        """Returns how much the crashes may repeat: what was open at each, and one commit interval of one worker."""
        unasked = self.kills - len(self.open_at_kills)
        in_flight = sum(self.open_at_kills) + unasked * self.params["inFlight"]
        return in_flight + self.kills * self.most_per_worker()

    def most_per_worker(self) -> int:
        """Returns what one worker may have finished in one commit interval: in the busiest one, as many partitions as
        each worker has. The mean of the run is no bound: a worker that waited for a core finishes in bursts.
        """
        partitions = len({partition for counts in self.per_interval.values() for partition in counts})
        most = 0
        for interval, counts in self.per_interval.items():
            own = math.ceil(partitions / self._workers_at((interval + 1) * self.params["commitInterval"]))
            most = max(most, sum(sorted(counts.values(), reverse=True)[:own]))
        return most

    def _workers_at(self, t: float) -> int:
        n = 1
        for since, workers in self.live:
            if since > t:
                break
            n = workers
        return max(1, n)


def table(v: Verdict) -> str:
    rows = [
        ("sent", v.sent),
        ("outcomes", v.outcomes),
        ("lost", v.lost),
        ("duplicates", f"{v.duplicates} (at most {v.bound})"),
        ("wrong", v.wrong),
        ("superseded", v.superseded),
        ("order violations", v.order_violations),
        ("commit violations", v.commit_violations),
        ("dead letters", v.dead_letters),
        ("kills", v.kills),
        ("verdict", "ok" if v.ok else "VIOLATED"),
    ]
    return "\n".join(f"{name:18} {value}" for name, value in rows)


def main(argv: list[str]) -> int:
    if len(argv) != 2 or argv[1].startswith("-"):
        print(__doc__)
        return 0 if argv[1:] in (["-h"], ["--help"]) else 64
    history = History()
    with open(argv[1]) as lines:
        for line in lines:
            history.add(json.loads(line))
    verdict = history.judge()
    print(table(verdict))
    for violation in verdict.violations:
        print(violation)
    return 0 if verdict.ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
