#!/usr/bin/env python3
"""librdkafka's mock cluster as a process: the same program and control lines as `locsearch broker --control`.

    mock_broker.py [--brokers N] [--topic NAME:PARTITIONS]... [--library FILE] [--control]

Prints the bootstrap address, then runs until SIGTERM (with --control also until the end of standard input).
It takes librdkafka from the confluent-kafka wheel, whose mock cluster is newer than the system's.
"""

import argparse
import ctypes as c
import json
import signal
import sys
import threading
from pathlib import Path

APIS = {
    "Produce": 0,
    "Fetch": 1,
    "ListOffsets": 2,
    "Metadata": 3,
    "OffsetCommit": 8,
    "OffsetFetch": 9,
    "FindCoordinator": 10,
    "JoinGroup": 11,
    "Heartbeat": 12,
    "LeaveGroup": 13,
    "SyncGroup": 14,
    "ApiVersion": 18,
    "InitProducerId": 22,
    "AddPartitionsToTxn": 24,
    "AddOffsetsToTxn": 25,
    "EndTxn": 26,
    "TxnOffsetCommit": 28,
}
HIGHEST_ERROR = 200  # This is beyond every code that there is.


def wheel_library() -> str:
    import confluent_kafka

    found = sorted((Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs").glob("librdkafka*.so*"))
    if not found:
        raise SystemExit("no librdkafka in the confluent-kafka wheel; name one with --library")
    return str(found[0])


class Refused(Exception):
    """A control line that cannot be carried out."""


class MockCluster:
    def __init__(self, library: str, brokers: int):
        self.lib = c.CDLL(library)
        self.lib.rd_kafka_new.restype = c.c_void_p
        self.lib.rd_kafka_conf_new.restype = c.c_void_p
        self.lib.rd_kafka_mock_cluster_new.restype = c.c_void_p
        self.lib.rd_kafka_mock_cluster_bootstraps.restype = c.c_char_p
        self.lib.rd_kafka_err2name.restype = c.c_char_p
        self.lib.rd_kafka_err2str.restype = c.c_char_p
        reason = c.create_string_buffer(256)
        conf = self.lib.rd_kafka_conf_new()
        self.lib.rd_kafka_conf_set(c.c_void_p(conf), b"log_level", b"2", reason, 256)
        client = self.lib.rd_kafka_new(0, c.c_void_p(conf), reason, 256)
        if not client:
            raise SystemExit(reason.value.decode())
        self.cluster = c.c_void_p(self.lib.rd_kafka_mock_cluster_new(c.c_void_p(client), brokers))
        self.errors = {
            self.lib.rd_kafka_err2name(code).decode(): code
            for code in range(-200, HIGHEST_ERROR)
            if code == 0 or self.lib.rd_kafka_err2name(code)
        }

    @property
    def bootstrap(self) -> str:
        return self.lib.rd_kafka_mock_cluster_bootstraps(self.cluster).decode()

    def carry_out(self, line: dict) -> None:
        if len(line) != 1 or not hasattr(self, "do_" + next(iter(line))):
            raise Refused(f"unknown command: {', '.join(line) or 'none'}")
        name, value = next(iter(line.items()))
        getattr(self, "do_" + name)(value)

    def do_topic(self, v: dict) -> None:
        self._call(
            "rd_kafka_mock_topic_create",
            v["name"].encode(),
            int(v["partitions"]),
            1,
            fine=("NO_ERROR", "TOPIC_ALREADY_EXISTS"),
        )

    def do_fail(self, v: dict) -> None:
        api, codes = self._api(v["api"]), [self._error(e) for e in v["errors"]]
        if "broker" in v:
            pairs = [x for code in codes for x in (c.c_int(code), c.c_int(int(v.get("delayMs", 0))))]
            self._call(
                "rd_kafka_mock_broker_push_request_error_rtts",
                int(v["broker"]),
                c.c_int16(api),
                c.c_size_t(len(codes)),
                *pairs,
            )
        else:
            array = (c.c_int * len(codes))(*codes)
            self.lib.rd_kafka_mock_push_request_errors_array(
                self.cluster, c.c_int16(api), c.c_size_t(len(codes)), array
            )

    def do_clear(self, v: dict) -> None:
        self.lib.rd_kafka_mock_clear_request_errors(self.cluster, c.c_int16(self._api(v["api"])))

    def do_down(self, broker: int) -> None:
        self._call("rd_kafka_mock_broker_set_down", int(broker))

    def do_up(self, broker: int) -> None:
        self._call("rd_kafka_mock_broker_set_up", int(broker))

    def do_rtt(self, v: dict) -> None:
        self._call("rd_kafka_mock_broker_set_rtt", int(v["broker"]), int(v["ms"]))

    def do_topicError(self, v: dict) -> None:
        self.lib.rd_kafka_mock_topic_set_error(self.cluster, v["topic"].encode(), self._error(v["error"]))

    def do_leader(self, v: dict) -> None:
        self._call("rd_kafka_mock_partition_set_leader", v["topic"].encode(), int(v["partition"]), int(v["broker"]))

    def do_groupDelay(self, ms: int) -> None:
        if not hasattr(self.lib, "rd_kafka_mock_group_initial_rebalance_delay_ms"):
            raise Refused("this librdkafka has no such setting")
        self.lib.rd_kafka_mock_group_initial_rebalance_delay_ms(self.cluster, c.c_int32(int(ms)))

    def _call(self, name: str, *args, fine: tuple = ("NO_ERROR",)) -> None:
        code = getattr(self.lib, name)(self.cluster, *args)
        if code not in [self.errors[f] for f in fine]:
            raise Refused(self.lib.rd_kafka_err2str(code).decode())

    def _api(self, name) -> int:
        if isinstance(name, int):
            return name
        if name not in APIS:
            raise Refused(f"unknown API {name}")
        return APIS[name]

    def _error(self, name) -> int:
        if isinstance(name, int):
            return name
        if name not in self.errors:
            raise Refused(f"unknown error {name}")
        return self.errors[name]


def answer(cluster: MockCluster, line: str) -> dict:
    try:
        cluster.carry_out(json.loads(line))
        return {"ok": True}
    except Refused as e:
        return {"error": str(e)}
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        return {"error": f"malformed command: {e!r}"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--brokers", type=int, default=1)
    options.add_argument("--topic", action="append", default=[], metavar="NAME:PARTITIONS")
    options.add_argument("--library")
    options.add_argument("--control", action="store_true")
    given = options.parse_args()
    cluster = MockCluster(given.library or wheel_library(), given.brokers)
    for topic in given.topic:
        name, _, partitions = topic.rpartition(":")
        cluster.do_topic({"name": name, "partitions": partitions})
    ended = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: ended.set())
    print(cluster.bootstrap, flush=True)
    if given.control:
        threading.Thread(target=serve, args=(cluster, ended), daemon=True).start()
    ended.wait()


def serve(cluster: MockCluster, ended: threading.Event) -> None:
    for line in sys.stdin:
        print(json.dumps(answer(cluster, line)), flush=True)
    ended.set()


if __name__ == "__main__":
    main()
