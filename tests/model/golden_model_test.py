"""The golden model directories, kept for ever: their samples are what the NumPy model gives."""
import json
import pathlib

import numpy as np
import pytest

from numpy_transformer import Model

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"


@pytest.mark.parametrize("name", ["golden_v1", "golden_v1_variant"])
def test_samples_are_the_formulas(name):
    model = Model(DATA / name)
    samples = json.loads((DATA / name / "samples.json").read_text())
    assert len(samples) == 7
    for sample in samples:
        again = model.sample(sample["source"], sample["source_ids"], sample["target"], sample["target_ids"])
        np.testing.assert_allclose(again["token_log_probabilities"], sample["token_log_probabilities"], atol=1e-10)
        for a, b in zip(again["top_logits"], sample["top_logits"], strict=True):
            assert a["ids"] == b["ids"]
            np.testing.assert_allclose(a["logits"], b["logits"], atol=1e-10)
