"""The source archive of the Python package: what is in it, and that it installs in a root that has nothing of ours."""

import os
import pathlib
import re
import shutil
import sys
import tarfile

import pytest
from commands import make_root, run

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(name="archive", scope="module")
def make(tmp_path_factory):
    pytest.importorskip("scikit_build_core")
    folder = tmp_path_factory.mktemp("archive")
    run(sys.executable, "-c", f"from scikit_build_core.build import build_sdist; build_sdist({str(folder)!r})", cwd=ROOT)
    return next(folder.glob("attend-*.tar.gz"))


def test_it_holds_what_builds_and_no_tests(archive):
    names = {name.partition("/")[2] for name in tarfile.open(archive).getnames()}
    # Every folder that CMake adds without tests, and what the configuration reads.
    for name in ("CMakeLists.txt", "bench/CMakeLists.txt", "docs/options.md", "tools/man_pages", "tools/build_sentencepiece", "THIRD_PARTY.md"):
        assert name in names
    tracked = run("git", "-C", ROOT, "ls-files", "src", "python/module", "python/attend", "include").split()
    assert {name for name in tracked if not re.search("_test[.](cc|py)$", name)} <= names
    assert not [name for name in names if name.startswith(("tests/", ".deps", ".venv", "build")) or name.endswith(("_test.cc", "_test.py"))]


def test_it_installs_in_a_root_of_its_own(archive, tmp_path):
    root = make_root("bookworm", tmp_path / "root")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    listed = (ROOT / "tools/packages.txt").read_text()
    packages = " ".join(re.findall("^programs: (.*)$", listed, re.MULTILINE)).split()
    run("chroot", root, "apt-get", "install", "-y", "--no-install-recommends", *packages, env=environment)
    shutil.copy(archive, root)
    shutil.copytree(ROOT / "tests/data/golden_v1", root / "model")
    for file in ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):  # the way out of this machine
        shutil.copy(file, str(root) + file)
    run("chroot", root, "python3", "-m", "venv", "/venv")
    run("chroot", root, "/venv/bin/pip", "install", f"/{archive.name}", env=environment)
    translated = run("chroot", root, "/venv/bin/attend", "translate", "--model", "/model", input="lumi tavo keri\n")
    code = "import attend; print(attend.Translator('/model').translate(['lumi tavo keri'])[0])"
    assert run("chroot", root, "/venv/bin/python", "-c", code) == translated
