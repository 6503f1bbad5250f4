#!/usr/bin/env python3
"""Tests of tools/check-words: banned words are found with their replacement, and code and names are left alone."""

import importlib.machinery
import importlib.util
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("check_words", str(HERE / "check-words"))
spec = importlib.util.spec_from_loader("check_words", loader)
assert spec
check_words = importlib.util.module_from_spec(spec)
loader.exec_module(check_words)


def problems(files: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content, encoding="utf-8")
        subprocess.run(["git", "init", "-q", folder], check=True)
        return check_words.problems_of(root)


class CheckWordsTests(unittest.TestCase):
    def test_banned_word_comes_with_its_replacement(self):
        text = "# Title\n\nA worker lends quota.\nNobody heeds it, and Loans end.\n"
        self.assertEqual(
            problems({"docs/a.md": text}),
            [
                'docs/a.md:3: "lends": say lease, lessor',
                'docs/a.md:4: "Loans": say quota lease',
                'docs/a.md:4: "heeds": say acknowledge (a message), obey (a header)',
            ],
        )

    def test_sentence_names_its_subject(self):
        found = problems({"a.md": "It ends. Who waits is told.\n\nWhoever asks waits.\n\n- What is left ends.\n"})
        self.assertEqual(sum("a sentence begins with" in problem for problem in found), 3, found)

    def test_code_headings_names_and_questions_are_left_alone(self):
        text = "# Who gets how much\n\n`lessor-keeps-lease` and `heeded`, lessor-keeps-lease.\n"
        text += "\n    lend it\n\nIt says\nWho is asked.\n"
        self.assertEqual(problems({"a.md": text, "CHANGELOG.md": "Loans.\n"}), [])

    def test_comments_are_looked_at_and_code_is_not(self):
        swift = (
            "/// Older ones are heeded.\nlet heeded = 1  // its company\nlet company = 2\n// A `slot`, a slot.\n"
            "/// - Parameter slot: of a record.\n"
        )
        self.assertEqual([line.split(":")[1] for line in problems({"Sources/A/B.swift": swift})], ["1", "2", "4"])


if __name__ == "__main__":
    unittest.main()
