"""Finds the package: that of the build folder, or an installed one that ATTEND_PACKAGE names."""

import sys

from package import GOLDEN, PACKAGE

sys.path.insert(0, str(PACKAGE))

import attend  # noqa: E402
import pytest  # noqa: E402


@pytest.fixture(name="translator", scope="session")
def golden_translator():
    return attend.Translator(GOLDEN, threads=2)
