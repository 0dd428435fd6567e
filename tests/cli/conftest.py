"""Models of random weights, written once for all tests of a file."""

import pytest
import random_models


@pytest.fixture(scope="session")
def language_model(tmp_path_factory):
    return random_models.write_language_model(tmp_path_factory.mktemp("language_model"))


@pytest.fixture(scope="session")
def learned_positions(tmp_path_factory):
    return random_models.write_language_model(tmp_path_factory.mktemp("learned_positions"), positions="learned", max_positions=16)


@pytest.fixture(scope="session")
def encoders(tmp_path_factory):
    return random_models.write_encoders(tmp_path_factory.mktemp("encoders"))
