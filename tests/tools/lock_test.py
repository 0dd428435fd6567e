"""tools/lock: lock files fit their lists, and tools/install_locked takes no file with another hash."""

import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTS = [path for path in sorted((ROOT / "tools").glob("requirements*.txt")) if "--hash=" not in path.read_text(encoding="utf-8")]


def packages(lock):
    """Name and version of each package, and the number of its hashes."""
    parts = re.findall(r"^([\w.-]+)==(\S+)(.*(?:\n .*)*)", lock.read_text(encoding="utf-8"), flags=re.M)
    return [(name, version, len(re.findall(r"--hash=sha256:[0-9a-f]{64}", rest))) for name, version, rest in parts]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def check(folder):
    return subprocess.run([sys.executable, folder / "lock", "--check"], capture_output=True, text=True, check=False)


def test_every_package_of_a_list_is_locked_with_its_hashes():
    for source in LISTS:
        locks = [source.with_suffix(".lock")] if source.stem != "requirements" else sorted((ROOT / "tools").glob("requirements_[cg]pu.lock"))
        locked = [package for lock in locks for package in packages(lock)]
        assert locked and all(hashes > 0 for _, _, hashes in locked), source
        versions = {(name, version) for name, version, _ in locked}
        for name, version in re.findall(r"^([\w.-]+)(?:\[.*\])?==(\S+)$", source.read_text(encoding="utf-8"), flags=re.M):
            assert (normal(name), version) in versions, (source, name)


def test_a_list_that_changed_is_told_with_the_cure(tmp_path):
    for path in [*LISTS, *(ROOT / "tools").glob("requirements*.lock"), ROOT / "tools/lock"]:
        shutil.copy(path, tmp_path)
    assert (check(tmp_path).returncode, check(tmp_path).stderr) == (0, "")
    with open(tmp_path / "requirements_tests.txt", "a", encoding="utf-8") as file:
        file.write("example==1.0\n")
    done = check(tmp_path)
    assert done.returncode == 1
    assert done.stderr == "tools/lock: requirements_tests.lock was not made of requirements_tests.txt as it is now; run tools/lock\n"
    (tmp_path / "requirements_gpu.lock").unlink()
    assert "requirements.lock was not made of requirements.txt" in check(tmp_path).stderr


def test_a_file_with_another_hash_is_refused(tmp_path):
    """A wheel of this test's own, from a folder: no network."""
    wheel = tmp_path / "example-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("example.py", "")
        file.writestr("example-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: example\nVersion: 1.0\n")
        file.writestr("example-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr("example-1.0.dist-info/RECORD", "")
    right = subprocess.run(["sha256sum", wheel], capture_output=True, text=True, check=True).stdout.split()[0]
    environment = {"PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": "/dev/null",
                   "PIP_TARGET": str(tmp_path / "site")}

    def install(digest):
        lock = tmp_path / "test.lock"
        lock.write_text(f"example==1.0 --hash=sha256:{digest}\n", encoding="utf-8")
        return subprocess.run(
            [ROOT / "tools/install_locked", sys.executable, lock], capture_output=True, text=True, check=False, env=environment)

    refused = install("0" * 64)
    assert refused.returncode != 0 and "DO NOT MATCH THE HASHES" in refused.stderr
    assert not (tmp_path / "site/example.py").exists()
    assert install(right).returncode == 0
    assert (tmp_path / "site/example.py").exists()
