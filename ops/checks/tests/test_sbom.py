"""The bill of materials that the image carries is valid CycloneDX and names what is in the image."""

import json
import shutil
import subprocess

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from operator_files import ROOT

STATUS = "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.41-12+deb13u1\n"
RESOLVED = {
    "pins": [
        {
            "identity": "swift-nio",
            "location": "https://github.com/apple/swift-nio.git",
            "state": {"revision": "abc", "version": "2.101.2"},
        },
        {
            "identity": "unreleased",
            "location": "https://example.org/unreleased",
            "state": {"revision": "def", "branch": "main"},
        },
    ],
    "version": 3,
}


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed: tools/setup ops does that")
def test_bill_of_materials_names_swift_and_debian_packages(tmp_path):
    packages = tmp_path / "var/lib/dpkg/status.d"
    packages.mkdir(parents=True)
    (packages / "libc6").write_text(STATUS)
    resolved = tmp_path / "Package.resolved"
    resolved.write_text(json.dumps(RESOLVED))

    command = [ROOT / "ops/image/sbom", "1.2.3", resolved, tmp_path]
    written = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(written) is None
    bill = json.loads(written)
    assert bill["metadata"]["component"]["version"] == "1.2.3"
    assert [part["purl"] for part in bill["components"]] == [
        "pkg:swift/github.com/apple/swift-nio@2.101.2",
        "pkg:swift/example.org/unreleased@def",
        "pkg:deb/debian/libc6@2.41-12%2Bdeb13u1?arch=amd64&distro=debian-13",
    ]
