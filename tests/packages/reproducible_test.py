"""Two builds in folders of unlike names give Debian packages of the same bytes."""

import os
import pathlib
import shutil
import subprocess

from commands import need, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
EPOCH = "1700000000"


def packed(source, output):
    """The Debian packages of a build of `source`, without training: all objects are compiled, none comes of a cache."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "CCACHE_DISABLE": "1", "ATTEND_XZ": "0"}
    run("cmake", "--preset", "no-torch", "-DATTEND_TESTS=OFF", "-DATTEND_PYTHON_MODULE=OFF", cwd=source, env=environment)
    run("cmake", "--build", source / "build-no-torch", "--target", "attend_program", "attend", env=environment)
    run(source / "tools/debian_packages", source / "build-no-torch", output, env=environment)
    return {path.name: path for path in output.glob("*.deb")}


def unlike(one, other, folder):
    """The files that two packages do not have alike."""
    roots = folder / "one", folder / "other"
    for package, root in zip((one, other), roots):
        run("dpkg-deb", "-R", package, root)
    done = subprocess.run(["diff", "--recursive", "--brief", *roots], capture_output=True, text=True, check=False)
    return done.stdout or "the archives alone"


def test_two_builds_have_the_same_bytes(tmp_path):
    need("dh")
    made = []
    for name in ("a", "another/and longer/folder"):
        source = tmp_path / name.replace(" ", "_")
        shutil.copytree(ROOT, source, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", ".deps*", "build*", "out", "shared"))
        source.joinpath(".deps").symlink_to((ROOT / ".deps").resolve())
        made.append(packed(source, tmp_path / f"packages_{len(made)}"))
    first, second = made
    assert set(first) == set(second) and len(first) == 2
    for name, package in first.items():
        assert package.read_bytes() == second[name].read_bytes(), f"{name}: {unlike(package, second[name], tmp_path / name)}"
