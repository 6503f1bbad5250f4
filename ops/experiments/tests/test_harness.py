"""The parts that experiments stand on: processes that end with us, a broker that fails when told to, an honest
reader.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from harness.brokers import MockBroker
from harness.processes import Processes, resident_bytes, wait_until
from harness.recorder import Recorder
from harness.report import sparkline
from harness.traffic import OffsetSampler, Reader, Sender, Topics, audit, request
from harness.workers import environment, learn_variables, seconds

TOPICS = Topics.named("run")
OUTCOMES = {TOPICS.results: 2, TOPICS.errors: 1, TOPICS.dead: 1}


@pytest.fixture
def processes(tmp_path):
    all = Processes(tmp_path)
    yield all
    all.end_all()


@pytest.fixture
def broker(processes):
    builds = [ROOT.parents[1] / ".build" / kind / "locsearch" for kind in ("release", "debug")]
    locsearch = os.environ.get("LOCSEARCH") or next((str(file) for file in builds if file.exists()), None)
    assert locsearch, "there is no locsearch: make build, or set LOCSEARCH"
    broker = MockBroker(processes, locsearch, brokers=2)
    broker.create_topics({TOPICS.requests: 2, **OUTCOMES})
    return broker


def test_frozen_processes_are_ended_too(processes):
    process = processes.start("sleep", ["sleep", "100"])
    process.send_signal(signal.SIGSTOP)
    processes.end_all()
    assert process.returncode is not None


def test_processes_do_not_outlive_a_killed_harness(tmp_path):
    script = (
        f"import sys, time; sys.path.insert(0, {str(ROOT)!r}); from pathlib import Path; from "
        "harness.processes import Processes\n"
        f"print(Processes(Path({str(tmp_path)!r})).start('s', ['sleep', '100']).pid, flush=True); time.sleep(100)"
    )
    harness = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    pid = int(harness.stdout.readline())
    wait_until(lambda: Path(f"/proc/{pid}/comm").read_text().strip() == "sleep", 20, "the child")
    harness.kill()
    harness.wait()
    wait_until(lambda: resident_bytes(pid) == 0, 20, "the child to end")


@pytest.mark.parametrize(
    "line,complaint",
    [
        ({"nonsense": 1}, "nothing to do"),
        ({"fail": {"api": "Nope", "errors": []}}, "not a request"),
        ({"fail": {"api": "Produce", "errors": ["NOPE"]}}, "not an error"),
        ({"down": "x"}, "not a valid command"),
        ({"topic": {}}, "nothing to do"),
    ],
)
def test_broker_answers_what_it_cannot_do(broker, line, complaint):
    assert complaint in broker.ask(**line)["error"]
    assert broker.ask(rtt={"broker": 1, "ms": 0}) == {"ok": True}


def test_injected_errors_reach_a_client_until_cleared(broker):
    def produce() -> str | None:
        seen = []
        p = Producer({"bootstrap.servers": broker.bootstrap, "retries": 0, "log_level": 0})
        p.produce(TOPICS.requests, b"x", on_delivery=lambda e, m: seen.append(e and e.name()))
        p.flush(10)
        return seen[0]

    broker.tell(fail={"api": "Produce", "errors": ["NOT_ENOUGH_REPLICAS"] * 10})
    assert produce() == "NOT_ENOUGH_REPLICAS"
    broker.tell(clear={"api": "Produce"})
    assert produce() is None


def outcome(producer, kind: str, position: int, **changes):
    topic = {"result": TOPICS.results, "error": TOPICS.errors}[kind]
    type = {"result": "location-search.completed.v1", "error": "location-search.failed.v1"}[kind]
    headers = {
        "ce_specversion": "1.0",
        "ce_id": f"e{position}",
        "ce_source": "/w",
        "ce_type": type,
        "ce_time": "2026-01-01T00:00:00Z",
        "content-type": "application/json",
        "source-topic": TOPICS.requests,
        "source-partition": "0",
        "source-offset": str(position),
        **changes,
    }
    body = {
        "result": b'{"requestId":"r%d","operation":"search","places":[]}',
        "error": b'{"requestId":"r%d","error":{"code":"timeout"}}',
    }[kind]
    producer.produce(
        topic, body % position, f"k{position}", headers={k: v for k, v in headers.items() if v is not None}
    )


def test_reader_and_sampler_write_the_history(broker, tmp_path):
    recorder = Recorder(tmp_path / "history.jsonl")
    sender = Sender(broker, TOPICS, 2, recorder)
    for i in range(4):
        sender.send(f"r{i}", request(f"r{i}"), f"k{i}", 0)
    sender.flush()
    p = Producer({"bootstrap.servers": broker.bootstrap})
    outcome(p, "result", 0)
    outcome(p, "error", 1)
    outcome(p, "result", 2, ce_type="location-search.failed.v1")
    outcome(p, "result", 3, **{"source-topic": "another"})
    p.flush(10)
    reader = Reader(broker, TOPICS, OUTCOMES, recorder)
    sampler = OffsetSampler(broker, TOPICS, 2, OUTCOMES, recorder)
    reader.start()
    wait_until(lambda: recorder.finished == 4, 30, "the outcomes")
    assert sampler.sample() and sampler.lag() == 4
    reader.stop(), sampler.stop()
    verdict = recorder.history.judge()
    assert (verdict.outcomes, verdict.results, verdict.errors, verdict.wrong, verdict.lost) == (4, 3, 1, 2, 0)
    assert recorder.problems == []


def test_reader_tells_what_the_broker_dropped(broker, tmp_path):
    p = Producer({"bootstrap.servers": broker.bootstrap})
    for _i in range(12):
        p.produce(TOPICS.results, os.urandom(900_000), partition=0)
    p.flush(20)
    recorder = Recorder(tmp_path / "history.jsonl")
    reader = Reader(broker, TOPICS, OUTCOMES, recorder, record=False)
    reader.start()
    wait_until(lambda: recorder.problems, 30, "the reader to notice")
    reader.stop()
    assert "dropped" in recorder.problems[0]


def test_audit_finds_what_was_not_acknowledged(broker, tmp_path):
    recorder = Recorder(tmp_path / "history.jsonl")
    p = Producer({"bootstrap.servers": broker.bootstrap})
    for i in range(5):
        p.produce(TOPICS.requests, request(f"r{i}"), f"k{i}", 1)
    p.flush(10)
    recorder.add("sent", id="r0", key="k0", p=1, o=0)
    assert audit(broker, TOPICS, 2, recorder) == 4
    assert recorder.history.judge().lost == 1  # only the one that was acknowledged


def test_environment_has_the_variables_that_the_program_names(tmp_path):
    program = tmp_path / "locsearch"
    program.write_text(
        "#!/bin/sh\n" + """echo '[{"name": "worker.maxAge", "environment": "MAX_AGE_OF_A_REQUEST"}]'\n"""
    )
    program.chmod(0o755)
    learn_variables(str(program))
    assert environment({"worker.maxAge": True}) == {"MAX_AGE_OF_A_REQUEST": "true"}
    with pytest.raises(KeyError, match=r"no setting worker\.loops"):
        environment({"worker.loops": 2})


def test_program_that_refuses_its_settings_says_why(tmp_path):
    program = tmp_path / "locsearch"
    program.write_text("#!/bin/sh\necho 'worker.loops is 0' >&2; exit 78\n")
    program.chmod(0o755)
    with pytest.raises(RuntimeError, match=r"worker\.loops is 0"):
        learn_variables(str(program))


@pytest.mark.parametrize("text,value", [("250ms", 0.25), ("5s", 5), ("2m", 120), ("1.5s", 1.5)])
def test_durations(text, value):
    assert seconds(text) == value


def test_a_flat_line_looks_flat():
    assert set(sparkline([70.0] * 100)) == {"█"} and sparkline([]) == ""
