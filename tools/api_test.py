#!/usr/bin/env python3
"""Tests of tools/api: what is gone, changed or new is told apart, and extensions count with their module."""

import importlib.machinery
import importlib.util
import json
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("api", str(HERE / "api"))
spec = importlib.util.spec_from_loader("api", loader)
assert spec
api = importlib.util.module_from_spec(spec)
loader.exec_module(api)


def graph(*symbols: tuple[str, str]) -> str:
    """Returns a graph of symbols, each given by its path and by how it is written."""
    made = [{"pathComponents": path.split("."), "declarationFragments": [{"spelling": text}]} for path, text in symbols]
    return json.dumps({"symbols": made})


class APITests(unittest.TestCase):
    def test_what_is_gone_changed_and_new_is_told_apart(self):
        accepted = "Kafka.A: struct A\nKafka.A.b: let b: Int\n"
        present = "Kafka.A: struct A\nKafka.A.b: let b: Int?\n"
        self.assertEqual(api.differences("Kafka", accepted, accepted), [])
        self.assertEqual(
            api.differences("Kafka", accepted, present),
            ["Kafka: gone or changed, which breaks users: Kafka.A.b: let b: Int", "Kafka: new: Kafka.A.b: let b: Int?"],
        )

    def test_declarations_are_those_of_the_module_and_of_its_extensions(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "Kafka.symbols.json").write_text(graph(("A.b", "let b:\n  Int"), ("A", "struct A")))
            (Path(folder) / "Kafka@Swift.symbols.json").write_text(graph(("Array.c", "var c: Int")))
            (Path(folder) / "Basics.symbols.json").write_text(graph(("D", "struct D")))
            self.assertEqual(
                api.declarations("Kafka", Path(folder)),
                ["Kafka.A.b: let b: Int", "Kafka.A: struct A", "Kafka.Array.c: var c: Int"],
            )

    def test_products_are_those_of_the_package(self):
        manifest = (api.ROOT / "Package.swift").read_text(encoding="utf-8")
        for product, modules in api.PRODUCTS.items():
            names = ", ".join(f'"{module}"' for module in modules)
            self.assertIn(f'.library(name: "{product}", targets: [{names}])', manifest)
        self.assertEqual(manifest.count(".library(name:"), len(api.PRODUCTS))


if __name__ == "__main__":
    unittest.main()
