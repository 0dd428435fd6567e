"""Packs this build as Debian packages, checks them and installs the program in a root that has nothing of ours."""

import os
import pathlib
import shutil

import pytest
from commands import make_root, need, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["BUILD_DIR"])


@pytest.fixture(name="packages", scope="module")
def make_packages(tmp_path_factory):
    need("dh", "patchelf", "dpkg-deb")
    folder = tmp_path_factory.mktemp("packages")
    run(ROOT / "tools/debian_packages", BUILD, folder, env={**os.environ, "ATTEND_XZ": "0"})
    return {path.name.split("_")[0]: path for path in folder.glob("*.deb")}


def test_lintian_finds_nothing(packages):
    need("lintian")
    run("lintian", "--allow-root", "--fail-on", "error,warning", *packages.values())


def test_the_service_is_hardened():
    need("systemd-analyze")
    run("systemd-analyze", "security", "--offline=yes", "--threshold=15", ROOT / "deploy/debian/attend.service")


def test_no_program_looks_into_the_build(packages, tmp_path):
    for name, package in packages.items():
        run("dpkg-deb", "-x", package, tmp_path / name)
    for program in tmp_path.glob("attend*/usr/bin/*"):
        path = run("patchelf", "--print-rpath", program).strip()
        assert path == ("/usr/lib/attend/torch" if program.name == "attend-train" else ""), path


def test_it_runs_in_a_root_of_its_own(packages, tmp_path):
    root = make_root("bookworm", tmp_path / "root")
    shutil.copy(packages["attend"], root / "attend.deb")
    run("chroot", root, "apt-get", "install", "-y", "--no-install-recommends", "./attend.deb", env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    assert "/var/lib/attend" in run("chroot", root, "getent", "passwd", "attend")
    shutil.copytree(ROOT / "tests/data/golden_v1", root / "model")
    assert run("chroot", root, "attend", "translate", "--model", "model", input="the house\n").count("\n") == 1
