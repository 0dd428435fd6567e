"""Bills of materials: CycloneDX's own schema, and what the programs load as readelf sees it."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

pytest.importorskip("cyclonedx", reason="cyclonedx-python-lib is missing: pip install -r tools/requirements_tests.txt")

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
LIBRARIES = tomllib.loads((ROOT / "tools/linked.toml").read_text(encoding="utf-8"))["library"]
STATUS = """Package: libexample1
Status: install ok installed
Architecture: amd64
Version: 1:2.3-4+deb12u1
Description: example
 Version: of nothing

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1.0-1
"""


def sbom(*arguments, **environment):
    return subprocess.run(
        [sys.executable, ROOT / "tools/sbom", *map(str, arguments)], capture_output=True, text=True, check=False, env={**os.environ, **environment})


def made(part, folder, *more, **environment):
    path = folder / f"{part}.json"
    done = sbom(part, path, *more, **environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return path.read_text(encoding="utf-8")


def test_the_table_of_licences_is_of_the_same_list():
    done = sbom("--table", "--check")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("part", ["attend", "train", "python"])
def test_a_bill_is_cyclonedx_and_names_every_library(part, tmp_path):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    text = made(part, tmp_path)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text.replace('"type": "library"', '"type": "lib"')) is not None
    components = {component["name"]: component for component in json.loads(text)["components"]}
    assert set(components) == {library["name"] for library in LIBRARIES if part in library["in"]}
    assert all(component["licenses"] and component["version"] for component in components.values())
    assert re.fullmatch(r"[\d.]+[-+].*", components["fmt"]["version"]), "not the version of the Debian package"


def test_the_same_input_gives_the_same_bytes(tmp_path):
    first = made("attend", tmp_path, SOURCE_DATE_EPOCH="86400")
    assert first == made("attend", tmp_path, SOURCE_DATE_EPOCH="86400", PYTHONHASHSEED="7")
    assert '"timestamp": "1970-01-02T00:00:00+00:00"' in first


def test_of_an_image_every_installed_package(tmp_path):
    (tmp_path / "root/var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "root/var/lib/dpkg/status").write_text(STATUS, encoding="utf-8")
    components = {component["name"]: component for component in json.loads(made("container", tmp_path, "--root", tmp_path / "root"))["components"]}
    assert components["libexample1"]["purl"] == "pkg:deb/debian/libexample1@1:2.3-4%2Bdeb12u1?arch=amd64"
    assert "SentencePiece" in components and "gone" not in components


@pytest.mark.parametrize("program", ["attend", "attend-train"])
def test_what_a_program_loads_is_on_the_list(program):
    if not (BUILD / program).exists() or shutil.which("readelf") is None:
        pytest.skip(f"no {program}, or no readelf")
    part = program.removeprefix("attend-")
    shown = subprocess.run(["readelf", "-d", BUILD / program], capture_output=True, text=True, check=True).stdout
    loaded = re.findall(r"\(NEEDED\).*\[(.*)\]", shown)
    listed = {library["name"]: tuple(library["loads"]) for library in LIBRARIES if part in library["in"] and "loads" in library}
    assert [name for name in loaded if not name.startswith(sum(listed.values(), ()))] == []
    optional = {"CLD2"}
    assert {name for name, loads in listed.items() if not any(one.startswith(loads) for one in loaded)} <= optional


def test_a_wheels_bill_has_what_it_holds_and_the_hashes_of_that(tmp_path):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    text = made("wheel", tmp_path)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    components = json.loads(text)["components"]
    given = tomllib.loads((ROOT / "deploy/wheels/libraries.toml").read_text(encoding="utf-8"))
    hashes = {(one["name"], one["hashes"][0]["content"]) for one in components if "hashes" in one}
    assert hashes == {(library["name"], library["sha256"]) for library in given["library"] + given["headers"]}
    (url,) = [one["purl"] for one in components if one["name"] == "zlib"]
    assert url.startswith("pkg:deb/debian/zlib@1.2.")
    assert {"SentencePiece", "compiler-rt, with zig"} <= {one["name"] for one in components}


def test_an_image_needs_its_root(tmp_path):
    done = sbom("container", tmp_path / "x.json")
    assert done.returncode == 2 and "--root" in done.stderr
