"""Tests of tools/check-prose."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent / "check-prose"


def run(files: dict[str, str]) -> tuple[int, str]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        subprocess.run(["git", "add", "."], cwd=folder, check=True)
        result = subprocess.run([sys.executable, TOOL, "--list", folder], capture_output=True, text=True)
        return result.returncode, result.stdout


class CheckProseTests(unittest.TestCase):
    def test_each_habit_is_found(self):
        for text in [
            "What was read waits for the next commit.",
            "The worker tells the brokers about it.",
            "The consumer stops for good after that.",
            "The worker " + "and the worker " * 16 + "end.",
        ]:
            for files in ({"docs/a.md": text}, {"Sources/A.swift": f"/// {text}\nlet a = 1\n"}):
                code, output = run(files)
                self.assertEqual(code, 1, text)
                self.assertIn(":1: ", output)

    def test_plain_sentences_code_and_questions_pass(self):
        page = (
            "The worker commits the offset.\n\nWhat happens then?\n\n```\nnobody says so\n```\n\n    nobody says so\n"
        )
        swift = "/// Returns the offset of the record.\nlet nobody = 1\n"
        self.assertEqual(run({"docs/a.md": page, "Sources/A.swift": swift})[0], 0)


if __name__ == "__main__":
    unittest.main()
