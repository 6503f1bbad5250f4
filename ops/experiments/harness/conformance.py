"""Plays Simulation/conformance.json to a cluster, as `ConformancePlayer` does to the model
(Tests/Simulation/SimulatedKafkaTests/Support).

A step has the name of its request in `do`, `expect` (an error code, or one for each way in which a cluster compares
member epochs), `see` (fields of the answer), `bind` (names for fields of the answer), `until` (repeat until it fits),
`start` (do not wait), and `on` (the kinds of brokers that can do it; a scenario may have it too).
"""

import base64
import json
import threading
import time
import uuid
from pathlib import Path
from typing import Any

from .kafka_wire import Connection, Writer, error_name, read_batches, write_batch

SCRIPT = Path(__file__).parent.parent.parent.parent / "Simulation" / "conformance.json"
PRODUCE, FETCH, LIST_OFFSETS, METADATA, OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR, JOIN, HEARTBEAT, LEAVE, SYNC = (
    0,
    1,
    2,
    3,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
)
(
    API_VERSIONS,
    CREATE_TOPICS,
    DELETE_TOPICS,
    DELETE_RECORDS,
    INIT_PRODUCER,
    ADD_PARTITIONS,
    ADD_OFFSETS,
    END_TXN,
    TXN_OFFSETS,
    CREATE_PARTITIONS,
    CONSUMER_HEARTBEAT,
) = 18, 19, 20, 21, 22, 24, 25, 26, 28, 37, 68
# What passes of itself on a cluster that has just made a topic or a coordinator.
PASSING = {
    "COORDINATOR_LOAD_IN_PROGRESS",
    "COORDINATOR_NOT_AVAILABLE",
    "NOT_COORDINATOR",
    "LEADER_NOT_AVAILABLE",
    "NOT_LEADER_OR_FOLLOWER",
}
PATIENCE_S = 20


