#!/usr/bin/env python3
"""Tests of tools/dependencies: each difference is found, and raising changes versions and nothing else."""

import importlib.machinery
import importlib.util
import json
import os
import stat
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("dependencies", str(HERE / "dependencies"))
spec = importlib.util.spec_from_loader("dependencies", loader)
assert spec
dependencies = importlib.util.module_from_spec(spec)
loader.exec_module(dependencies)

MANIFEST = """let transitive = [
    ("Atomics", "https://github.com/apple/swift-atomics.git", "1.3.0"),
]
dependencies: [
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2", traits: []),
] + transitive.map { .package(url: $0.url, exact: $0.version) },
"""
RECORD = "# Record\n\n<!-- versions: written by a tool -->\nold\n<!-- end of versions -->\n\nEnd.\n"
VERSIONS = {"swift-atomics": "1.3.0", "swift-nio": "2.101.2", "yams": "6.2.2"}


def resolved(versions: dict[str, str]) -> str:
    return json.dumps(
        {"pins": [{"identity": name, "state": {"version": version}} for name, version in versions.items()]}
    )


class DependenciesTests(unittest.TestCase):
    def test_manifest_names_used_and_transitive_packages(self):
        self.assertEqual(dependencies.manifest_versions(MANIFEST), VERSIONS)

    def test_each_difference_is_found(self):
        cases = [
            ({**VERSIONS, "yams": "6.2.1"}, "Package.swift has yams 6.2.1, but 6.2.2 was resolved"),
            ({**VERSIONS, "yams": ""}, 'Package.swift does not pin yams: write exact: "6.2.2"'),
            ({**VERSIONS, "swift-log": "1.0.0"}, "Package.swift names swift-log, which is not used"),
            ({"swift-nio": "2.101.2", "yams": "6.2.2"}, "Package.swift does not name swift-atomics 1.3.0"),
        ]
        self.assertEqual(dependencies.differences(VERSIONS, {"Package.swift": VERSIONS}), [])
        for named, problem in cases:
            self.assertEqual(dependencies.differences(VERSIONS, {"Package.swift": named}), [problem])

    def test_range_is_not_pinned(self):
        text = MANIFEST.replace('Yams", exact', 'Yams", from')
        self.assertEqual(dependencies.manifest_versions(text)["yams"], "")

    def test_record_is_read_as_it_is_written(self):
        written = dependencies.with_record(RECORD, VERSIONS, {"swift-nio", "yams"})
        self.assertEqual(dependencies.record_versions(written), VERSIONS)
        self.assertIn("| `swift-atomics` | 1.3.0 | by others |", written)
        self.assertTrue(written.endswith("\n\nEnd.\n"))

    def test_bill_of_materials_counts_swift_packages_only(self):
        parts = ["pkg:swift/github.com/jpsim/Yams@6.2.2", "pkg:deb/debian/libc6@2.41-12%2Bdeb13u1?arch=amd64"]
        text = json.dumps({"components": [{"purl": part} for part in parts]})
        self.assertEqual(dependencies.sbom_versions(text), {"yams": "6.2.2"})

    def test_raising_changes_versions_and_nothing_else(self):
        changed = self.raised({**VERSIONS, "yams": "6.3.0", "swift-atomics": "1.4.0"})
        self.assertEqual(changed.seen, MANIFEST.replace("exact:", "from:"), "the ranges that it was resolved with")
        self.assertEqual(changed.manifest, MANIFEST.replace("6.2.2", "6.3.0").replace("1.3.0", "1.4.0"))
        self.assertEqual(dependencies.record_versions(changed.record)["yams"], "6.3.0")

    def test_manifest_is_as_it_was_when_nothing_can_be_resolved(self):
        with self.assertRaisesRegex(RuntimeError, "no such version"):
            self.raised(None)

    def raised(self, versions: dict[str, str] | None):
        """Raises the versions of a repository, with a stand-in for swift that resolves to these."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "Package.swift").write_text(MANIFEST)
            (root / dependencies.RECORD).parent.mkdir(parents=True)
            (root / dependencies.RECORD).write_text(RECORD)
            (root / "versions").write_text(resolved(versions or {}))
            program = root / "bin/swift"
            program.parent.mkdir()
            if versions is None:
                program.write_text("#!/bin/sh\necho no such version >&2; exit 1\n")
            else:
                program.write_text(
                    '#!/bin/sh\n[ "$2" = update ] && cp Package.swift seen && cp versions Package.resolved; exit 0\n'
                )
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            path = os.environ["PATH"]
            os.environ["PATH"] = f"{program.parent}:{path}"
            try:
                dependencies.raise_all(root)
            finally:
                os.environ["PATH"] = path
                self.assertNotIn("from:", (root / "Package.swift").read_text())
            return Raised(
                (root / "seen").read_text(),
                (root / "Package.swift").read_text(),
                (root / dependencies.RECORD).read_text(),
            )


class Raised:
    def __init__(self, seen: str, manifest: str, record: str):
        self.seen, self.manifest, self.record = seen, manifest, record


if __name__ == "__main__":
    unittest.main()
