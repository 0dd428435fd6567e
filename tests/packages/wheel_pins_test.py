"""What tools/wheels fetches is pinned, by hash, and listed with its licence."""

import hashlib
import http.client
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("wheels", str(ROOT / "tools/wheels"))


@pytest.fixture(name="wheels")
def load_tool():
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("wheels", LOADER))
    LOADER.exec_module(module)
    return module


def test_each_library_is_pinned_and_listed_with_the_same_licence(wheels):
    rows = [row for row in (ROOT / "THIRD_PARTY.md").read_text().splitlines() if row.startswith("| ")]
    listed = {row.split("|")[1].split(",")[0].split(" (")[0].strip().lower() for row in rows}
    linked = tomllib.loads((ROOT / "tools/linked.toml").read_text())["library"]
    licences = {re.split(r", | \(", library["name"])[0].lower(): library["licence"] for library in linked}
    for entry in wheels.LIBRARIES["library"] + wheels.LIBRARIES["headers"]:
        assert re.fullmatch("[0-9a-f]{64}", entry["sha256"]), entry["name"]
        if entry["name"] == "Python":
            continue
        assert entry["name"].lower() in listed, (entry["name"], listed)
        assert licences.get(entry["name"].lower()) == entry["licence"], entry["name"]


def test_each_library_of_the_distribution_is_built(wheels):
    of_the_system = {"GNU C Library", "GCC's runtime libraries"}
    built = {entry["name"] for entry in wheels.LIBRARIES["library"] + wheels.LIBRARIES["headers"]}
    linked = tomllib.loads((ROOT / "tools/linked.toml").read_text())["library"]
    needed = {library["name"] for library in linked if "debian" in library and {"python", "attend"} & set(library["in"])}
    assert needed - of_the_system - built == set()


def test_each_python_package_has_hashes():
    for line in (ROOT / "tools/requirements_wheels.txt").read_text().splitlines():
        assert line.startswith("#") or re.fullmatch(r"[a-z0-9-]+==[0-9.]+( --hash=sha256:[0-9a-f]{64})+", line), line


def test_packages_agree_with_those_of_the_build():
    pinned = dict(re.findall(r"^([a-z0-9-]+)==([0-9.]+)", (ROOT / "tools/requirements_wheels.txt").read_text(), re.MULTILINE))
    built = dict(re.findall(r'"([a-z-]+)==([0-9.]+)"', (ROOT / "pyproject.toml").read_text().partition("build-backend")[0]))
    assert built and {name: pinned[name] for name in built} == built


def test_the_training_program_is_of_the_same_version():
    version = re.search(r"project\(attend VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["train"] == [f"attend-train=={version}"]


def test_a_file_comes_from_the_mirror_that_has_it(wheels, tmp_path):
    for mirror, content in {"wrong": b"something else", "right": b"the file"}.items():
        (tmp_path / mirror / "debian").mkdir(parents=True)
        (tmp_path / mirror / "debian/a.dsc").write_bytes(content)
    (tmp_path / "kept").mkdir()
    wheels.LIBRARIES["mirrors"] = [f"file://{tmp_path}/{mirror}/{{archive}}/{{path}}" for mirror in ("none", "wrong", "right")]
    expected = hashlib.sha256(b"the file").hexdigest()
    assert wheels.fetch("debian", "a.dsc", expected, tmp_path / "kept").read_bytes() == b"the file"
    wheels.LIBRARIES["mirrors"].pop()
    (tmp_path / "kept/a.dsc").write_bytes(b"cut")
    with pytest.raises(SystemExit, match=f"(?s)none/debian/a.dsc.*wrong/debian/a.dsc: SHA-256 .*expected {expected}"):
        wheels.fetch("debian", "a.dsc", expected, tmp_path / "kept")
    assert (tmp_path / "kept/a.dsc").read_bytes() == b"cut"


def test_an_answer_that_ends_early_is_a_failure_of_its_mirror(wheels, tmp_path, monkeypatch):
    def cut(*_arguments, **_more):
        raise http.client.IncompleteRead(b"the f")

    monkeypatch.setattr(wheels.urllib.request, "urlopen", cut)
    with pytest.raises(SystemExit, match=r"a\.dsc: IncompleteRead"):
        wheels.fetch("debian", "a.dsc", "0" * 64, tmp_path)


def test_what_is_missing_is_told_at_the_start(wheels, tmp_path, monkeypatch):
    for name in (*wheels.PROGRAMS, "six.py"):
        (tmp_path / name).touch(0o755)
    monkeypatch.setattr(wheels, "FILES", (str(tmp_path / "six.py"),))
    native, path, none = os.uname().machine, str(tmp_path), tmp_path / "none.pyi"
    monkeypatch.setattr(wheels.sys, "version_info", (3, 11, 2))
    assert wheels.what_is_missing([native, "other"], none, path) == ""
    assert f"add --machine {native}" in wheels.what_is_missing(["other"], none, path)
    assert wheels.what_is_missing(["other"], tmp_path / "nasm", path) == ""
    monkeypatch.setattr(wheels.sys, "version_info", (3, 13, 0))
    assert "Python 3.13 runs it, expected 3.11" in wheels.what_is_missing([native], none, path)
    (tmp_path / "icupkg").unlink()
    (tmp_path / "six.py").unlink()
    assert f"not installed: icupkg {tmp_path / 'six.py'}" in wheels.what_is_missing([native], none, path)


def test_what_other_tools_made_is_made_again(wheels, tmp_path, monkeypatch):
    before = wheels.stamped(tmp_path, "zlib", "key")
    assert wheels.stamped(tmp_path, "zlib", "key") == before != wheels.stamped(tmp_path, "zlib", "other")
    assert all((ROOT / "tools" / name).read_text() in wheels.TOOLS for name in ("wheels", "requirements_wheels.txt", "build_sentencepiece"))
    monkeypatch.setattr(wheels, "TOOLS", wheels.TOOLS + "#")
    assert wheels.stamped(tmp_path, "zlib", "key") != before


def test_the_archives_of_a_source_are_those_that_it_names(wheels, tmp_path):
    dsc = tmp_path / "a.dsc"
    dsc.write_text("Format: 3.0 (quilt)\nChecksums-Sha1:\n 11 5 a.orig.tar.gz\n"
                   "Checksums-Sha256:\n 22 5 a.orig.tar.gz\n 33 6 a.debian.tar.xz\nFiles:\n 44 5 a.orig.tar.gz\n")
    assert wheels.files_of(dsc) == [("22", "a.orig.tar.gz"), ("33", "a.debian.tar.xz")]
