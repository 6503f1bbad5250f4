#!/usr/bin/env python3
"""Checks the traces of real worker processes: see docs/tracing.md. Exit status 0 when all is as it should be.

Broker, provider and workers are `locsearch` processes; the collector is Python and reads with OpenTelemetry's own
package.
"""

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "experiments")]
from collector import Collector
from confluent_kafka import Consumer, Producer, TopicPartition
from harness.processes import Processes, first_line, free_port, listens, wait_until
from prometheus_client.openmetrics.parser import text_string_to_metric_families

INTERNAL, CLIENT, PRODUCER, CONSUMER = 1, 3, 4, 5
ERROR = 2
KEY = "Zq7hotpepper+/=&1"
TOKEN = "Zq7collector+token"
TOPICS = {
    "results": "location-search.results",
    "errors": "location-search.errors",
    "requests": "location-search.requests",
}


class TracingHarness:
    """Broker, provider, collector and the topics' two ends."""

    def __init__(self, program: str, processes: Processes):
        self.program, self.processes, self.workers = program, processes, 0
        # The worker that the checks share.
        self.shared: Worker
        broker = processes.start("broker", [program, "broker", "--partitions", "2"], stdout=subprocess.PIPE, text=True)
        simulator = processes.start("simulator", [program, "simulate"], stdout=subprocess.PIPE, text=True)
        self.bootstrap, self.provider = first_line(broker), first_line(simulator)
        self.collector = Collector()
        self.producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 0, "log_level": 0})
        self.consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": "check",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 10,
                "log_level": 0,
            }
        )
        self.consumer.assign([TopicPartition(TOPICS[kind], p, 0) for kind in ("results", "errors") for p in (0, 1)])
        self.outcomes: dict[str, tuple[str, dict, dict, float]] = {}

    def worker(self, **variables: str) -> "Worker":
        self.workers += 1
        environment = {
            "KAFKA_BOOTSTRAP_SERVERS": self.bootstrap,
            "HOTPEPPER_BASE_URL": self.provider,
            "HOTPEPPER_API_KEY": KEY,
            "ADMIN_PORT": "0",
            "PROVIDERS_HOTPEPPER_BREAKER_ENABLED": "false",
            "PROVIDERS_HOTPEPPER_SINGLE_FLIGHT": "false",
            "KAFKA_PROPERTIES": "session.timeout.ms=6000,fetch.wait.max.ms=10",
            **variables,
        }
        worker = Worker(
            self.processes.start(
                f"worker-{self.workers}", [self.program, "worker"], environment, stdout=subprocess.PIPE, text=True
            ),
            self.processes.logs / f"worker-{self.workers}.log",
        )
        wait_until(worker.is_ready, 40, "a worker that is ready")
        return worker

    def send(
        self, id: str, parent: str | None = None, state: str | None = None, value: bytes | None = None, **members
    ) -> None:
        request = {
            "requestId": id,
            "provider": "hotpepper",
            "location": {"latitude": 35.69, "longitude": 139.7},
            **members,
        }
        headers = [(name, text.encode()) for name, text in (("traceparent", parent), ("tracestate", state)) if text]
        self.producer.produce(
            TOPICS["requests"], value or json.dumps(request).encode(), key=id.encode(), headers=headers
        )
        self.producer.poll(0)

    def outcome(self, id: str, within: float = 20) -> tuple[str, dict, dict, float]:
        """Returns topic, value, headers and time of arrival of a request's outcome. Its key is the request's id."""
        end = time.monotonic() + within
        self.producer.flush(10)
        while id not in self.outcomes:
            if time.monotonic() > end:
                raise TimeoutError(f"no outcome of {id} within {within} s")
            if (message := self.consumer.poll(0.1)) and not message.error():
                headers = {name: text.decode() for name, text in message.headers() or []}
                self.outcomes[message.key().decode()] = (
                    message.topic(),
                    json.loads(message.value()),
                    headers,
                    time.monotonic(),
                )
        return self.outcomes[id]


