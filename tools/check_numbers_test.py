#!/usr/bin/env python3
"""Tests of tools/check-numbers: each kind of arithmetic that can end the process is found, and what is right is left
alone.
"""

import importlib.machinery
import importlib.util
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("check_numbers", str(HERE / "check-numbers"))
spec = importlib.util.spec_from_loader("check_numbers", loader)
assert spec
check_numbers = importlib.util.module_from_spec(spec)
loader.exec_module(check_numbers)

# A file with a line like this is one in which numbers from outside enter.
READER = "let number = try reader.int()\n"


def problems(line, before=""):
    return [what for _, what in check_numbers.findings(before + line + "\n")]


class CheckNumbersTests(unittest.TestCase):
    def test_no_file_may_have_what_traps(self):
        mistakes = {
            "let whole = Int((number * scale).rounded())": "Int(saturating:)",
            "let count = Int64(microseconds * 1e3)": "Int64(saturating:)",
            "return Int(patience / .seconds(1))": "Int(saturating:)",
            "let code = Int32(delay.milliseconds)": "clamping:",
            "let byte = UInt8(number & 255)": "clamping:",
            "let pause = Duration.seconds(min(seconds, 60))": ".seconds(saturating:)",
            "retryAfter: header.map { .seconds($0) }": ".seconds(saturating:)",
            "guard abs(number) <= limit else { return nil }": ".magnitude",
            "let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })": "uniquingKeysWith:",
            'String(repeating: " ", count: width - text.count)': "max(0, a - b)",
            "let age = clock - record.timestamp": "saturating",
            "let next = record.timestamp + 1": "saturating",
            "total += list.totalAvailable * 2": "saturating",
        }
        for line, cure in mistakes.items():
            with self.subTest(line):
                found = problems(line)
                self.assertEqual(len(set(found)), len(found))
                self.assertTrue(any(cure in problem for problem in found), found)

    def test_arithmetic_is_found_where_numbers_from_outside_enter(self):
        mistakes = [
            "let next = start + number",
            "let left = end - start",
            "let all = count * 2",
            "let part = a / b",
            "sum += number",
            "oldest.map { wallClock - $0 }",
            "for index in 0..<number {}",
            "let range = low...high",
            "let place = id + 1",
        ]
        for line in mistakes:
            with self.subTest(line):
                self.assertEqual(problems(line), [])
                self.assertEqual(len(problems(line, READER)), 1)

    def test_each_way_in_is_known(self):
        for reader in [
            READER,
            "let latitude = reader.lenientDouble(field)",
            "guard let code = Int(text) else { return nil }",
            'let limit = request.uri.queryParameters["limit"]',
            'context.parameter("id", as: Int.self)',
            "let age = record.timestamp",
            "let time = rd_kafka_message_timestamp(message, &kind)",
            "let size = locsearch_get_large(easy, info)",
            "let offset = message.pointee.offset",
        ]:
            with self.subTest(reader):
                self.assertNotEqual(problems("let next = start + length", reader + "\n"), [])

    def test_what_is_right_is_left_alone(self):
        right = [
            "let whole = Int(saturating: number.rounded())",
            "let sum = a.saturatingAdding(b)",
            "let code = Int32(clamping: delay)",
            "let flags = Int32(POLLIN) | Int32(POLLOUT)",
            "let zero = UInt8(0)",
            "let pause = Duration.seconds(5)",
            "let pause = Duration.seconds(12 * 3600)",
            "case .seconds(let seconds): seconds",
            "let now = WallClock.seconds()",
            "entries += 1",
            'text += "a" + b',
            "let size = bytes.count + 1",
            "let half = size / 2",
            "let left = deadline - .now",
            "let all = found + [one]",
            "let bits = value << 7",
            "for index in 0..<bytes.count {}",
            'let line = "\\(a) - \\(b)"  // a - b',
            'let text = """\n    a - b\n    """',
            "/* a - b */",
            'String(repeating: " ", count: max(0, width - text.count))',
            "let x = number * 0.5",
            "let next = start + length  // bounded: start is at most 1,000,000",
            "// The page was checked.\n// bounded: start is at most 1,000,000\nlet next = start + length",
            'case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")',
        ]
        for line in right:
            with self.subTest(line):
                self.assertEqual(problems(line, READER), [])

    def test_a_reason_must_say_something(self):
        self.assertEqual(len(problems("let next = start + length  // bounded:", READER)), 1)
        self.assertEqual(len(problems("let next = start + length  // unbounded", READER)), 1)

    def test_findings_name_file_and_line(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path in [
                "Sources/Platform/Kafka/Backlog.swift",
                "Sources/Platform/JSON/JSONReader.swift",
                "Tests/A.swift",
            ]:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text("// one\nlet a = abs(b)\n", encoding="utf-8")
            subprocess.run(["git", "init", "-q", folder], check=True)
            found = check_numbers.problems_of(root)
            self.assertEqual(len(found), 1, found)
            self.assertRegex(found[0], r"^Sources/Platform/Kafka/Backlog\.swift:2: abs")

    def test_lines_stay_lines(self):
        source = 'let a = #"\\("#\n/* b\n */ let c = """\n  \\(d - "e")\n  """\n// f\nlet g = "\\"" // h\n'
        self.assertEqual(check_numbers.stripped(source).count("\n"), source.count("\n"))


if __name__ == "__main__":
    unittest.main(argv=["check_numbers_test.py"])
