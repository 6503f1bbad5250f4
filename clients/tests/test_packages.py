"""What `make clients` has built: the packages bear the project's version and hold what their users need."""

import json
import re
import tarfile
import zipfile
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[1]
[VERSION] = re.findall(r'current = "(.+)"', (CLIENTS.parent / "Sources/Commands/locsearch/Version.swift").read_text())


def test_wheel() -> None:
    with zipfile.ZipFile(CLIENTS / f"dist/location_search_client-{VERSION}-py3-none-any.whl") as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(f"location_search_client-{VERSION}.dist-info/METADATA").decode()

    assert {"location_search_client/py.typed", "location_search_client/events.py"} <= names
    assert f"Version: {VERSION}\n" in metadata
    assert "Requires-Dist: confluent-kafka" in metadata


def test_npm_package() -> None:
    with tarfile.open(CLIENTS / f"dist/location-search-client-{VERSION}.tgz") as package:
        names = set(package.getnames())
        description = package.extractfile("package/package.json")
        assert description
        version = json.load(description)["version"]

    assert version == VERSION
    wanted = {f"package/dist/{name}" for name in ("index.js", "index.d.ts", "events.d.ts", "client.d.ts")}
    assert {"package/README.md", *wanted} <= names
    assert not [name for name in names if "test" in name]
