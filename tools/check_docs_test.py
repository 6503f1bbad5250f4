#!/usr/bin/env python3
"""Tests of tools/check-docs: each kind of mistake is found, and what is right is left alone."""

import importlib.machinery
import importlib.util
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("check_docs", str(HERE / "check-docs"))
spec = importlib.util.spec_from_loader("check_docs", loader)
assert spec
check_docs = importlib.util.module_from_spec(spec)
loader.exec_module(check_docs)

REPOSITORY = {
    "Makefile": "demo: setup ## Shows it\n\ttrue\nsetup:\n\ttrue\n",
    "Package.swift": "// swift-tools-version: 6.2\n",
    "docs/settings.md": "# Settings\n\n| `worker.loops` | `WORKER_LOOPS` | `1` | loops |\n| `admin.port` "
    "| `ADMIN_PORT` | `8080` | port |\n",
    "docs/other.md": "# Other\n\n## One `thing`, and more\n\n## Twice\n\n## Twice\n",
    "Sources/Commands/locsearch/Commands/WatchCommand.swift": 'struct WatchCommand {\n    commandName: "watch"\n'
    '    @Flag(help: "x") var fromBeginning = false\n    let metric = "locsearch_lag_total"\n}\n',
    "Sources/Platform/Kafka/KafkaConsumer.swift": "actor KafkaConsumer {}\n",
    "ops/experiments/experiments/kill_9.py": 'EXPERIMENTS = [Experiment("kill-9", "x", run), '
    'Experiment(f"ordering-{by}", "x", run)]\n',
    "Tests/Platform/KafkaTests/RoundTripTests.swift": (
        "struct RoundTripTests {\n    @Test func recordComesBack() {}\n}\n"
    ),
    "ops/experiments/run": "",
    "tools/setup": "",
}


def problems(readme: str, more: dict[str, str] | None = None) -> list[str]:
    """Returns what is wrong with a repository that has this README, and these files more."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, content in (REPOSITORY | (more or {}) | {"README.md": readme}).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content, encoding="utf-8")
        subprocess.run(["git", "init", "-q", folder], check=True)
        return check_docs.problems_of(root)


class CheckDocsTests(unittest.TestCase):
    def test_what_is_right_is_left_alone(self):
        right = """# Title

[other](docs/other.md), [heading](docs/other.md#one-thing-and-more), [second of two](docs/other.md#twice-1),
[this page](#title), [a folder](docs/), [the web](https://example.com/nothing#here),
`[no link](nowhere.md)`.

`make demo`, `tools/setup`, `Kafka/KafkaConsumer.swift`, `KafkaConsumer`, `RoundTripTests.recordComesBack`,
`worker.loops=2`, `locsearch_lag_total`, `ops/experiments/run kill-9 --short`, `ops/experiments/run all`,
`ops/experiments/run NAME`.

    WORKER_LOOPS=2 locsearch watch --from-beginning --worker-loops 2   # make nothing of this comment

Shown by `kill-9` and `ordering-key`.

| guarantee | shown by |
|---|---|
| it holds | `kill-9`, `ordering-partition` |
"""
        self.assertEqual(problems(right), [])

    def test_each_mistake_is_found_at_its_line(self):
        mistakes = {
            "[gone](docs/gone.md)": "the link docs/gone.md leads to no file",
            "[gone]: docs/gone.md": "the link docs/gone.md leads to no file",
            "![gone](docs/gone.png)": "the link docs/gone.png leads to no file",
            "[above](../elsewhere.md)": "the link ../elsewhere.md leads to no file",
            "[gone](docs/other.md#gone)": "docs/other.md has no #gone",
            "[gone](#gone)": "README.md has no #gone",
            "[third](docs/other.md#twice-2)": "docs/other.md has no #twice-2",
            "`make dmeo`": "`make dmeo` is no target",
            "```\ntrue && make dmeo\n```": "`make dmeo` is no target",
            "    make dmeo": "`make dmeo` is no target",
            "`tools/gone`": "`tools/gone` does not exist",
            "`Kafka/Gone.swift`": "`Kafka/Gone.swift` does not exist below Sources",
            "`KafkaProducer`": "`KafkaProducer` is no name",
            "`worker.lopos`": "`worker.lopos` is no setting",
            "`worker.lopos=2`": "`worker.lopos` is no setting",
            "`WORKER_LOPOS=2`": "`WORKER_LOPOS` is no setting's environment variable",
            "`locsearch wotch`": "`locsearch wotch` is no command",
            "`locsearch watch --from-start`": "`--from-start` is no option",
            "`locsearch watch --worker-lopos 2`": "`--worker-lopos` is no option",
            "`locsearch_gone_total`": "`locsearch_gone_total` is no metric",
            "`ops/experiments/run kill-10 --short`": "`kill-10` is no experiment",
            "Shown by `kill-10`.": "`kill-10` is no experiment",
            "| what | shown by |\n|---|---|\n| it | `kill-10` |": "`kill-10` is no experiment",
        }
        for text, problem in mistakes.items():
            with self.subTest(text):
                found = problems(f"# Title\n\nRight.\n\n{text}\n")
                self.assertEqual(len(found), 1, found)
                self.assertRegex(found[0], r"^README\.md:[5-9]: ")
                self.assertIn(problem, found[0])

    def test_each_experiment_is_on_the_page_about_them(self):
        page = "ops/experiments/README.md"
        self.assertEqual(problems("# Title\n", {page: "`kill-9`, `ordering-key`\n"}), [])
        self.assertEqual(
            problems("# Title\n", {page: "`kill-9` and ordering-key\n"}),
            [f"{page}:1: the experiment `ordering-{{by}}` is not named here"],
        )


if __name__ == "__main__":
    unittest.main(argv=["check_docs_test.py"])
