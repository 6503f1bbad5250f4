"""Surfaces that are topics: requests, outcomes and dead letters, and what workers tell each other."""

import base64
import http.client
import json
import random
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from harness.brokers import MockBroker
from harness.calls import Counts, add, parsed
from harness.provider import Provider
from harness.traffic import Topics, request
from harness.workers import base_settings, environment, learn_variables

from .engine import Ended, Hung, LineReader, Surface, Wrong, ending, unused_port
from .mutation import Members, Mutator, parse

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "schemas" / "examples"
PARTITIONS = 4


def plain(value: str | dict | None) -> bytes | None:
    """Returns the bytes of a value in events.jsonl: a text, or an object with Base64 for what is none."""
    if isinstance(value, dict):
        return base64.b64decode(next(iter(value.values())))
    return None if value is None else value.encode()


def examples(*folders: str) -> list:
    """Returns the parsed examples of the schemas in these folders."""
    files = sorted(file for folder in folders for file in (EXAMPLES / folder).glob("*.json"))
    return [parse(file.read_text()) for file in files]


class KafkaSurface(Surface):
    """A broker with our topics, and a producer for inputs."""

    settings: dict = {}
    sets_aside = False  # An input may rightly have other requests set aside than those in `due`.
    _runs = 0

    def start_broker(self) -> None:
        KafkaSurface._runs += 1
        self.batches = 0
        self.topics = Topics.named(f"{self.name}-{KafkaSurface._runs}")
        self.broker = MockBroker(self.processes, self.locsearch)
        self.broker.create_topics(
            {
                self.topics.requests: PARTITIONS,
                self.topics.results: 1,
                self.topics.errors: 1,
                self.topics.dead: 1,
                self.topics.fleet: 1,
            }
        )
        self.producer = Producer(
            {"bootstrap.servers": self.broker.bootstrap, "linger.ms": 2, "message.max.bytes": 4_000_000, "log_level": 2}
        )
        self.delivered: list[tuple[int, int, int]] = []  # Number within the batch, partition, offset.

    def stop(self) -> None:
        for client in (getattr(self, "consumer", None),):
            if client:
                client.close()
        self.consumer: Any = None
        if getattr(self, "producer", None):
            self.producer.purge()
        self.producer = None
        super().stop()

    def env(self, **more) -> dict[str, str]:
        """Returns the environment of our processes: the settings of a worker, with `more` over them; dots are written
        `__`.
        """
        learn_variables(self.locsearch)
        provider = getattr(self, "provider", None)
        settings = base_settings(
            self.broker, self.topics, provider.base_url if provider else "http://127.0.0.1:9", cooperative=False
        )
        settings |= {
            "worker.deadline": "1s",
            "worker.maxDeadline": "1s",
            "log.level": "error",
            "admin.port": 0,
            **self.settings,
        }
        return environment(settings | {name.replace("__", "."): value for name, value in more.items()})

    provider: Provider | None = None

    def received(self) -> int:
        """Returns the number of calls that the providers have received."""
        return sum(self.provider.received().values()) if self.provider else 0

    def compare_calls(self) -> None:
        """Checks that the worker has counted each call that the providers received since it began."""
        received = self.received() - self.received_before
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics", timeout=10) as answer:
            counts = Counts()
            add(parsed(answer.read().decode()), counts)
        if received > sum(counts.counted.values()):
            raise Wrong(f"the providers received {received} calls, the worker counted {dict(counts.counted)}")

    def start_worker(self, **more) -> None:
        time.sleep(0.1)  # What a killed worker sent last is received and counted before.
        self.received_before = self.received()
        self.admin = unused_port()
        self.watch("worker", ["worker"], self.env(admin__port=self.admin, **more))
        self.wait(lambda: self.get(self.admin, "/readyz", 0.5) == 200, "partitions of the worker", limit=30)

    def end(self, *names: str) -> None:
        """Kills processes that are watched, for others to take their places."""
        for name in names:
            if process := self.watched.pop(name, None):
                process.kill()
                process.wait()

    def get(self, port: int, path: str, within: float = 10) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=within)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def produce(
        self, topic: str, value, key=None, headers=None, timestamp: int = 0, partition: int = 0, mark: int = -1
    ) -> None:
        def delivered(error, message) -> None:
            if not error:
                self.delivered.append((mark, message.partition(), message.offset()))

        while True:
            try:
                self.producer.produce(
                    topic, value, key, partition, on_delivery=delivered, timestamp=timestamp, headers=headers
                )
                return
            except BufferError:
                self.producer.poll(0.05)
            except (
                KafkaException,
                ValueError,
                TypeError,
            ):  # The library refuses it, so no other client can send it either.
                return

    def read(self, topics: list[str]) -> Consumer:
        consumer = Consumer(
            {
                "bootstrap.servers": self.broker.bootstrap,
                "group.id": "reader",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 10,
                "isolation.level": "read_uncommitted",
                "log_level": 2,
            }
        )
        consumer.assign([TopicPartition(topic, 0, 0) for topic in topics])
        return consumer

    def outcomes(self, due: dict) -> None:
        """Reads outcomes, and takes the positions of their requests out of `due`, in which they stand with their
        inputs.
        """
        for message in self.consumer.consume(500, 0.01):
            if message.error():
                continue
            headers = dict(message.headers() or [])
            made = due.pop((int(headers["source-partition"]), int(headers["source-offset"])), None)
            if b'"code":"internal"' in message.value() and (made or not self.sets_aside):
                raise Wrong(
                    f"an outcome says that the worker is at fault: {message.value().decode(errors='replace')[:500]}",
                    [made] if made else None,
                )

    def tool(self, arguments: list[str], allowed=(0,), within: float = 20, **more) -> str:
        """Runs a command that must end. Returns what it printed."""
        process = self.processes.start("tool", [self.locsearch, *arguments], self.env(**more), stdout=subprocess.PIPE)
        timer = threading.Timer(within * 3, process.kill)
        timer.start()
        began = time.monotonic()
        output = process.stdout.read()
        process.wait()
        timer.cancel()
        process.stdout.close()
        self.processes.all.remove(process)
        if process.returncode == -9 and time.monotonic() - began > within:
            raise Hung(f"locsearch {' '.join(arguments)} did not end in {within * 3:.0f} s")
        if process.returncode not in allowed:
            raise Ended(
                f"locsearch {' '.join(arguments)} ended with {ending(process.returncode)}: {self.last_words('tool')}"
            )
        return output.decode(errors="replace")


