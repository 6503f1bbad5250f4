"""The fuzzer must be able to fail: a fake program that ends, hangs or grows at one input is caught, and the input is
found.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "experiments")]
from surfaces import all_surfaces, engine
from surfaces.mutation import Members, Mutator, dumps, parse

FAKE = """
import os, sys, time
hoard = []
seen = set()
for line in sys.stdin:
    word = line.strip()
    seen.add(word)
    if word == "end": os.kill(os.getpid(), 4)
    if word == "stop": sys.exit(0)
    if word == "hang": time.sleep(600)
    if word == "late": time.sleep(3)
    if word == "grow": hoard.append(bytearray(300_000_000))
    if {"first", "second"} <= seen: os.kill(os.getpid(), 6)
    print("seen " + word, flush=True)
"""


class Fake(engine.Surface):
    """Feeds lines to a program of the test's own. Nearly all of them are harmless."""

    name = "fake"
    batch = 20
    megabytes = 200
    bad: dict[int, str] = {}
    patience = 1.0

    def make(self, chance: random.Random, number: int) -> dict:
        return {"word": self.bad.get(number, f"word-{chance.randrange(1000)}")}

    def start(self) -> None:
        self.process = self.processes.start(
            "fake", [sys.executable, "-c", FAKE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.watched["fake"] = self.process
        self.reader = engine.LineReader(self.process.stdout)
        self.reader.expect(b"ready")
        self.tell("ready")
        self.wait(lambda: self.reader.has_come, "sign of life", limit=20)

    def tell(self, word: str) -> None:
        try:
            self.process.stdin.write(word.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.process.wait(5)
            self.check()

    def feed(self, inputs: list[dict]) -> None:
        for made in inputs:
            self.tell(made["word"])

    def probe(self) -> None:
        self.reader.expect(b"probe")
        self.tell("probe")
        self.wait(lambda: self.reader.has_come, "answer", limit=self.patience)


def found(tmp_path: Path, bad: dict[int, str], **options) -> tuple[list[engine.Finding], list[str]]:
    surface = type("ThisFake", (Fake,), {"bad": bad, **options})("", tmp_path)
    return engine.run(surface, "7", 100)


def test_nothing_is_found_in_a_program_that_works(tmp_path):
    assert found(tmp_path, {}) == ([], [])


@pytest.mark.parametrize(
    "word, kind, text",
    [
        ("end", "ended", "signal 4"),
        ("stop", "ended", "exit status 0"),
        ("hang", "hung", "no answer"),
        ("grow", "grown", "MB of memory"),
    ],
)
def test_a_program_that_fails_is_caught_and_its_input_found(tmp_path, monkeypatch, word, kind, text):
    monkeypatch.setattr(engine, "LONG_HANG_S", 0.5)
    findings, _slow = found(tmp_path, {47: word}, restarts=12)
    assert [(f.kind, f.numbers, f.inputs, f.reproduced) for f in findings] == [(kind, [47], [{"word": word}], True)]
    assert text in findings[0].failure
    assert findings[0].tried == 60


def test_a_surface_ends_though_its_program_has_left_something_unread(tmp_path):
    surface = type("ThisFake", (Fake,), {})("", tmp_path)
    surface.start()
    surface.process.kill()
    surface.process.wait()
    surface.process.stdin.write(b"nobody reads this\n")
    surface.stop()
    assert surface.process.stdin.closed and not surface.processes.all


def test_two_inputs_that_fail_only_together_are_both_found(tmp_path):
    findings, _ = found(tmp_path, {41: "first", 58: "second"}, restarts=80)
    assert findings[0].numbers == [41, 58]


def test_the_run_goes_on_behind_a_finding(tmp_path):
    findings, _ = found(tmp_path, {5: "end", 85: "end"})
    assert [f.numbers for f in findings] == [[5], [85]]


def test_an_answer_that_comes_late_each_time_is_a_finding(tmp_path):
    # Far below what the answer takes: the time in which this process got no core does not count.
    findings, slow = found(tmp_path, {3: "late"}, restarts=8, patience=0.5)
    assert [(f.kind, f.numbers) for f in findings] == [("hung", [3])] and not slow


def test_a_saved_input_is_read_again_byte_for_byte(tmp_path):
    inputs = [
        {"value": bytes(range(256)), "key": None, "headers": [["a", b"plain"], ["b", None]], "timestamp": -(2**63)}
    ]
    file = engine.save(engine.Finding("fake", "7", "it ended", "ended", 60, inputs, [47]), tmp_path)
    assert engine.load(file) == ("fake", inputs)
    assert json.loads(file.read_text())["numbers"] == [47]


def test_the_same_seed_makes_the_same_inputs_whatever_was_made_before():
    for name, kind in all_surfaces.SURFACES.items():
        if issubclass(kind, all_surfaces.StartSurface):
            continue  # Their inputs need the program's list of settings.
        one, other = kind("", Path("/")), kind("", Path("/"))
        made = [engine.packed(m) for _, m in engine.numbered(one, "7", 30)]
        assert made[10:] == [engine.packed(m) for _, m in engine.numbered(other, "7", 20, first=10)], name
        assert made != [engine.packed(m) for _, m in engine.numbered(other, "8", 30)], name


def test_seeds_come_back_as_they_were_when_nothing_is_changed():
    text = '{"a":1e300,"b":[-0,"x",{"a":null,"a":true}]}'
    assert dumps(parse(text)) == text
    assert isinstance(parse(text), Members)


def test_the_ends_of_all_ranges_are_among_the_numbers():
    mutate = Mutator(random.Random("7"))
    made = {mutate.number() for _ in range(20_000)}
    for number in (
        "0",
        "-1",
        "2147483648",
        "9007199254740992",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551616",
        "1e300",
        "-1e300",
        "1e-400",
        "nan",
        "inf",
        "007",
    ):
        assert number in made, number
