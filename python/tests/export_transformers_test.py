"""attend.convert.export to transformers: translation models as MarianMT and Pegasus, against transformers itself."""

import json
import re

import attend
import numpy as np
import pytest
from directories import ending, pieces, same_bits, sentences, translation, vocabulary, write

attend.convert = pytest.importorskip("attend.convert")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")
from attend.convert._vocabulary import with_tokens  # noqa: E402

TEXTS = [*sentences(15, 9), "unknown ☃ ending", "  two  spaces ", "12 3.5"]
LENGTH = 24
# By what is otherwise than in a usual model: of the stacks, of the model.
MARIAN = {
    "plain": ({"position_convention": "halves", "norm_epsilon": 1e-5}, {}),
    "interleaved": ({"activation": "gelu"}, {}),
    "without_bias": ({"attention_bias": False, "feed_forward_bias": False, "activation": "silu", "scale_embedding": False}, {}),
    "small_norms": ({"activation": "gelu_tanh"}, {}),
    "untied": ({}, {"tie_target_output": False}),
    "opus": ({"position_convention": "halves", "norm_epsilon": 1e-5}, {"special_ids": {"pad": -1, "unk": 1, "bos": -1, "eos": 0}}),
    "no_pad": ({}, {"special_ids": {"pad": -1, "unk": 1, "bos": 0, "eos": 0}, "tie_target_output": False}),
    "separate": ({"position_convention": "halves"}, {"tie_source_target": False, "tie_target_output": False}),
}
PEGASUS = {
    "plain": ({"norm_epsilon": 1e-5}, {}),
    "timing_signal": ({"position_convention": "timing_signal", "position_offset": 2, "activation": "silu"}, {}),
    "learned": ({"positions": "learned", "max_positions": 70, "position_offset": 1, "scale_embedding": False}, {}),
    "no_positions": ({"positions": "none", "attention_bias": False, "activation": "gelu"}, {"tie_target_output": False}),
}
KINDS = [("marian", name) for name in MARIAN] + [("pegasus", name) for name in PEGASUS]


LAST_NORMS = ("encoder.layers.1.feed_forward_norm.weight", "decoder.layers.0.feed_forward_norm.weight")


def shrink_norms(tensors):
    """As trained students have them: an epsilon of 1e-5 in place of 1e-6 would show."""
    for name in tensors:
        if name.endswith("_norm.weight") and name not in LAST_NORMS:
            tensors[name] *= 0.02


@pytest.fixture(name="model", scope="module", params=KINDS, ids="-".join)
def random_model(request, tmp_path_factory):
    kind, name = request.param
    folder = tmp_path_factory.mktemp(name)
    fields, more = (MARIAN if kind == "marian" else PEGASUS)[name]
    source = vocabulary(folder)
    if "special_ids" in more:  # tokens with ids of their own
        tokens = ["</s>", "<unk>", *(token for token in pieces(source, folder)[::-1] if not token.startswith("<"))]
        source = with_tokens(source, tokens, more["special_ids"])
    target = vocabulary(folder, seed=2, size=120) if name == "separate" else source
    config = translation(
        len(pieces(source, folder)), fields | {"norm_place": "pre" if kind == "pegasus" else "post"}, {"layers": 1, "d_ff": 40},
        **({"target_vocab_size": len(pieces(target, folder))} | more))

    def change(tensors):
        ending(tensors, config["special_ids"])
        if name == "small_norms":
            shrink_norms(tensors)

    model = write(folder / "model", config, source, target, change=change)
    attend.convert.export(model, folder / "transformers", positions=100)
    return kind, name, model, folder / "transformers", config["special_ids"]["eos"]


def load(output):
    peer = transformers.AutoModelForSeq2SeqLM.from_pretrained(output, dtype=torch.float32).eval()
    return peer, transformers.AutoTokenizer.from_pretrained(output)


def test_class_and_tokens(model):
    kind, _, directory, output, eos = model
    peer, tokenizer = load(output)
    assert type(peer).__name__ == {"marian": "MarianMTModel", "pegasus": "PegasusForConditionalGeneration"}[kind]
    translator = attend.Translator(directory)
    for text in TEXTS:
        assert tokenizer(text)["input_ids"] == [*translator.source_vocabulary.encode(text), eos], text
        assert tokenizer(text_target=text)["input_ids"] == [*translator.target_vocabulary.encode(text), eos], text


@torch.no_grad()
def test_log_probabilities(model):
    _, _, directory, output, eos = model
    peer, tokenizer = load(output)
    translator = attend.Translator(directory)
    sources, targets = sentences(30, 4), sentences(30, 5)
    for source, target, score in zip(sources, targets, translator.score(sources, targets)):
        wanted = torch.tensor([[*translator.target_vocabulary.encode(target), eos]])
        start = torch.full((1, 1), peer.config.decoder_start_token_id)
        logits = peer(**tokenizer(source, return_tensors="pt"), decoder_input_ids=torch.cat([start, wanted[:, :-1]], 1)).logits[0].double()
        expected = logits.log_softmax(-1).gather(1, wanted[0].unsqueeze(1)).squeeze(1)
        np.testing.assert_allclose(score.token_log_probabilities, expected.numpy(), atol=1e-4)


