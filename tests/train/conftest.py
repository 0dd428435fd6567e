"""What runs of training share."""

import pytest
import tiny_run


@pytest.fixture(name="options", scope="module")
def prepare(tmp_path_factory):
    return tiny_run.prepare(tmp_path_factory.mktemp("text"))
