"""The wheels that need nothing of the distribution: what is in them, and that they run in roots that have nothing of ours.

ATTEND_BUILT_WHEELS names a folder with wheels; without it `tools/wheels` makes them, which compiles every library.
"""

import email
import hashlib
import os
import pathlib
import shutil
import sys
import tomllib
import zipfile

import pytest
from commands import make_root, need, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = tomllib.loads((ROOT / "deploy/wheels/libraries.toml").read_text())
# All that a program may load: glibc's own, and the unwinder that glibc's threads ask for.
GLIBC = {"libgcc_s.so.1", "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
MODEL = ROOT / "tests/data/golden_v1"
WORDS = "lumi tavo keri\nneri dosa\n"


@pytest.fixture(name="wheels", scope="module")
def take_or_make_wheels(tmp_path_factory):
    folder = os.environ.get("ATTEND_BUILT_WHEELS")
    if folder is None:
        need("dpkg-source", "cmake", "ninja", "nasm", "icupkg")
        folder = tmp_path_factory.mktemp("wheels")
        run(sys.executable, ROOT / "tools/wheels", "--output", folder)
    found = {machine: wheel for machine in ("x86_64", "aarch64") for wheel in pathlib.Path(folder).glob(f"attend-*manylinux*_{machine}.whl")}
    assert found, f"no wheels in {folder}"
    return found


@pytest.fixture(name="unpacked", scope="module")
def unpack(wheels, tmp_path_factory):
    folders = {}
    for machine, wheel in wheels.items():
        folders[machine] = tmp_path_factory.mktemp(machine)
        zipfile.ZipFile(wheel).extractall(folders[machine])
        program_of(folders[machine]).chmod(0o755)
    return folders


def program_of(folder):
    return next(folder.glob("attend-*.data/scripts/attend"))


def test_a_wheel_fits_every_python_and_old_glibc(wheels):
    for machine, wheel in wheels.items():
        assert wheel.name.endswith(f"-cp310-abi3-manylinux_2_31_{machine}.whl")
        names = zipfile.ZipFile(wheel).namelist()
        information = next(name for name in names if name.endswith(".dist-info/METADATA"))
        fields = email.message_from_bytes(zipfile.ZipFile(wheel).read(information))
        assert any(line.startswith("nanobind-backend") for line in fields.get_all("Requires-Dist"))
        assert "attend/_attend.abi3.so" in names and "attend/_attend.pyi" in names
        tracked = run("git", "-C", ROOT / "python", "ls-files", "attend/*.py").splitlines()
        assert "attend/recipes/__init__.py" in tracked and set(tracked) <= set(names)


def test_auditwheel_agrees_with_the_tag(wheels):
    pytest.importorskip("auditwheel")
    for machine, wheel in wheels.items():
        text = " ".join(run(sys.executable, "-m", "auditwheel", "show", wheel).split())
        assert f'constrains the platform tag to "manylinux_2_31_{machine}"' in text or f'tag: "manylinux_2_31_{machine}"' in text, text


def test_programs_load_glibc_alone(unpacked):
    need("readelf")
    for folder in unpacked.values():
        for file in (program_of(folder), folder / "attend/_attend.abi3.so"):
            lines = run("readelf", "-d", file).splitlines()
            loaded = {line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line}
            assert loaded <= GLIBC, loaded
            assert not [line for line in lines if "PATH)" in line]
            versions = {word.rstrip(")") for word in run("readelf", "-V", file).split() if word.startswith("GLIBC_2.")}
            assert max(int(version.split(".")[1]) for version in versions) <= 31, versions


def test_licences_of_all_that_is_linked_are_inside(unpacked):
    for folder in unpacked.values():
        licences = next(folder.glob("attend-*.dist-info")) / "licenses"
        assert (licences / "THIRD_PARTY.md").stat().st_size > 0
        for library in LIBRARIES["library"]:
            for text in library["texts"]:
                assert (licences / "libraries" / f"{library['name']}-{pathlib.Path(text).name}").stat().st_size > 100
        for name in ("gcc-copyright", "zig-LICENSE"):
            assert (licences / "libraries" / name).stat().st_size > 100


@pytest.mark.parametrize("release", ["bullseye", "trixie"])
def test_the_program_runs_in_a_root_of_its_own(unpacked, tmp_path, release):
    if os.uname().machine not in unpacked:
        pytest.skip("no wheel for this machine")
    root = make_root(release, tmp_path / "root")
    shutil.copy(program_of(unpacked[os.uname().machine]), root / "attend")
    shutil.copytree(MODEL, root / "model")
    built = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"
    # A program that does not know its processor is a hundred times as slow.
    assert run("chroot", root, "/attend", "--version").splitlines()[-1] == run(built, "--version").splitlines()[-1]
    expected = run(built, "translate", "--model", MODEL, "--n-best", 2, input=WORDS)
    assert run("chroot", root, "/attend", "translate", "--model", "/model", "--n-best", 2, input=WORDS) == expected


def test_the_package_installs_without_a_network(wheels, tmp_path):
    need("unshare")
    if os.uname().machine not in wheels:
        pytest.skip("no wheel for this machine")
    root = make_root("trixie", tmp_path / "root", "python3-venv", "ca-certificates")
    (root / "wheels").mkdir()
    shutil.copy(wheels[os.uname().machine], root / "wheels")
    platforms = [word for release in (17, 27, 28, 31) for word in ("--platform", f"manylinux_2_{release}_{os.uname().machine}")]
    run(sys.executable, "-m", "pip", "download", "--dest", root / "wheels", "--only-binary", ":all:", "--python-version", "3.13", *platforms,
        "numpy>=1.24", "nanobind-backend>=1.0,<2")
    shutil.copytree(MODEL, root / "model")
    run("chroot", root, "python3", "-m", "venv", "/venv")
    run("unshare", "--net", "chroot", root, "/venv/bin/pip", "install", "--no-index", "--find-links", "/wheels", "attend")
    code = "import attend; print(attend.Translator('/model').translate(['lumi tavo keri'])[0])"
    shown = run("chroot", root, "/venv/bin/python", "-c", code)
    assert shown == run("chroot", root, "/venv/bin/attend", "translate", "--model", "/model", input="lumi tavo keri\n")


def test_the_aarch64_program_runs(unpacked):
    need("qemu-aarch64")
    root = pathlib.Path("/usr/aarch64-linux-gnu")
    if "aarch64" not in unpacked or not root.is_dir():
        pytest.skip("no wheel for aarch64, or no glibc for it (libc6-arm64-cross)")
    expected = run(pathlib.Path(os.environ["BUILD_DIR"]) / "attend", "translate", "--model", MODEL, input=WORDS)
    assert run("qemu-aarch64", "-L", root, program_of(unpacked["aarch64"]), "translate", "--model", MODEL, input=WORDS) == expected


def test_two_builds_give_the_same_bytes(wheels, tmp_path):
    if "ATTEND_WHEELS_TWICE" not in os.environ:
        pytest.skip("ATTEND_WHEELS_TWICE is not set: a second build takes as long as the first")
    run(sys.executable, ROOT / "tools/wheels", "--work", tmp_path / "work", "--output", tmp_path / "again",
        *(word for machine in wheels for word in ("--machine", machine)))
    for wheel in wheels.values():
        again = tmp_path / "again" / wheel.name
        assert hashlib.sha256(again.read_bytes()).hexdigest() == hashlib.sha256(wheel.read_bytes()).hexdigest(), wheel.name
