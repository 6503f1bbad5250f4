"""Records that are no requests: each ends as an error and, byte for byte, as a dead letter; the worker goes on."""

import json
import os
import random

from harness.lab import Experiment, Lab
from harness.traffic import request

STRUCTURED = [("content-type", b"application/cloudevents+json")]
BINARY = [
    ("ce_specversion", b"1.0"),
    ("ce_id", b"x"),
    ("ce_source", b"/x"),
    ("ce_type", b"location-search.requested.v1"),
]


def flawed(chance: random.Random) -> dict:
    """A proper request with one member spoilt."""
    body = json.loads(request("hostile"))
    name, value = chance.choice(
        [
            ("location", {"latitude": 91, "longitude": 0}),
            ("location", {"latitude": "35", "longitude": 139}),
            ("location", None),
            ("location", []),
            ("location", {}),
            ("radiusMeters", -1),
            ("radiusMeters", "far"),
            ("limit", 0),
            ("limit", 2.5),
            ("limit", 10**30),
            ("timeoutMs", 0),
            ("timeoutMs", 1.5),
            ("keyword", ""),
            ("keyword", "x" * 300),
            ("requestId", ""),
            ("requestId", "x" * 129),
            ("requestId", 7),
            ("operation", "destroy"),
            ("provider", "nobody"),
            ("openNow", "yes"),
            ("sessionId", []),
            ("pageToken", "x" * 5000),
        ]
    )
    body[name] = value
    return body


def spoil(chance: random.Random, text: bytes) -> bytes:
    """Cut short, one byte that is never UTF-8, or one bracket too many: no longer JSON in any case."""
    return chance.choice(
        [text[: chance.randrange(1, len(text) - 1)], text[:10] + b"\xff" + text[11:], text + b"}", b"{" + text]
    )


def hostile(chance: random.Random) -> tuple[bytes | None, list | None]:
    """A value and headers that are no request."""
    proper = request("hostile")
    pick = chance.randrange(13)
    values = [
        lambda: (None, None),
        lambda: (b"", None),
        lambda: (os.urandom(chance.randrange(1, 2000)), None),
        lambda: (spoil(chance, proper), None),
        lambda: (b"[" * chance.randrange(100, 60_000), None),
        lambda: (b'{"a":' * 5000 + b"1" + b"}" * 5000, None),
        lambda: (json.dumps(flawed(chance)).encode(), None),
        lambda: (chance.choice([b"null", b"true", b"7", b'"text"', b"[]", b"{}", b"1e999"]), None),
        lambda: (b"\x00\x00\x00\x00\x01" + proper, None),
        lambda: (b'{"specversion":"1.0","id":"x"}', STRUCTURED),
        lambda: (proper, STRUCTURED),
        lambda: (proper, BINARY[:3] + [("ce_type", b"something.else.v9")]),
        lambda: (
            (
                proper[:-1]
                + b',"x":"'
                + b"y" * chance.choice([70_000, 300_000] if chance.random() < 0.05 else [70_000])
                + b'"}',
                None,
            )
            if chance.random() < 0.05
            else (proper[:-1], None)
        ),
    ]
    return values[pick]()


def run(lab: Lab) -> None:
    count, proper = lab.size((2_000, 200), (10_000, 1_000))
    lab.recorder.add("params", allowed=0)
    lab.begin(results=4, errors=8)
    lab.provider.latency(5)
    fleet = lab.workers(1)
    chance, changed = random.Random(3), []
    values: dict = {}

    def look(event: dict, value: dict | None, message) -> None:
        if event["kind"] == "dead" and values.get((event["p"], event["o"]), message.value()) != message.value():
            changed.append((event["p"], event["o"]))

    lab.reader.on_outcome = look
    for i in range(count + proper):
        if i % (count // proper + 1) == 0:
            lab.sender.send(f"r{i}", request(f"r{i}", i), f"k{i}")
            continue
        value, headers = hostile(chance)
        lab.sender.send(
            None,
            value,
            chance.choice([f"k{i}".encode(), os.urandom(8), None]),
            bad=True,
            headers=headers,
            acknowledged=lambda p, o, v=value: values.__setitem__((p, o), v),
        )
        if i % 50 == 0:
            lab.sender.flush()
    lab.sender.flush()
    lab.settle(60)
    lab.check(fleet.workers[0].alive, "the worker died")
    lab.end()
    lab.check(not changed, f"{len(changed)} dead letters are not the bytes that were sent, first at {changed[:1]}")
    lab.figure("dead letters", len(values))
    lab.figure("most memory, MB", round(max(lab.watch.megabytes())))


EXPERIMENTS = [
    Experiment(
        "hostile",
        "hostile records: each an error and a dead letter with the same bytes; the worker goes on",
        run,
        seconds=(90, 300),
    )
]