class Cluster:
    """Requests to a cluster, each sent to the broker that is in charge of it."""

    def __init__(self, bootstrap: str):
        host, port = bootstrap.split(",")[0].rsplit(":", 1)
        self.bootstrap = (host, int(port))
        self.connections: dict = {}
        r = self._to(self.bootstrap).ask(API_VERSIONS, 0, b"")
        self.refused = r.i16()
        self.versions = {api: (low, high) for api, low, high in r.list(lambda: (r.i16(), r.i16(), r.i16()))}

    def close(self) -> None:
        for connection in self.connections.values():
            connection.close()

    def speaks(self, api: int, version: int) -> bool:
        low, high = self.versions.get(api, (0, -1))
        return low <= version <= high

    def _to(self, address) -> Connection:
        # A thread whose answer is waited for must not hold up the others.
        key = (address, threading.get_ident())
        if key not in self.connections:
            self.connections[key] = Connection(*address)
        return self.connections[key]

    # Who is in charge

    def metadata(self, topic: str) -> dict:
        version = 4 if self.speaks(METADATA, 4) else 1
        body = Writer().list([topic], lambda t: None)
        body.text(topic)
        if version >= 4:
            body.i8(0)
        r = self._to(self.bootstrap).ask(METADATA, version, body.bytes)
        if version >= 3:
            r.i32()
        brokers = {id: (host, port) for id, host, port, _ in r.list(lambda: (r.i32(), r.text(), r.i32(), r.text()))}
        if version >= 2:
            r.text()
        self.controller = brokers.get(r.i32(), self.bootstrap)

        def partition():
            found = r.i16(), r.i32(), r.i32()
            r.list(r.i32), r.list(r.i32)
            return found

        topics = r.list(lambda: (r.i16(), r.text(), r.i8(), r.list(partition)))
        return {number: brokers.get(leader) for _, _, _, parts in topics for _, number, leader in parts}

    def topic_id(self, topic: str) -> bytes:
        body = Writer(flexible=True).unsigned(2).raw(bytes(16)).text(topic).tags().i8(0).i8(0).tags()
        r = self._to(self.bootstrap).ask(METADATA, 12, body.bytes, flexible=True)
        r.i32()
        r.list(lambda: (r.i32(), r.text(), r.i32(), r.text(), r.tags()))
        r.text(), r.i32(), r.unsigned(), r.i16(), r.text()
        return r.raw(16)

    def leader(self, topic: str, partition: int):
        return self.metadata(topic).get(partition) or self.bootstrap

    def coordinator(self, key: str, is_transaction: bool = False):
        r = self._to(self.bootstrap).ask(FIND_COORDINATOR, 1, Writer().text(key).i8(int(is_transaction)).bytes)
        r.i32()
        code, _ = r.i16(), r.text()
        r.i32()
        return (r.text(), r.i32()) if code == 0 else error_name(code)

    # Requests: each takes the step's values and returns the answer's fields

    def ask(self, step: dict) -> dict:
        try:
            return getattr(self, "do_" + step["do"])(step)
        except (OSError, ValueError):
            # A connection with a request that was not answered to its end is of no further use.
            mine = [key for key in self.connections if key[1] == threading.get_ident()]
            for key in mine:
                self.connections.pop(key).close()
            raise

    def _at_leader(self, s: dict, api: int, version: int, body: bytes):
        return self._to(self.leader(s["topic"], s.get("partition", 0))).ask(api, version, body)

    def _coordinate(
        self, s: dict, api: int, version: int, body: bytes, flexible: bool = False, transaction: bool = False
    ):
        found = self.coordinator(s["transaction"] if transaction else s["group"], transaction)
        return found if isinstance(found, str) else self._to(found).ask(api, version, body, flexible)

    def do_createTopic(self, s):
        body = (
            Writer()
            .list([s], lambda _: None)
            .text(s["topic"])
            .i32(s["partitions"])
            .i16(1)
            .i32(0)
            .i32(0)
            .i32(10_000)
            .i8(0)
        )
        return self._topic_answer(CREATE_TOPICS, 3, body.bytes, s["topic"])

    def do_createPartitions(self, s):
        body = Writer().list([s], lambda _: None).text(s["topic"]).i32(s["count"]).i32(-1).i32(10_000).i8(0)
        return self._topic_answer(CREATE_PARTITIONS, 1, body.bytes, s["topic"])

    def do_deleteTopic(self, s):
        body = Writer().list([s["topic"]], lambda _: None).text(s["topic"]).i32(10_000)
        return self._topic_answer(DELETE_TOPICS, 3, body.bytes, s["topic"])

    def _topic_answer(self, api, version, body, topic):
        self.metadata(topic)
        r = self._to(self.controller).ask(api, version, body)
        r.i32(), r.i32(), r.text()
        return {"error": error_name(r.i16())}

    def do_deleteRecords(self, s):
        body = (
            Writer()
            .list([s], lambda _: None)
            .text(s["topic"])
            .list([s], lambda _: None)
            .i32(s["partition"])
            .i64(s["offset"])
            .i32(10_000)
        )
        r = self._at_leader(s, DELETE_RECORDS, 1, body.bytes)
        r.i32(), r.i32(), r.text(), r.i32(), r.i32()
        low = r.i64()
        return {"lowWatermark": low, "error": error_name(r.i16())}

    def do_produce(self, s):
        batch = write_batch(
            [v.encode() for v in s["values"]],
            time.time_ns() // 1_000_000,
            s.get("producerId", -1),
            s.get("epoch", -1),
            s.get("sequence", -1),
            "transaction" in s,
        )
        body = (
            Writer()
            .text(s.get("transaction"))
            .i16(-1)
            .i32(10_000)
            .list([s], lambda _: None)
            .text(s["topic"])
            .list([s], lambda _: None)
            .i32(s["partition"])
            .blob(batch)
        )
        r = self._at_leader(s, PRODUCE, 7, body.bytes)
        r.i32(), r.text(), r.i32(), r.i32()
        return {"error": error_name(r.i16()), "baseOffset": r.i64()}

    def do_fetch(self, s):
        """Reads from an offset to the end that the reader may see. Some brokers give one batch at a time."""
        answer = {"error": "NONE", "values": []}
        position = s["offset"]
        while True:
            part, position, has_more = self._fetch(s, position)
            if part["error"] != "NONE":
                return part
            answer |= part | {"values": answer["values"] + part["values"]}
            if not has_more:
                return answer

    def _fetch(self, s, position: int) -> tuple[dict, int, bool]:
        committed = s.get("isolation") == "committed"
        body = (
            Writer()
            .i32(-1)
            .i32(200)
            .i32(1)
            .i32(1 << 20)
            .i8(int(committed))
            .i32(0)
            .i32(-1)
            .list([s], lambda _: None)
            .text(s["topic"])
            .list([s], lambda _: None)
        )
        body.i32(s["partition"]).i32(-1).i64(position).i64(-1).i32(1 << 20).list([], None).text("")
        r = self._at_leader(s, FETCH, 11, body.bytes)
        r.i32()
        code, _ = r.i16(), r.i32()
        if code:
            return {"error": error_name(code)}, position, False
        r.i32(), r.text(), r.i32(), r.i32()
        part = {
            "error": error_name(r.i16()),
            "highWatermark": r.i64(),
            "lastStableOffset": r.i64(),
            "logStart": r.i64(),
            "values": [],
        }
        aborted = r.list(lambda: (r.i64(), r.i64())) or []
        r.i32()
        ignored, began = set(), position
        for offset, value, producer, transactional, marker in read_batches(r.blob() or b""):
            ignored |= {p for p, first in aborted if first <= offset}
            if marker:
                ignored.discard(producer)
                aborted = [(p, first) for p, first in aborted if p != producer or first > offset]
            elif offset >= position and not (committed and transactional and producer in ignored):
                part["values"].append((value or b"").decode())
            position = max(position, offset + 1)
        end = part["lastStableOffset"] if committed else part["highWatermark"]
        return part, position, began < position < end

    def do_listOffsets(self, s):
        body = (
            Writer()
            .i32(-1)
            .i8(int(s.get("isolation") == "committed"))
            .list([s], lambda _: None)
            .text(s["topic"])
            .list([s], lambda _: None)
        )
        r = self._at_leader(
            s, LIST_OFFSETS, 5, body.i32(s["partition"]).i32(-1).i64(-1 if s["at"] == "latest" else -2).bytes
        )
        r.i32(), r.i32(), r.text(), r.i32(), r.i32()
        return {"error": error_name(r.i16()), "time": r.i64(), "offset": r.i64()}

    def do_joinGroup(self, s):
        body = (
            Writer()
            .text(s["group"])
            .i32(s.get("session", 30_000))
            .i32(s.get("rebalance", 60_000))
            .text(s["member"])
            .text(s.get("instance"))
            .text("consumer")
        )
        body.list(s["protocols"], lambda name: body.text(name).blob(b""))
        r = self._coordinate(s, JOIN, 5, body.bytes)
        if isinstance(r, str):
            return {"error": r}
        r.i32()
        answer = {"error": error_name(r.i16()), "generation": r.i32(), "protocol": r.text()}
        leader, member = r.text(), r.text()
        members = r.list(lambda: (r.text(), r.text(), r.blob())) or []
        return answer | {"memberId": member, "isLeader": bool(member) and leader == member, "members": len(members)}

    def do_syncGroup(self, s):
        body = Writer().text(s["group"]).i32(s["generation"]).text(s["member"]).text(s.get("instance"))
        body.list(list(s.get("assignments", {}).items()), lambda pair: body.text(pair[0]).blob(pair[1].encode()))
        r = self._coordinate(s, SYNC, 3, body.bytes)
        if isinstance(r, str):
            return {"error": r}
        r.i32()
        return {"error": error_name(r.i16()), "assignment": (r.blob() or b"").decode()}

    def do_heartbeat(self, s):
        body = Writer().text(s["group"]).i32(s["generation"]).text(s["member"]).text(s.get("instance"))
        return self._short(self._coordinate(s, HEARTBEAT, 3, body.bytes))

    def do_leaveGroup(self, s):
        return self._short(self._coordinate(s, LEAVE, 1, Writer().text(s["group"]).text(s["member"]).bytes))

    def _short(self, r):
        if isinstance(r, str):
            return {"error": r}
        r.i32()
        return {"error": error_name(r.i16())}

    def do_offsetCommit(self, s):
        version = s.get("version", 7)
        w = Writer(flexible=version >= 8)
        w.text(s["group"]).i32(s.get("generation", -1)).text(s.get("member", "")).text(s.get("instance")).list(
            [s], lambda _: None
        ).text(s["topic"]).list([s], lambda _: None)
        text = s.get("metadata", "x" * s.get("metadataBytes", 0))
        w.i32(s["partition"]).i64(s["offset"]).i32(-1).text(text).tags().tags().tags()
        return self._offset_answer(self._coordinate(s, OFFSET_COMMIT, version, w.bytes, w.flexible))

    def _offset_answer(self, r):
        if isinstance(r, str):
            return {"error": r}
        r.i32()
        r.unsigned() if r.flexible else r.i32()
        r.text()
        r.unsigned() if r.flexible else r.i32()
        r.i32()
        return {"error": error_name(r.i16())}

    def do_offsetFetch(self, s):
        stable = s.get("requireStable", False)
        w = Writer(flexible=stable)
        w.text(s["group"]).list([s], lambda _: None).text(s["topic"]).list([s["partition"]], w.i32).tags()
        if stable:
            w.i8(1).tags()
        r = self._coordinate(s, OFFSET_FETCH, 7 if stable else 5, w.bytes, stable)
        if isinstance(r, str):
            return {"error": r}
        r.i32()

        def partition():
            r.i32()
            found = r.i64(), r.i32(), r.text(), r.i16()
            r.tags()
            return found

        topics = r.list(lambda: (r.text(), r.list(partition), r.tags()))
        top = r.i16()
        offset, _, metadata, code = topics[0][1][0] if topics else (-1, -1, "", 0)
        return {"error": error_name(top or code), "offset": offset, "metadataBytes": len(metadata or "")}

    def commits(self, group: str, topic: str, partitions: int) -> dict[int, tuple[int, str | None]]:
        """Returns each partition's committed offset with its metadata, which confluent-kafka reads beyond its end."""
        w = Writer().text(group).list([topic], lambda _: None).text(topic)
        w.list(list(range(partitions)), w.i32)
        r = self._coordinate({"group": group}, OFFSET_FETCH, 5, w.bytes)
        if isinstance(r, str):
            return {}
        r.i32()

        def partition():
            number, offset, _, metadata, _ = r.i32(), r.i64(), r.i32(), r.text(), r.i16()
            return number, (offset, metadata)

        topics = r.list(lambda: (r.text(), r.list(partition)))
        return dict(topics[0][1]) if topics else {}

    def do_consumerGroupHeartbeat(self, s):
        version = 1 if self.speaks(CONSUMER_HEARTBEAT, 1) else 0
        topic = self.topic_id(s["topic"])
        w = Writer(flexible=True)
        w.text(s["group"]).text(s["member"]).i32(s["epoch"]).text(s.get("instance")).text(None).i32(
            s.get("rebalance", -1)
        ).list(s.get("topics"), w.text)
        if version >= 1:
            w.text(None)
        w.text(None)
        owned = s.get("owned")
        w.list(
            None if owned is None else [owned] if owned else [],
            lambda numbers: w.raw(topic).list(numbers, w.i32).tags(),
        ).tags()
        r = self._coordinate(s, CONSUMER_HEARTBEAT, version, w.bytes, flexible=True)
        if isinstance(r, str):
            return {"error": r}
        r.i32()
        answer: dict[str, Any] = {"error": error_name(r.i16())}
        r.text()
        answer |= {"memberId": r.text(), "memberEpoch": r.i32(), "interval": r.i32()}
        if r.i8() >= 0:
            given = r.list(lambda: (r.raw(16), r.list(r.i32), r.tags())) or []
            numbers = sorted(n for _, part, _ in given for n in part)
            answer |= {"assignment": numbers, "count": len(numbers)}
        return answer

    def do_initProducerId(self, s):
        w = Writer(flexible=True)
        w.text(s.get("transaction")).i32(s.get("timeout", 60_000)).i64(s.get("producerId", -1)).i16(
            s.get("epoch", -1) if "producerId" in s else -1
        ).tags()
        if "transaction" in s:
            r = self._coordinate(s, INIT_PRODUCER, 4, w.bytes, flexible=True, transaction=True)
        else:
            r = self._to(self.bootstrap).ask(INIT_PRODUCER, 4, w.bytes, flexible=True)
        if isinstance(r, str):
            return {"error": r}
        r.i32()
        return {"error": error_name(r.i16()), "producerId": r.i64(), "epoch": r.i16()}

    def _transaction(self, s):
        return Writer().text(s["transaction"]).i64(s["producerId"]).i16(s["epoch"])

    def do_addPartitionsToTxn(self, s):
        body = self._transaction(s).list([s], lambda _: None).text(s["topic"])
        body.list([s["partition"]], body.i32)
        return self._offset_answer(self._coordinate(s, ADD_PARTITIONS, 1, body.bytes, transaction=True))

    def do_addOffsetsToTxn(self, s):
        return self._short(
            self._coordinate(s, ADD_OFFSETS, 1, self._transaction(s).text(s["group"]).bytes, transaction=True)
        )

    def do_txnOffsetCommit(self, s):
        w = Writer(flexible=True)
        w.text(s["transaction"]).text(s["group"]).i64(s["producerId"]).i16(s["epoch"]).i32(
            s.get("generation", -1)
        ).text(s.get("member", "")).text(s.get("instance"))
        w.list([s], lambda _: None).text(s["topic"]).list([s], lambda _: None).i32(s["partition"]).i64(s["offset"]).i32(
            -1
        ).text("x" * s.get("metadataBytes", 0)).tags().tags().tags()
        return self._offset_answer(self._coordinate(s, TXN_OFFSETS, 3, w.bytes, flexible=True))

    def do_endTxn(self, s):
        return self._short(
            self._coordinate(
                s, END_TXN, 1, self._transaction(s).i8(int(s["result"] == "commit")).bytes, transaction=True
            )
        )