def record_headers(
    chance: random.Random, mutate: Mutator, seeds: list[tuple[str, bytes]], share: float
) -> list[tuple[str, bytes | None]] | None:
    """Returns headers of which some have other values, stand twice, or are missing."""
    headers: list[tuple[str, bytes | None]] = []
    for name, value in seeds:
        if not mutate.often(share):
            headers.append((name, value))
            continue
        kind = chance.randrange(6)
        if kind == 0:
            continue
        if kind == 1:
            value = None  # type: ignore[assignment]
        elif kind == 2:
            value = mutate.some_bytes()
        elif kind == 3:
            value = mutate.spoil(value)
        elif kind == 4:
            headers.append((name, mutate.text().encode("utf-8", "surrogatepass")))
        else:
            value = mutate.number().encode()
        headers.append((name, value))
    if mutate.often(0.05):
        headers += [(mutate.text().replace("\0", "0") or "x", mutate.some_bytes())] * mutate.pick((1, 3, 300))
    return [(name.encode("utf-8", "replace").decode(), value) for name, value in headers] or None


REQUEST_HEADERS = [
    ("ce_specversion", b"1.0"),
    ("ce_id", b"order-7"),
    ("ce_source", b"/client"),
    ("ce_type", b"location-search.requested.v1"),
    ("ce_time", b"2026-11-21T09:30:00.250Z"),
    ("ce_expirytime", b"2099-11-21T09:30:00Z"),
    ("content-type", b"application/json"),
    ("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ("tracestate", b"a=b"),
    ("dead-letter-redriven", b"1"),
    ("source-partition", b"3"),
    ("source-offset", b"17"),
]


class Requests(KafkaSurface):
    """Each record must have its outcome: a hang is seen for each input by itself. Every second batch lies in the topic
    before its worker begins, because what waits then is counted, and its oldest record's time is looked at."""

    PARTITIONS = 48  # A worker that begins looks at the first record of each.

    name = "requests"
    about = "records of the requests topic (value, key, headers, time) -> worker; provider simulator behind it"

    def __init__(self, *args):
        super().__init__(*args)
        self.proper, self.wrong = (
            examples("request"),
            [dict(example)["value"] for example in examples("invalid/request")],
        )

    def make(self, chance: random.Random, number: int) -> dict:
        mutate = Mutator(chance)
        seed = mutate.pick(self.proper if mutate.often(0.85) else self.wrong)
        headers: list | None = None
        kind = chance.random()
        if kind < 0.08 and isinstance(seed, Members):  # An event in structured mode.
            envelope = Members(
                [
                    ("specversion", "1.0"),
                    ("id", "order-7"),
                    ("source", "/client"),
                    ("type", "location-search.requested.v1"),
                    ("time", "2026-11-21T09:30:00.250Z"),
                    ("expirytime", "2099-11-21T09:30:00Z"),
                    ("datacontenttype", "application/json"),
                    ("data", seed),
                ]
            )
            value: bytes | None = mutate.json(envelope)
            headers = record_headers(chance, mutate, [("content-type", b"application/cloudevents+json")], 0.1)
        else:
            value = mutate.json(seed)
            if kind < 0.5:
                some = [h for h in REQUEST_HEADERS if mutate.often(0.6)]
                headers = record_headers(chance, mutate, some, 0.3)
        if mutate.often(0.02):
            value = mutate.pick((None, b"", mutate.some_bytes(), b"x" * 70_000, (value or b"") + b" " * 66_000))
        key = mutate.pick((None, b"k1", b"k2")) if mutate.often(0.7) else mutate.some_bytes()
        time_ms = mutate.integer() if mutate.often(0.4) else 0
        return {"value": value, "key": key, "headers": headers, "timestamp": time_ms}

    def start(self) -> None:
        self.start_broker()
        self.provider = Provider.start(self.processes, self.locsearch)
        self.provider.latency(1)
        self.watched["provider"] = self.processes.all[-1]
        self.consumer = self.read([self.topics.results, self.topics.errors])
        self.sent = 0

    def feed(self, inputs: list[dict]) -> None:
        begins = self.batches % 2 == 0
        self.batches += 1
        if begins:
            self.end("worker")
            self.requests, self.group = f"{self.topics.requests}-{self.batches}", f"{self.topics.group}-{self.batches}"
            self.broker.create_topics({self.requests: self.PARTITIONS})
        self.send(inputs)
        if begins:
            self.start_worker(topics__requests=self.requests, kafka__groupId=self.group)
        self.await_outcomes(inputs)

    def send(self, inputs: list[dict]) -> None:
        self.delivered = []
        for number, made in enumerate(inputs):
            self.sent += 1
            self.produce(
                self.requests,
                made["value"],
                made["key"],
                made["headers"],
                made["timestamp"],
                self.sent % self.PARTITIONS,
                number,
            )
        self.producer.flush(20)

    def await_outcomes(self, inputs: list[dict]) -> None:
        due = {(partition, offset): inputs[number] for number, partition, offset in self.delivered}
        while due:
            before = len(due)
            self.wait(
                lambda: (self.outcomes(due), len(due) < before)[1],
                "outcome of some request",
                lambda: list(due.values()),
            )

    def probe(self) -> None:
        proper = [{"value": request("probe"), "key": b"probe", "headers": None, "timestamp": 0}]
        self.send(proper)
        self.await_outcomes(proper)
        self.wait(
            lambda: (
                self.get(self.admin, "/livez") == 200
                and self.get(self.admin, "/metrics") == 200
                and self.get(self.admin, "/status") == 200
            ),
            "answer of /livez, /metrics or /status",
        )
        self.compare_calls()


class Outcomes(KafkaSurface):
    name = "outcomes"
    about = (
        "records of the topics of results, errors and dead letters -> console, watch, watch --json, "
        "dead-letters list and redrive"
    )
    batch = 1000
    restarts = 14

    def __init__(self, *args):
        super().__init__(*args)
        self.seeds = []
        for line in (EXAMPLES / "events.jsonl").read_text().splitlines():
            event = json.loads(line)
            headers = [(name, plain(value)) for name, value in event["headers"]]
            kind = {"results": "results", "errors": "errors"}.get(event["topic"].rpartition(".")[2], "dead")
            value = plain(event.get("value")) or b""
            self.seeds.append((kind, value if kind == "dead" else parse(value), headers))
        for value in examples("result", "invalid/result"):
            self.seeds.append(
                (
                    "results",
                    dict(value).get("value", value) if "expectedMember" in dict(value) else value,
                    self.seeds[0][2],
                )
            )
        for value in examples("error", "invalid/error"):
            self.seeds.append(("errors", value, self.seeds[0][2]))
        letter = [
            ("dead-letter-reason", b"invalid-request"),
            ("dead-letter-message", b"limit is no integer"),
            ("dead-letter-member", b"limit"),
            ("source-topic", b"location-search.requests"),
            ("source-partition", b"3"),
            ("source-offset", b"41"),
            ("source-timestamp", b"1795253400000"),
            ("dead-letter-redriven", b"0-3"),
            ("dead-letter-source-partition", b"0"),
        ]
        self.seeds += [("dead", value, letter) for value in examples("request")]  # type: ignore[misc]
        self.number = 0

    def make(self, chance: random.Random, number: int) -> dict:
        mutate = Mutator(chance)
        topic, seed, seeds = mutate.pick(self.seeds)
        headers = record_headers(chance, mutate, [h for h in seeds if mutate.often(0.95)], 0.15)
        value = mutate.json(seed) if not isinstance(seed, bytes) else mutate.spoil(seed)
        if mutate.often(0.03):
            value = mutate.pick((None, b"", mutate.some_bytes(), b"y" * 50_000))
        key = mutate.pick((None, b"browser-3")) if mutate.often(0.7) else mutate.some_bytes()
        return {
            "topic": topic,
            "value": value,
            "key": key,
            "headers": headers,
            "timestamp": mutate.integer() if mutate.often(0.4) else 0,
        }

    def start(self) -> None:
        self.start_broker()

    def begin(self) -> None:
        """Starts what reads outcomes; it reads those first that are there already."""
        self.end("console", "watch", "watch-json")
        console = self.watch(
            "console",
            ["console"],
            self.env(console__port=0, console__workers="http://127.0.0.1:9"),
            stdout=subprocess.PIPE,
        )
        line = console.stdout.readline().decode()
        self.port = int(re.search(r"http://[^ ]*:(\d+)", line).group(1))
        LineReader(console.stdout)
        self.readers = []
        for name, arguments in {
            "watch": ["watch", "--from-beginning"],
            "watch-json": ["watch", "--json", "--from-beginning"],
        }.items():
            process = self.watch(name, arguments, self.env(), stdout=subprocess.PIPE)
            self.readers.append(LineReader(process.stdout))
        self.probe_outcomes(30)

    def feed(self, inputs: list[dict]) -> None:
        self.batches += 1
        for number, made in enumerate(inputs):
            topic = {"results": self.topics.results, "errors": self.topics.errors, "dead": self.topics.dead}[
                made["topic"]
            ]
            self.produce(topic, made["value"], made["key"], made["headers"], made["timestamp"], 0, number)
        self.producer.flush(20)

    def probe(self) -> None:
        if self.batches % 4 == 1:
            self.begin()
        self.probe_outcomes()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            for path in self.pages():
                connection.request("GET", path)
                connection.getresponse().read()
        except (OSError, http.client.HTTPException) as error:
            time.sleep(0.1)
            self.check()
            raise Hung(f"the console does not answer {path}: {error!r}") from None
        finally:
            connection.close()
        self.tool(["dead-letters", "list"])
        self.tool(["dead-letters", "list", "--json"])
        self.tool(["dead-letters", "redrive", "--yes", "--rate", "1000000", "--wait", "0s"])

    def pages(self) -> list[str]:
        first = self.stream("/api/traffic/events", b"event: outcomes", 5)
        ids = sorted(set(re.findall(rb'"id":(\d+)', first)))
        return ["/livez", "/api/dead-letters?limit=1000", *(f"/api/traffic/outcomes/{i.decode()}" for i in ids[-100:])]

    def probe_outcomes(self, limit: float = 2) -> None:
        """Sends a proper outcome, and waits until each reader has shown it."""
        self.number += 1
        name = f"probe-{self.number}"
        outcome = json.loads((EXAMPLES / "events.jsonl").read_text().splitlines()[0])
        value = json.loads(outcome["value"]) | {"requestId": name, "sessionId": name}
        for reader in self.readers:
            reader.expect(name.encode())
        self.produce(
            self.topics.results,
            json.dumps(value).encode(),
            name.encode(),
            [(n, plain(v)) for n, v in outcome["headers"]],
        )
        self.producer.flush(20)
        self.wait(lambda: all(reader.has_come for reader in self.readers), "outcome at watch", limit=limit)
        self.wait(
            lambda: name.encode() in self.stream(f"/api/sessions/{name}/events", name.encode() + b'"', 1),
            "outcome at the console",
            limit=limit,
        )

    def stream(self, path: str, until: bytes, within: float) -> bytes:
        """Returns what a stream of events sends until it holds a text and a whole event after it, or the time is up."""
        end, got = time.monotonic() + within, b""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 5) as client:
                client.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
                client.settimeout(0.1)
                while time.monotonic() < end:
                    try:
                        part = client.recv(1 << 20)
                    except TimeoutError:
                        continue
                    if not part:
                        break
                    got += part
                    found = got.find(until)
                    if found >= 0 and b"\n\n" in got[found:]:
                        break
        except OSError:
            pass
        return got


