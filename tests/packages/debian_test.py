"""Packs this build as Debian packages, checks them and installs the program in a root that has nothing of ours."""

import os
import pathlib
import shutil
import subprocess

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


@pytest.fixture(name="root", scope="module")
def install(packages, tmp_path_factory):
    """A root that later tests install more into: those that ask for least come first."""
    root = make_root("bookworm", tmp_path_factory.mktemp("root") / "root")
    for name, package in packages.items():
        shutil.copy(package, root / f"{name}.deb")
    shutil.copytree(ROOT / "tests/data/golden_v1", root / "var/lib/attend/models/golden")
    install_in(root, "./attend.deb")
    run("mount", "--bind", "/proc", root / "proc")
    yield root
    run("umount", root / "proc")


def install_in(root, *packages):
    run("chroot", root, "apt-get", "install", "-y", "--no-install-recommends", *packages, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def test_it_runs_in_a_root_of_its_own(root):
    assert "/var/lib/attend" in run("chroot", root, "getent", "passwd", "attend")
    assert run("chroot", root, "attend", "translate", "--model", "/var/lib/attend/models/golden", input="the house\n").count("\n") == 1


def test_the_training_program_trains(packages, root):
    if "attend-train" not in packages:
        pytest.skip("a build without training")
    install_in(root, "./attend-train.deb")
    for side in ("en", "de"):
        (root / f"train.{side}").write_text("a b c\nc b a\n" * 20, encoding="utf-8")
    run("chroot", root, "attend", "train", "--train-source", "/train.en", "--train-target", "/train.de", "--vocab-type", "char", "--vocab-size", "12",
        "--preset", "tiny", "--max-updates", "2", "--output", "/run1", "--quiet")
    assert (root / "run1/model/model.safetensors").exists()


def test_the_service_of_the_unit_answers(root):
    """As its user, with the installed configuration; a root has no systemd that could start it."""
    unit = (root / "lib/systemd/system/attend.service").read_text(encoding="utf-8")
    options = dict(line.split("=", 1) for line in unit.splitlines() if "=" in line)
    user = f"--userspec={options['User']}:{options['Group']}"
    with subprocess.Popen(["chroot", user, root, *options["ExecStart"].split()], stderr=subprocess.PIPE, text=True) as service:
        try:
            assert any('"listening"' in line for line in service.stderr)
            run("chroot", user, root, "attend", "health")
        finally:
            service.terminate()
    assert service.returncode == 0


def test_the_unit_is_valid(root):
    need("systemd-analyze")
    install_in(root, "procps")  # a usual system has it: /bin/kill of ExecReload
    run("systemd-analyze", "verify", "--man=no", f"--root={root}", "attend.service")


def test_the_library_is_enough_to_compile_a_program(root):
    install_in(root, "./libattend-dev.deb", "cmake", "ninja-build", "g++")
    shutil.copytree(ROOT / "tests/consumer", root / "consumer")
    run("chroot", root, "cmake", "-S", "/consumer", "-B", "/built", "-G", "Ninja")
    run("chroot", root, "cmake", "--build", "/built", "--target", "translate")
    assert run("chroot", root, "/built/translate", "/var/lib/attend/models/golden", "the house").strip()
