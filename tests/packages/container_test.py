"""Builds the container image without root's powers of a daemon, on a base of Debian's packages, and runs it as the manifests do."""

import json
import os
import pathlib
import shutil
import subprocess
import time
import urllib.request

import pytest
from commands import need, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
BASE = "localhost/debian:12-slim"


@pytest.fixture(name="storage", scope="module")
def make_storage(tmp_path_factory):
    """Options of buildah and podman for a storage of this test's own."""
    folder = tmp_path_factory.mktemp("storage")
    yield ["--storage-driver", "vfs", "--root", folder / "root", "--runroot", folder / "run"]
    shutil.rmtree(folder)


@pytest.fixture(name="root", scope="module")
def build_image(storage, tmp_path_factory):
    """The root folder of a container of the image."""
    need("mmdebstrap", "buildah", "podman", "dh")
    if os.geteuid() != 0:
        pytest.skip("only root mounts an image's root here")
    folder = tmp_path_factory.mktemp("image")
    run(ROOT / "tools/debian_packages", BUILD, folder / "all", env={**os.environ, "ATTEND_XZ": "0"})
    (folder / "packages").mkdir()
    for package in (folder / "all").glob("attend_*.deb"):
        shutil.move(package, folder / "packages")
    run("mmdebstrap", "--variant=minbase", "bookworm", folder / "base.tar")
    run("podman", *storage, "import", folder / "base.tar", BASE)
    (folder / "context").mkdir()
    run("buildah", *storage, "build", "--isolation", "chroot", "--format", "docker", "--build-arg", f"BASE={BASE}", "--build-context",
        f"packages={folder / 'packages'}", "-f", ROOT / "deploy/container/Containerfile", "-t", "attend", folder / "context")
    name = run("buildah", *storage, "from", "localhost/attend").strip()
    yield pathlib.Path(run("buildah", *storage, "mount", name).strip())
    run("buildah", *storage, "umount", name)


def test_the_image_says_how_it_runs(root, storage):
    config = json.loads(run("buildah", *storage, "inspect", "--type", "image", "localhost/attend"))["Docker"]["config"]
    assert (config["User"], config["StopSignal"]) == ("10001:10001", "SIGTERM")
    assert config["Healthcheck"]["Test"] == ["CMD", "attend", "health", "--address", "127.0.0.1:9464"]
    assert config["Labels"]["org.opencontainers.image.title"] == "attend"
    assert "attend:x:10001:10001:" in (root / "etc/passwd").read_text(encoding="utf-8")
    writable = run("find", root, "-xdev", "-type", "f", "-perm", "-o+w")
    assert writable == ""


def test_it_translates_on_a_read_only_root(root, storage):
    podman = ["podman", *(["--runtime", "runc"] if shutil.which("runc") else []), *storage]
    limits = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024")  # no more than this machine's root may set
    start = (*podman, "run", "--detach", "--name", "attend", "--network", "host", "--read-only", "--cap-drop", "all", "--security-opt",
             "no-new-privileges", *limits, "--user", "10001:10001", "--volume", f"{ROOT / 'tests/data/golden_v1'}:/models/ka-su:ro", "--rootfs", root,
             "attend", "serve", "--models-dir", "/models", "--port", "0", "--metrics-address", "127.0.0.1:0")
    done = subprocess.run([*map(str, start)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"podman runs nothing here: {done.stderr.strip()[-300:]}")
    try:
        listening = event(podman, "listening")
        request = urllib.request.Request(
            f"http://127.0.0.1:{listening['port']}/v1/translate", json.dumps({"text": "lumi tavo keri"}).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["translations"][0]["text"]
        inside = (*podman, "exec", "attend")
        run(*inside, "attend", "health", "--address", f"127.0.0.1:{listening['metrics_port']}")
        refused = subprocess.run([*map(str, inside), "touch", "/x"], capture_output=True, text=True, check=False)
        assert refused.returncode != 0 and "Read-only file system" in refused.stderr
        run(*podman, "stop", "attend")
        assert event(podman, "stopped")
    finally:
        subprocess.run([*map(str, podman), "rm", "--force", "attend"], capture_output=True, check=False)


def event(podman, name):
    """The first event of that name in the container's log."""
    for _ in range(600):
        done = subprocess.run([*map(str, podman), "logs", "attend"], capture_output=True, text=True, check=True)
        found = [json.loads(line) for line in (done.stdout + done.stderr).splitlines() if f'"event":"{name}"' in line]
        if found:
            return found[0]
        time.sleep(0.1)
    raise AssertionError(f"no event {name}: {done.stdout}{done.stderr}")