class Fleet(KafkaSurface):
    name = "fleet"
    about = "records of the fleet topic -> a worker with a daily budget and a shared limit, locsearch budget"
    settings = {
        "providers.hotpepper.callsPerDay": 1000000,
        "providers.googlePlaces.callsPerDay": 500,
        "providers.hotpepper.requestsPerSecond": 1000,
        "providers.googlePlaces.requestsPerSecond": 50,
    }
    restarts = 20

    def __init__(self, *args):
        super().__init__(*args)
        self.seeds = [
            parse(line)
            for line in (Path(__file__).parent.parent / "seeds" / "fleet.jsonl").read_text().splitlines()
            if line
        ]
        self.members = {f"{kind}.{name}" for seed in self.seeds for kind, content in seed[1:] for name, _ in content}

    def make(self, chance: random.Random, number: int) -> dict:
        mutate = Mutator(chance)
        value = mutate.json(mutate.pick(self.seeds), 0.05)
        if mutate.often(0.9):  # What a sender says a second time is ignored, so most senders are new.
            value = value.replace(b"$NEW", b"w-%d" % number)
        if mutate.often(0.01):
            value = mutate.pick((None, b"", mutate.some_bytes()))
        headers = (
            record_headers(chance, mutate, [("content-type", b"application/json")], 0.5) if mutate.often(0.1) else None
        )
        return {
            "value": value,
            "key": mutate.some_bytes() if mutate.often(0.1) else None,
            "headers": headers,
            "timestamp": mutate.integer() if mutate.often(0.2) else 0,
        }

    def start(self) -> None:
        self.sender, self.last, self.offset, self.fleet = "nobody", 1, 0, "f"
        self.ours: set[int] = set()
        self.start_broker()
        self.provider = Provider.start(self.processes, self.locsearch)
        self.provider.latency(1)
        self.consumer = self.read([self.topics.results, self.topics.errors, self.topics.fleet])
        self.sent = 0

    def begin(self) -> None:
        """Starts a worker, which reads first what is in the fleet topic already."""
        self.end("worker")
        self.requests, self.sender = f"{self.topics.requests}-{self.batches}", "nobody"
        self.names = {"topics__requests": self.requests, "kafka__groupId": f"{self.topics.group}-{self.batches}"}
        self.broker.create_topics({self.requests: PARTITIONS})
        self.start_worker(**self.names)

    def today(self, zone: str) -> bytes:
        from datetime import datetime
        from zoneinfo import ZoneInfo

        return datetime.now(ZoneInfo(zone)).strftime("%Y-%m-%d").encode()

    def feed(self, inputs: list[dict]) -> None:
        """Puts what the worker calls itself, its fleet and its newest message in the places that seeds have for them,
        and the present days."""
        filled = {
            b"$SENDER": self.sender.encode(),
            b'"$NUMBER"': str(self.last).encode(),
            b'"$OFFSET"': str(self.offset).encode(),
            b"$FLEET": self.fleet.encode(),
            b"$DAY-TOKYO": self.today("Asia/Tokyo"),
            b"$DAY-LA": self.today("America/Los_Angeles"),
        }
        self.delivered = []
        for made in inputs:
            value = made["value"]
            for name, text in filled.items():
                value = value and value.replace(name, text)
            self.produce(self.topics.fleet, value, made["key"], made["headers"], made["timestamp"])
        self.producer.flush(20)
        self.ours |= {offset for _, _, offset in self.delivered}
        if self.batches % 4 == 0:
            self.begin()
        self.batches += 1

    def take(self, due: set) -> None:
        """Reads outcomes, of which those in `due` are awaited, and what the worker says in the fleet topic."""
        for message in self.consumer.consume(500, 0.01):
            if message.error():
                continue
            if message.topic() != self.topics.fleet:
                due.discard((message.key() or b"").decode(errors="replace"))
                continue
            self.offset = message.offset()
            if message.offset() in self.ours:
                self.ours.discard(message.offset())
                continue
            self.learn(json.loads(message.value()))

    def learn(self, word: dict) -> None:
        """Notes what the worker calls itself and its fleet. What it says has no members that the seeds do not know."""
        self.fleet = word.pop("fleet")
        kind, content = next(iter(word.items()))
        if content["sender"].startswith("locsearch budget"):
            return
        self.sender, self.last = content["sender"], content["number"]
        if unknown := {f"{kind}.{name}" for name in content} - self.members:
            self.members |= unknown
            print(
                f"  fleet: ops/fuzz/seeds/fleet.jsonl has no {', '.join(sorted(unknown))}, which workers write",
                file=sys.stderr,
            )

    def probe(self) -> None:
        due = set()
        for provider in ("hotpepper", "google-places", "google-places-legacy"):
            self.sent += 1
            name = f"probe-{self.sent}"
            due.add(name)
            self.produce(
                self.requests,
                request(name, self.sent, provider=provider),
                name.encode(),
                None,
                0,
                self.sent % PARTITIONS,
            )
        self.producer.flush(20)
        # A worker that may not call has up to the deadline of a second to say so.
        self.wait(lambda: (self.take(due), not due)[1], "outcome of a request", limit=3.5)
        self.wait(
            lambda: (
                self.get(self.admin, "/livez") == 200
                and self.get(self.admin, "/metrics") == 200
                and self.get(self.admin, "/status") == 200
            ),
            "answer of /livez, /metrics or /status",
        )
        self.compare_calls()
        self.tool(["budget"], **self.names)  # type: ignore[arg-type]
        self.tool(["budget", "--json"], **self.names)  # type: ignore[arg-type]