@pytest.mark.parametrize("beam_size", [1, 4])
@torch.no_grad()
def test_outputs(model, beam_size):
    _, name, directory, output, eos = model
    peer, tokenizer = load(output)
    translator = attend.Translator(directory, threads=1)
    ours = translator.translate(TEXTS, beam_size=beam_size, length_penalty=0, split_sentences="never", max_length=LENGTH)
    compared = 0
    for text, found in zip(TEXTS, ours):
        read = tokenizer(text, return_tensors="pt")
        wrote = peer.generate(**read, num_beams=beam_size, length_penalty=0.0, max_length=LENGTH + 1, do_sample=False)[0].tolist()[1:]
        one = found.hypotheses[0]
        if one.finished and wrote[-1] != eos:  # at the longest length attend prefers what has ended
            continue
        compared += 1
        assert [*one.ids, *([eos] if one.finished else [])] == wrote, text
        assert tokenizer.decode(wrote, skip_special_tokens=True) == str(found).strip(" ")
    assert compared > 15 and (len({str(one) for one in ours}) > 3 or name == "small_norms")


def test_round_trips(model, tmp_path):
    """The same bits come back where nothing was changed, else the same function."""
    _, name, directory, output, _ = model
    converted = attend.convert.convert(output, tmp_path / "again")
    ours, again = attend.Translator(directory), attend.Translator(tmp_path / "again")
    scores = [translator.score(TEXTS, TEXTS[::-1]) for translator in (ours, again)]
    for one, other in zip(*scores):
        np.testing.assert_allclose(one.token_log_probabilities, other.token_log_probabilities, atol=1e-4)
    for text in TEXTS:
        assert ours.source_vocabulary.encode(text) == again.source_vocabulary.encode(text)
    if name in ("plain", "opus"):
        assert same_bits(directory, tmp_path / "again")
        assert converted.model == json.loads((directory / "config.json").read_text(encoding="utf-8"))["model"]
    attend.convert.export(tmp_path / "again", tmp_path / "transformers", positions=100)
    assert (output / "vocab.json").read_bytes() == (tmp_path / "transformers/vocab.json").read_bytes()
    assert (output / "source.spm").read_bytes() == (tmp_path / "transformers/source.spm").read_bytes()


@torch.no_grad()
def test_what_transformers_saves_is_the_same(model, tmp_path):
    """Its own files, such as those of a model that it trains on, have the positions too."""
    peer, tokenizer = load(model[3])
    peer.save_pretrained(tmp_path / "saved")
    tokenizer.save_pretrained(tmp_path / "saved")
    again, other = load(tmp_path / "saved")
    read = tokenizer(TEXTS[0], return_tensors="pt")
    assert other(TEXTS[0])["input_ids"] == tokenizer(TEXTS[0])["input_ids"]
    logits = [one(**read, decoder_input_ids=read["input_ids"]).logits for one in (peer, again)]
    assert torch.equal(*logits)


@pytest.mark.parametrize(("stacks", "more", "part"), [
    ({"position_convention": "timing_signal"}, {}, 'encoder.position_convention is "timing_signal", which MarianMT of transformers lacks'),
    ({"attention_window": 8}, {}, "encoder.attention_window is 8, which MarianMT of transformers lacks; expected 0"),
    ({"position_offset": 1}, {}, "encoder.position_offset is 1, which MarianMT of transformers lacks; expected 0"),
    ({"positions": "learned", "max_positions": 64}, {}, 'encoder.positions is "learned", which MarianMT of transformers lacks'),
    ({"embedding_norm": True}, {}, "encoder.embedding_norm is true, which MarianMT of transformers lacks; expected false"),
    ({"activation": "swiglu"}, {}, 'encoder.activation is "swiglu", which MarianMT of transformers lacks; expected "relu" or "gelu" or'),
    ({"norm_place": "pre"}, {"tie_source_target": False}, "tie_source_target is false, which Pegasus of transformers lacks"),
    ({}, {"source_eos": False}, "source_eos is false, which MarianMT of transformers lacks; expected true"),
    ({}, {"decoder": {"recurrence": "ssru"}}, 'decoder.recurrence is "ssru", which MarianMT of transformers lacks; expected "none"'),
    ({}, {"decoder": {"activation": "gelu"}}, 'decoder.activation is "gelu", which MarianMT of transformers lacks; expected "relu", as the'),
])
def test_what_transformers_lacks_is_named(stacks, more, part, tmp_path):
    fields = {key: value for key, value in more.items() if key != "decoder"}
    directory = write(tmp_path / "model", translation(110, stacks, more.get("decoder"), **fields), vocabulary(tmp_path))
    with pytest.raises(attend.InputError, match=re.escape(part)):
        attend.convert.export(directory, tmp_path / "transformers")
    assert not (tmp_path / "transformers").exists()


def test_vocabularies_that_mark_case_are_refused(tmp_path):
    directory = write(tmp_path / "model", translation(110), vocabulary(tmp_path, "--case", "factor"))
    with pytest.raises(attend.InputError, match="the source's vocabulary: it marks case"):
        attend.convert.export(directory, tmp_path / "transformers")
    with pytest.raises(attend.UsageError, match="format is 'onnx', expected transformers or ctranslate2"):
        attend.convert.export(directory, tmp_path / "transformers", format="onnx")