class Player:
    """Plays scenarios, and remembers what it has bound and what differed."""

    def __init__(self, cluster, kind: str, say=lambda text: None, sleep=time.sleep):
        self.cluster, self.kind, self.say, self.sleep = cluster, kind, say, sleep
        self.played = self.skipped = 0
        self.differences: list[str] = []
        self.epoch_check: str | None = None  # How the cluster compares member epochs, once a step has shown it.
        self.names: dict = {}
        self.started: dict = {}

    def can(self, entry: dict, default: list[str]) -> bool:
        return self.kind in entry.get("on", default) or (self.kind == "kafka 4" and "kafka" in entry.get("on", default))

    def play(self, scenarios: list[dict]) -> None:
        for scenario in scenarios:
            kinds = scenario.get("on", ["kafka", "kafka 4"])
            if not self.can(scenario, kinds):
                self.skipped += len(scenario["steps"])
                continue
            self.say(scenario["name"])
            run = uuid.uuid4().hex[:10]
            self.names = {
                "topic": f"conformance-{run}",
                "group": f"conformance-group-{run}",
                "tx": f"conformance-tx-{run}",
                **{f"member{n}": base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=") for n in (1, 2)},
            }
            for number, step in enumerate(scenario["steps"], 1):
                if not self.can(step, kinds):
                    self.skipped += 1
                    continue
                self.played += 1
                problem = self.step(step)
                if problem:
                    self.differences.append(f"{scenario['name']}, step {number}, {step['do']}: {problem}")
                    break  # What follows builds on it.

    def step(self, step: dict) -> str | None:
        if step["do"] == "wait":
            self.sleep(step["seconds"])
            return None
        if "start" in step:
            answer: dict = {}
            thread = threading.Thread(target=lambda: answer.update(self._ask(step)), daemon=True)
            thread.start()
            self.started[step["start"]] = (thread, answer)
            self.sleep(0.5)  # So that it arrives before the next step.
            return None

        end = time.monotonic() + PATIENCE_S
        while True:
            answer = self._answer(step)
            problem = self._judge(answer, step)
            may_pass = (
                step.get("until")
                or (answer.get("error") in PASSING and answer["error"] not in str(step.get("expect")))
                or (self._is_new_topic(step, answer))
            )
            if not problem or not may_pass or time.monotonic() > end:
                return problem
            self.sleep(0.1)

    def _is_new_topic(self, step: dict, answer: dict) -> bool:
        """Brokers hear of a new topic, or of a new partition, some time after it was made."""
        return answer.get("error") == "UNKNOWN_TOPIC_OR_PARTITION" and step.get("expect") == "NONE"

    def _answer(self, step: dict) -> dict:
        if step["do"] == "finish":
            thread, answer = self.started[step["started"]]
            thread.join(90)
            return answer or {"error": "no answer"}
        return self._ask(step)

    def _ask(self, step: dict) -> dict:
        values = {key: self.resolve(value) for key, value in step.items() if key not in ("see", "bind", "expect")}
        try:
            return self.cluster.ask(values)
        except (OSError, ValueError, IndexError) as e:
            return {"error": f"{type(e).__name__}: {e}"}

    def resolve(self, value):
        """`$name`, `$name+1`, `$name.0` and `$name-2` stand for what was bound; the last one is another name where it
        is text.
        """
        if isinstance(value, dict):
            return {self.resolve(k): self.resolve(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.resolve(v) for v in value]
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        name = value[1:].split("+")[0].split("-")[0].split(".")[0]
        bound, rest = self.names[name], value[1 + len(name) :]
        if not rest:
            return bound
        if rest.startswith("."):
            return bound[int(rest[1:])]
        return bound + int(rest) if isinstance(bound, int) else f"{bound}{rest}"

    def _judge(self, answer: dict, step: dict) -> str | None:
        expected = step.get("expect", "NONE")
        if isinstance(expected, dict):
            shown = [check for check, code in expected.items() if code == answer.get("error")]
            if self.epoch_check is None and shown:
                self.epoch_check = shown[0]
            expected = expected.get(self.epoch_check or "", " or ".join(expected.values()))
        if answer.get("error") != expected:
            return f"{answer.get('error')} where {expected} is expected"
        for field, wanted in step.get("see", {}).items():
            if answer.get(field) != self.resolve(wanted):
                return f"{field} is {answer.get(field)} where {self.resolve(wanted)} is expected"
        for name, field in step.get("bind", {}).items():
            self.names[name] = answer[field]
        return None


def scenarios() -> list[dict]:
    return json.loads(SCRIPT.read_text())["scenarios"]