class Worker:
    def __init__(self, process: subprocess.Popen, log: Path):
        self.process, self.log_path = process, log
        self.admin = first_line(process).removeprefix("admin ")

    def is_ready(self) -> bool:
        try:
            return urllib.request.urlopen(self.admin + "/readyz", timeout=2).status == 200
        except OSError:
            return False

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(self.admin + "/metrics", timeout=5) as answer:
            return sum(float(line.split()[-1]) for line in answer.read().decode().splitlines() if line.startswith(name))

    def exemplars(self) -> dict[str, dict[str, float]]:
        """Returns the durations of each histogram's exemplars by their traces, as Prometheus' own parser reads them."""
        request = urllib.request.Request(self.admin + "/metrics", headers={"Accept": "application/openmetrics-text"})
        with urllib.request.urlopen(request, timeout=5) as answer:
            families = list(text_string_to_metric_families(answer.read().decode()))
        return {
            family.name: {s.exemplar.labels["trace_id"]: s.exemplar.value for s in family.samples if s.exemplar}
            for family in families
        }

    def stop(self, within: float) -> float:
        """Ends the worker in order and returns how long that took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(within) == 0, f"exit status {self.process.returncode}"
        return time.monotonic() - began

    def log(self) -> list[dict]:
        return [json.loads(line) for line in self.log_path.read_text().splitlines() if line.startswith("{")]


def new_parent(flags: str) -> tuple[str, str, str]:
    trace, span = secrets.token_hex(16), secrets.token_hex(8)
    return f"00-{trace}-{span}-{flags}", trace, span


def known_attributes() -> set[str]:
    """Returns every attribute that the semantic conventions know."""
    import opentelemetry.semconv as semconv

    names = set()
    for folder in semconv.__path__:
        for path in Path(folder).glob("**/*_attributes.py"):
            names |= set(re.findall(r'Final = "([a-z0-9_.]+)"', path.read_text()))
    return names


def one(spans, kind):
    found = [span for span in spans if span.kind == kind]
    assert len(found) == 1, f"{len(found)} spans of kind {kind} in {spans}"
    return found[0]


def expect(span, **attributes):
    for name, wanted in attributes.items():
        name = name.replace("__", ".")
        assert span.attributes.get(name) == wanted, (
            f"{span.name}: {name} is {span.attributes.get(name)!r}, not {wanted!r}"
        )


# What is checked, each with a worker whose tracing.sampleRatio is 0, so that only the record's parent has it traced.


def check_sampled_request(harness: TracingHarness) -> None:
    parent, trace, span = new_parent("01")
    harness.send("traced", parent, "a=1,b=2")
    topic, _, headers, _ = harness.outcome("traced")
    spans = harness.collector.wait_for(trace, 4)
    process, search, call, send = (one(spans, kind) for kind in (CONSUMER, INTERNAL, CLIENT, PRODUCER))

    assert (process.parent, search.parent, call.parent, send.parent) == (span, process.id, search.id, process.id)
    assert (process.name, search.name, call.name, send.name) == (
        f"process {TOPICS['requests']}",
        "search",
        "GET hotpepper",
        f"send {topic}",
    )
    assert (
        process.start <= search.start <= call.start <= call.end <= search.end <= send.start <= send.end <= process.end
    )
    assert abs(process.end / 1e9 - time.time()) < 60
    assert all(s.status == 0 and s.flags == 1 and s.state == "a=1,b=2" for s in spans)
    assert headers["traceparent"] == f"00-{trace}-{send.id}-01" and headers["tracestate"] == "a=1,b=2"

    partition, offset = headers["source-partition"], int(headers["source-offset"])
    expect(
        process,
        messaging__system="kafka",
        messaging__operation__name="process",
        messaging__operation__type="process",
        messaging__destination__name=TOPICS["requests"],
    )
    expect(
        process,
        messaging__destination__partition__id=partition,
        messaging__kafka__offset=offset,
        messaging__consumer__group__name="location-search-worker",
        locsearch__request__id="traced",
    )
    expect(
        send,
        messaging__system="kafka",
        messaging__operation__name="send",
        messaging__operation__type="send",
        messaging__destination__name=topic,
    )
    assert {"messaging.destination.partition.id", "messaging.kafka.offset"} <= send.attributes.keys()
    host, port = harness.provider.removeprefix("http://").split(":")
    expect(
        call,
        http__request__method="GET",
        server__address=host,
        server__port=int(port),
        http__response__status_code=200,
        locsearch__provider="hotpepper",
    )
    assert call.attributes["url.full"].startswith(harness.provider) and "?" not in call.attributes["url.full"]
    expect(search, locsearch__calls=1, locsearch__operation="search", locsearch__provider="hotpepper")

    known = known_attributes()
    for item in spans:
        unknown = {name for name in [*item.attributes, *item.resource] if not name.startswith("locsearch.")} - known
        assert not unknown, f"the semantic conventions do not know {unknown}"
    assert process.resource["service.name"] == "location-search-worker" and process.resource["service.version"]


def check_failing_provider(harness: TracingHarness) -> None:
    parent, trace, _ = new_parent("01")
    harness.send("failing", parent, keyword="fault:503")
    assert harness.outcome("failing")[1]["error"]["code"] == "upstream-unavailable"
    attempts = harness.outcome("failing")[1]["timing"]["attempts"]
    spans = harness.collector.wait_for(trace, 3 + attempts)
    calls = sorted((s for s in spans if s.kind == CLIENT), key=lambda s: s.start)
    assert attempts > 1 and len(calls) == attempts and len(spans) == 3 + attempts

    for number, call in enumerate(calls, 1):
        expect(
            call, http__response__status_code=503, error__type="upstream-unavailable", locsearch__call__number=number
        )
    for failed in [*calls, one(spans, INTERNAL), one(spans, CONSUMER)]:
        expect(failed, error__type="upstream-unavailable")
        assert failed.status == ERROR and failed.message
    assert one(spans, PRODUCER).status == 0


def check_exemplars(harness: TracingHarness) -> None:
    """A traced request is an exemplar of the histograms of its calls, of its processing and of its whole way."""
    parent, trace, _ = new_parent("01")
    harness.send("exemplar", parent, keyword="fault:503")
    attempts = harness.outcome("exemplar")[1]["timing"]["attempts"]
    spans = harness.collector.wait_for(trace, 3 + attempts)
    process = one(spans, CONSUMER)
    seconds = (process.end - process.start) / 1e9
    exemplars = harness.shared.exemplars()
    assert abs(exemplars["messaging_process_duration_seconds"][trace] - seconds) < 0.001
    whole = seconds + process.attributes["locsearch.topic.wait"]
    assert abs(exemplars["locsearch_request_end_to_end_seconds"][trace] - whole) < 0.001
    assert exemplars["locsearch_provider_call_duration_seconds"][trace] < seconds
    assert sum(trace in traces for traces in exemplars.values()) == 3


def check_bad_record(harness: TracingHarness) -> None:
    parent, trace, span = new_parent("01")
    harness.send("bad", parent, value=b"{}")
    assert harness.outcome("bad")[1]["error"]["code"] == "invalid-request"
    spans = harness.collector.wait_for(trace, 2)
    process, send = one(spans, CONSUMER), one(spans, PRODUCER)
    assert process.parent == span and process.status == ERROR and send.parent == process.id
    expect(process, error__type="invalid-request")
    expect(send, messaging__destination__name=TOPICS["errors"])


def check_unsampled_requests(harness: TracingHarness) -> None:
    parent, trace, span = new_parent("00")
    harness.send("unsampled", parent, "a=1")
    harness.send("without")
    headers = harness.outcome("unsampled")[2]
    assert (
        re.fullmatch(f"00-{trace}-[0-9a-f]{{16}}-00", headers["traceparent"])
        and span not in headers["traceparent"]
        and headers["tracestate"] == "a=1"
    )
    assert "traceparent" not in harness.outcome("without")[2]

    # Whatever was sent before a traced request would have been exported with it at the latest.
    marker, marked, _ = new_parent("01")
    harness.send("marker", marker)
    harness.collector.wait_for(marked, 4)
    assert not harness.collector.trace(trace)
    assert not [
        s for s in harness.collector.spans if s.attributes.get("locsearch.request.id") in ("unsampled", "without")
    ]


def check_ratio_and_last_spans(harness: TracingHarness) -> None:
    """A ratio decides about requests whose records name no trace; what waits when the worker ends still arrives."""
    worker = harness.worker(TRACING_ENDPOINT=harness.collector.url, TRACING_SAMPLE_RATIO="0.3")
    count, before = 400, len(harness.collector.spans)
    for number in range(count):
        harness.send(f"ratio-{number}")
    attempts = {}
    for number in range(count):
        _, value, headers, _ = harness.outcome(f"ratio-{number}", 60)
        if "traceparent" in headers:
            attempts[headers["traceparent"].split("-")[1]] = value["timing"]["attempts"]
    worker.stop(30)

    sampled = len(attempts)
    assert abs(sampled - 0.3 * count) < 5 * (0.3 * 0.7 * count) ** 0.5, f"{sampled} of {count}"
    # An export without an answer in time is sent again. A call without an answer has a span, and so has its retry.
    spans = {span.id: span for span in harness.collector.spans[before:]}.values()
    assert {span.trace for span in spans} == attempts.keys()
    for trace, number in attempts.items():
        kinds = sorted(span.kind for span in spans if span.trace == trace)
        wanted = sorted([CONSUMER, INTERNAL, PRODUCER] + [CLIENT] * number)
        assert kinds == wanted, f"{[span for span in spans if span.trace == trace]} of {number} attempts"


def check_troubled_collector(harness: TracingHarness) -> None:
    """Whatever the collector does, every request has its outcome, long before an export would have timed out."""
    collector = Collector()
    worker = harness.worker(TRACING_ENDPOINT=collector.url, OTEL_EXPORTER_OTLP_TIMEOUT="30000", LOG_LEVEL="info")
    slowest = {}
    for mode in ("ok", "503", "hang", "away"):
        collector.mode = mode
        if mode == "away":
            collector.close()
        began = time.monotonic()
        for number in range(300):
            harness.send(f"{mode}-{number}")
        slowest[mode] = max(harness.outcome(f"{mode}-{n}", 20)[3] for n in range(300)) - began
        # A request that waited for the collector would wait for as long as an export may take.
        assert slowest[mode] < 20, f"an outcome came after {slowest[mode]:.1f} s ({mode})"
    exported, failed = (worker.metric(f"locsearch_trace_spans_{kind}_total") for kind in ("exported", "failed"))
    assert sum(line["message"].startswith("the trace collector does not accept spans") for line in worker.log()) >= 1
    took = worker.stop(20)
    print(
        "    300 requests took "
        f"{', '.join(f'{seconds:.1f} s ({mode})' for mode, seconds in slowest.items())}; {exported:.0f} "
        f"spans exported, {failed:.0f} failed; the end took {took:.1f} s"
    )


def check_no_secret(harness: TracingHarness) -> None:
    assert len(harness.collector.bodies) > 3
    for form in (KEY, "Zq7hotpepper", TOKEN, "Zq7collector", "35.69", "139.7"):
        assert not any(form.encode() in body for body in harness.collector.bodies), f"{form} was exported"
    path, headers = harness.collector.headers[0]
    assert (
        path == "/v1/traces"
        and headers["authorization"] == f"Bearer {TOKEN}"
        and headers["Content-Type"] == "application/x-protobuf"
    )


def check_other_collector(harness: TracingHarness) -> None:
    """A collector that is not ours reads the spans and hands them on."""
    try:
        import rotel
    except ImportError:
        print("    SKIPPED: requirements-collector.txt is not installed")
        return
    agent, port, grpc = Path(rotel.__file__).with_name("rotel-agent"), free_port(), free_port()
    harness.processes.start(
        "rotel",
        [
            str(agent),
            "start",
            "--otlp-http-endpoint",
            f"127.0.0.1:{port}",
            "--otlp-grpc-endpoint",
            f"127.0.0.1:{grpc}",
            "--exporter",
            "otlp",
            "--otlp-exporter-endpoint",
            harness.collector.url,
            "--otlp-exporter-protocol",
            "http",
            "--traces-batch-timeout",
            "100ms",
        ],
    )
    wait_until(lambda: listens(port), 30, "the other collector")
    worker = harness.worker(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}", OTEL_SERVICE_NAME="by-way-of-rotel")
    parent, trace, _ = new_parent("01")
    harness.send("by-way-of-rotel", parent)
    send = harness.outcome("by-way-of-rotel")[2]["traceparent"].split("-")[2]
    spans = harness.collector.wait_for(trace, 4)
    assert one(spans, PRODUCER).id == send and {s.resource["service.name"] for s in spans} == {"by-way-of-rotel"}
    expect(one(spans, CLIENT), http__response__status_code=200)
    worker.stop(30)


def main() -> None:
    program = os.environ.get("LOCSEARCH") or sys.exit("check.py: LOCSEARCH must name the program")
    with tempfile.TemporaryDirectory() as folder:
        processes = Processes(Path(folder))
        failed = 0
        try:
            harness = TracingHarness(program, processes)

            def run(check) -> bool:
                began = time.monotonic()
                try:
                    check(harness)
                except (AssertionError, TimeoutError, subprocess.TimeoutExpired, KeyError) as problem:
                    print(f"FAILED  {check.__name__}: {type(problem).__name__} {problem}")
                    for log in sorted(processes.logs.glob("worker-*.log"))[-1:]:
                        print("    " + "\n    ".join(log.read_text().splitlines()[-5:]))
                    return False
                print(f"ok      {check.__name__} ({time.monotonic() - began:.1f} s)")
                return True

            harness.shared = worker = harness.worker(
                TRACING_ENDPOINT=harness.collector.url,
                TRACING_SAMPLE_RATIO="0",
                TRACING_HEADERS="authorization=Bearer%20" + TOKEN,
            )
            for check in (
                check_sampled_request,
                check_failing_provider,
                check_exemplars,
                check_bad_record,
                check_unsampled_requests,
                check_no_secret,
            ):
                failed += not run(check)
            worker.stop(30)
            for check in (check_ratio_and_last_spans, check_troubled_collector, check_other_collector):
                failed += not run(check)
        finally:
            processes.end_all()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
