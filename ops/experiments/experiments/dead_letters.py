"""`dead-letters redrive` is killed on its way and run again: every record goes back once, byte for byte."""

import subprocess
import time
from collections import Counter

from confluent_kafka import Consumer, TopicPartition
from harness.lab import Experiment, Lab, Skipped, run_command


def run(lab: Lab) -> None:
    count = lab.size(200, 2_000)
    if "redrive" not in run_command([lab.options.locsearch, "dead-letters", "--help"], {}).stdout:
        raise Skipped("worker has no `dead-letters redrive`")
    lab.recorder.add("params", allowed=0)
    lab.begin(partitions=4)
    lab.workers(1)
    values = [b'{"broken %d":' % i for i in range(count)]
    for i, value in enumerate(values):
        lab.sender.send(None, value, f"k{i}", bad=True, headers=[("n", str(i).encode())])
    lab.sender.flush()
    lab.end()
    ends = request_ends(lab)

    env = {
        "KAFKA_BOOTSTRAP_SERVERS": lab.broker.bootstrap,
        "TOPICS_REQUESTS": lab.topics.requests,
        "TOPICS_DEAD_LETTERS": lab.topics.dead,
        "KAFKA_GROUP_ID": lab.topics.group,
    }
    listed = run_command([lab.options.locsearch, "dead-letters", "list"], env, 60)
    lab.check(
        listed.returncode == 0 and listed.stdout.count("invalid-request") >= count,
        f"list does not show the {count} dead letters: {listed.stderr[:200]}",
    )
    dry = run_command([lab.options.locsearch, "dead-letters", "redrive", "--dry-run"], env, 60)
    lab.check(dry.returncode == 0 and request_ends(lab) == ends, "--dry-run sent something, or failed")

    rate = count // 4
    for attempt in range(6):
        process = lab.processes.start(
            f"redrive-{attempt}", [lab.options.locsearch, "dead-letters", "redrive", "--rate", str(rate)], env
        )
        try:
            process.wait(1.5 if attempt < 2 else 60)
            break
        except subprocess.TimeoutExpired:
            lab.say("redrive is stopped on its way")
            process.terminate() if attempt == 0 else process.kill()
            process.wait(10)
    lab.check(process.returncode == 0, f"redrive ended with {process.returncode}")
    time.sleep(0.5)
    again = Counter((value, key, headers) for value, key, headers in requests_from(lab, ends))
    wanted = {(value, f"k{i}".encode(), (("n", str(i).encode()),)) for i, value in enumerate(values)}
    missing, doubled = len(wanted - set(again)), sum(n - 1 for n in again.values())
    lab.figure(
        "sent again",
        f"{sum(again.values())} records, {missing} missing, {doubled} doubled, {len(set(again) - wanted)} changed",
    )
    lab.check(missing == 0, f"{missing} dead letters were not sent again")
    lab.check(not set(again) - wanted, "a record came back changed")
    lab.check(
        doubled <= 1, f"{doubled} were sent twice"
    )  # One may have been acknowledged but not yet noted when the command was killed.


def request_ends(lab: Lab) -> dict[int, int]:
    return {p: lab.sampler._watermarks(lab.topics.requests, p)[1] for p in range(lab.partitions)}


def requests_from(lab: Lab, starts: dict[int, int]):
    reader = Consumer(
        {
            "bootstrap.servers": lab.broker.bootstrap,
            "group.id": "redriven",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": lab.broker.fetch_wait_ms,
        }
    )
    reader.assign([TopicPartition(lab.topics.requests, p, o) for p, o in starts.items()])
    left, idle = sum(request_ends(lab).values()) - sum(starts.values()), time.monotonic() + 20
    while left > 0 and time.monotonic() < idle:
        for m in reader.consume(500, 0.2):
            if not m.error():
                left -= 1
                yield m.value(), m.key(), tuple(m.headers() or ())
    reader.close()


EXPERIMENTS = [
    Experiment(
        "dead-letters",
        "list and redrive: each record back once with its own bytes, also when redrive is killed on its way",
        run,
        seconds=(90, 300),
    )
]
