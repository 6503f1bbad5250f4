#!/usr/bin/env python3
"""Tests of tools/check-clocks: each way past a loop's clock and chance is found, and what is right is left alone."""

import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("check_clocks", str(HERE / "check-clocks"))
spec = importlib.util.spec_from_loader("check_clocks", loader)
assert spec
check_clocks = importlib.util.module_from_spec(spec)
loader.exec_module(check_clocks)

LANE, TRANSPORT = "Sources/Worker/WorkerRuntime/WorkerLane.swift", "Sources/Platform/HTTPTransport/CurlDriver.swift"
COMMAND = "Sources/Commands/locsearch/Commands/SearchCommand.swift"


def problems(line, path=LANE):
    return [what for _, what in check_clocks.findings(line + "\n", path)]


class CheckClocksTests(unittest.TestCase):
    def test_worker_reads_no_clock_but_the_loops(self):
        for line in [
            "let end = Instant.now + bound",
            "let end = SystemClock.now",
            "at: WallTime.now()",
            "pace.failed(at: .now)",
            "let end = .now + .seconds(1)",
            "time = start ?? .now",
            "if !isDone, .now < end {",
            "let clock = ContinuousClock()",
            "try await Task.sleep(for: pause)",
            "try await Task<Never, Never>.sleep(for: pause)",
            "let timer = sequence(clock: .continuous)",
            "let date = Date()",
            "let date = Date.now",
            "time(nil)",
            "clock_gettime(CLOCK_REALTIME, &time)",
            "DispatchTime.now() + 1",
        ]:
            with self.subTest(line):
                self.assertEqual(len(problems(line)), 1)
                self.assertEqual(len(problems(line, TRANSPORT)), 1)

    def test_worker_takes_chance_from_its_loop(self):
        for line in [
            "let jitter = Double.random(in: 0..<1)",
            "seed: UInt64 = .random(in: .min ... .max)",
            "let id = UUID()",
            "var random = SystemRandomNumberGenerator()",
            "list.shuffled()",
            "list.randomElement()",
            "list.shuffle()",
            "let number = arc4random()",
        ]:
            with self.subTest(line):
                self.assertEqual(len(problems(line)), 1)

    def test_tasks_on_a_requests_way_name_their_executor(self):
        for line in [
            "Task { await drain() }",
            "Task.detached { work() }",
            "Task.immediate { work() }",
            "Task(priority: .low) { work() }",
            "let answer = Task {",
        ]:
            with self.subTest(line):
                self.assertEqual(len(problems(line)), 1)
                self.assertEqual(problems(line, TRANSPORT), [], "an actor's task stays on the actor")

    def test_what_is_right_is_left_alone(self):
        for line in [
            "let end = loop.now + bound",
            "at: timekeeper.now",
            "clock.now.duration(to: end)",
            "isOver(at: self.now)",
            "public var now: Instant { get }",
            "let end = clock().now",
            "frames[0].now",
            "value?.now",
            "Double.random(in: 0..<1, using: &random)",
            "list.shuffled(using: &random)",
            "list.randomElement(using: &random)",
            "Task(executorPreference: loop) { await work() }",
            "Task.immediate(executorPreference: loop) { await work() }",
            "var task: Task<Void, Never>?",
            "try await loop.sleep(for: pause)",
            "await loop.pause(pause)",
            "// as ContinuousClock.now has it",
            'log.info("Date() and UUID()")',
            "now: Instant",
            "init(now: Instant)",
        ]:
            with self.subTest(line):
                self.assertEqual(problems(line), [])

    def test_commands_have_the_one_system_clock(self):
        for line in [
            "let end = Instant.now + bound",
            "SystemClock.now",
            "deadline - .now",
            "WallTime.now()",
            "UUID()",
            "try await Task.sleep(for: pause)",
            "Task { work() }",
            "Double.random(in: 0..<1)",
        ]:
            with self.subTest(line):
                self.assertEqual(problems(line, COMMAND), [])
        for line in ["ContinuousClock.now", "Date()", "Date.now", "time(nil)", "ContinuousClock().now"]:
            with self.subTest(line):
                self.assertEqual(len(problems(line, COMMAND)), 1)

    def test_allowed_files_do_not_go_past_the_system_clock_either(self):
        for path in check_clocks.ALLOWED:
            self.assertTrue((HERE.parent / path).exists(), path)
        loop = "Sources/Platform/EventLoop/EventLoop.swift"
        self.assertEqual(problems("let start = SystemClock.now", loop), [])
        self.assertEqual(len(problems("let start = ContinuousClock.now", loop)), 1)

    def test_folders_exist(self):
        for path in check_clocks.WORKER + check_clocks.ON_LOOP + (check_clocks.SYSTEM_CLOCK,):
            with self.subTest(path):
                self.assertTrue((HERE.parent / path).exists())

    def test_script_names_file_and_line_and_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            subprocess.run(["git", "init", "-q", folder], check=True)
            file = root / LANE
            file.parent.mkdir(parents=True)
            file.write_text("let a = 1\nlet end = Instant.now\n")
            run = subprocess.run([str(HERE / "check-clocks"), folder], capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            self.assertIn(f"{LANE}:2: ", run.stdout)

            file.write_text("let end = loop.now\n")
            run = subprocess.run([str(HERE / "check-clocks"), folder], capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
