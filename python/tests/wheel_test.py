"""`pip install .`: the wheel holds module, stub and program, and passes the package's own tests."""

import os
import subprocess
import sys
import zipfile

from package import ROOT


def test_the_wheel_is_the_package(tmp_path):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    # The compiler's name of the other builds, whose results ccache then has; and 20 s for CMake to answer on a busy machine.
    environment = {**os.environ, "CXX": "c++", "CI": "1"}
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, ROOT], env=environment, check=True)
    wheel = next(tmp_path.glob("attend-*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    for end in ("attend/py.typed", "attend/_attend.pyi", "attend/__init__.py", "/scripts/attend", "/LICENSE", "/THIRD_PARTY.md"):
        assert any(name.endswith(end) for name in names), (end, names)
    assert not any(name.endswith((".a", ".h", "_test.py")) for name in names), names
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", tmp_path / "installed", wheel], check=True)
    tests = ["translate_test.py", "stream_test.py", "score_test.py", "metrics_test.py", "vocabulary_test.py"]
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], cwd=ROOT / "python/tests",
        env={**os.environ, "ATTEND_PACKAGE": str(tmp_path / "installed")}, check=True)
