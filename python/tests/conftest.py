"""Finds the package: that of the build folder, or an installed one that ATTEND_PACKAGE names."""

import sys

from package import GOLDEN, PACKAGE

sys.path.insert(0, str(PACKAGE))

import attend  # noqa: E402
import pytest  # noqa: E402


@pytest.fixture(name="translator", scope="session")
def golden_translator():
    return attend.Translator(GOLDEN, threads=2)


@pytest.fixture(name="model", scope="module")
def converted_model(source, tmp_path_factory):
    """What attend makes of `source`, a folder of another toolkit that a module's tests write."""
    import attend.convert

    output = tmp_path_factory.mktemp("attend") / "model"
    attend.convert.convert(source, output)
    return output


@pytest.fixture(name="peer", scope="module")
def transformers_peer(source):
    """The model and the tokenizer that transformers reads from `source`."""
    import torch
    import transformers

    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(source, dtype=torch.float32).eval()
    return model, transformers.AutoTokenizer.from_pretrained(source)
