"""attend.convert.export of encoders as BERT and of language models as GPT-2, against transformers: tokens, log-probabilities, labels."""

import json

import attend
import numpy as np
import pytest
from directories import IDS, SHAPE, same_bits, sentences, vocabulary, write
from package import program

attend.convert = pytest.importorskip("attend.convert")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from attend.convert._source import model, stack  # noqa: E402

TEXTS = sentences(20, 9)
ENTITIES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
COLOURS = ["red", "green", "blue"]
LEARNED = {"positions": "learned", "max_positions": 70, "scale_embedding": False}
BERT = {"embedding_norm": True, "activation": "gelu"}
# The stack, and what stands on it.
ENCODERS = {
    "masked": (LEARNED | {"norm_epsilon": 1e-12}, {"head_bias": True, "head_transform": True}),
    "masked_sinusoids": ({"attention_bias": False, "feed_forward_bias": False}, {"head_transform": True}),
    "masked_untied": (LEARNED | {"position_offset": 2}, {"head_bias": True, "head_transform": True, "tie_target_output": False}),
    "tagging": (LEARNED, {"task": "tagging", "head": "labels", "labels": ENTITIES, "label_scheme": "none"}),
    "pooler": (LEARNED, {"task": "classification", "head": "labels", "labels": COLOURS, "pooling": "first", "head_pooler": True}),
    "first": ({"activation": "gelu_tanh"}, {"task": "classification", "head": "labels", "labels": COLOURS, "pooling": "first"}),
    "vectors": (LEARNED, {"head": "none"}),
}


def encoder_config(size, name):
    fields, more = ENCODERS[name]
    usual = {"task": "masked_language_model", "source_vocab_size": size, "special_ids": IDS}
    config = model(**(usual | more), encoder=stack(**(SHAPE | BERT | fields)))
    return config | {"target_vocab_size": size if config["head"] == "vocabulary" else 0}


def made(folder, config, content, **options):
    directory = write(folder / "model", config, content, **options)
    attend.convert.export(directory, folder / "transformers", positions=64)
    return directory, folder / "transformers", transformers.AutoTokenizer.from_pretrained(folder / "transformers")


@pytest.fixture(name="encoder")
def random_encoder(request, tmp_path):
    content = vocabulary(tmp_path, "--mask", size=110)
    return made(tmp_path, encoder_config(110, request.param), content)


@pytest.mark.parametrize("encoder", ["masked", "masked_sinusoids", "masked_untied"], indirect=True)
@torch.no_grad()
def test_filled_masks(encoder):
    directory, output, tokenizer = encoder
    peer, ours = transformers.BertForMaskedLM.from_pretrained(output).eval(), attend.Encoder(directory)
    hidden = set(tokenizer.all_special_ids)
    for text in ("[MASK] tavo", "sona [MASK] grau [MASK].", "holm jarn [MASK]", "lumi[MASK] x"):
        ids = tokenizer(text, return_tensors="pt")
        logits = peer(**ids).logits[0].double().log_softmax(-1)
        places = (ids["input_ids"][0] == tokenizer.mask_token_id).nonzero().flatten().tolist()
        filled = ours.fill(text, top=3)
        assert len(places) == len(filled.masks) > 0
        for place, tokens in zip(places, filled.masks):
            order = [i for i in logits[place].argsort(descending=True).tolist() if i not in hidden][:3]
            np.testing.assert_allclose(np.log([token.probability for token in tokens]), logits[place][order], atol=1e-4)
            assert [token.token for token in tokens] == [tokenizer.convert_ids_to_tokens(i).removeprefix("▁") or "▁" for i in order]
    pipe = transformers.pipeline("fill-mask", model=str(output), top_k=len(tokenizer))
    best = next(one for one in pipe("sona [MASK] grau") if one["token"] not in hidden)
    assert best["sequence"] == ours.fill("sona [MASK] grau").text


@pytest.mark.parametrize("encoder", ["tagging"], indirect=True)
@torch.no_grad()
def test_labels_of_words(encoder):
    directory, output, tokenizer = encoder
    ours, pipe = attend.Tagger(directory), transformers.pipeline("token-classification", model=str(output), aggregation_strategy="first")
    peer = transformers.BertForTokenClassification.from_pretrained(output).eval()
    seen = set()
    for text in [" ".join(word for word in text.split() if word.isalpha()) for text in TEXTS]:
        tagged, read = ours.tag_words(text.split()), tokenizer(text, return_tensors="pt")
        first = [i for i, token in enumerate(tokenizer.convert_ids_to_tokens(read["input_ids"][0])) if token.startswith("▁")]
        logits = peer(**read).logits[0].double().softmax(-1)
        assert [word.label for word in tagged.words] == [ENTITIES[logits[i].argmax().item()] for i in first]
        np.testing.assert_allclose([word.probability for word in tagged.words], [logits[i].max().item() for i in first], atol=1e-4)
        found = [text[entity["start"] : entity["end"]] for entity in pipe(text)]
        assert " ".join(found).split() == [word.text for word in tagged.words if word.label != "O"]
        seen |= {word.label for word in tagged.words}
    assert len(seen) > 2


@pytest.mark.parametrize("encoder", ["pooler", "first"], indirect=True)
def test_classes(encoder):
    directory, output, _ = encoder
    ours, pipe = attend.Classifier(directory), transformers.pipeline("text-classification", model=str(output), top_k=None)
    for text in TEXTS:
        classified, found = ours.classify(text), pipe([text])[0]
        assert classified.label == found[0]["label"]
        assert dict(classified.classes) == pytest.approx({one["label"]: one["score"] for one in found}, abs=1e-4)


@pytest.mark.parametrize("encoder", ["vectors"], indirect=True)
@torch.no_grad()
def test_vectors(encoder):
    directory, output, tokenizer = encoder
    peer, ours = transformers.AutoModel.from_pretrained(output).eval(), attend.Encoder(directory)
    for text in TEXTS:
        hidden = peer(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()
        np.testing.assert_allclose(ours.embed(text, pooling="mean"), hidden.mean(0), atol=1e-4)


# Of GPT-2: the stack, the model, the vocabulary.
LANGUAGE_MODELS = {
    "usual": (LEARNED | {"activation": "gelu_tanh", "norm_epsilon": 1e-5}, {}, []),
    "sinusoids": ({"attention_bias": False, "feed_forward_bias": False, "activation": "silu"}, {}, ["--type", "bpe"]),
    "untied": (LEARNED | {"scale_embedding": True, "activation": "gelu"}, {"tie_target_output": False}, ["--newline"]),
    "characters": ({"position_convention": "timing_signal", "position_offset": 1}, {}, ["--type", "char", "--newline"]),
}


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
@torch.no_grad()
def test_language_models(name, tmp_path):
    fields, more, options = LANGUAGE_MODELS[name]
    content = vocabulary(tmp_path, *options, size=110)
    (tmp_path / "vocab.spm").write_bytes(content)
    size = len(attend.Vocabulary(tmp_path / "vocab.spm"))
    config = model(
        task="language_model", target_vocab_size=size, special_ids=IDS, decoder=stack(**(SHAPE | {"norm_place": "pre"} | fields)), **more)
    directory, output, tokenizer = made(tmp_path, config, content)
    peer, ours = transformers.GPT2LMHeadModel.from_pretrained(output).eval(), attend.Generator(directory)
    pipe = transformers.pipeline("text-generation", model=str(output))
    texts = [text[:40] if "--newline" not in options else text[:40].replace(" ", "\n", 1) for text in TEXTS]
    for text in texts:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        logits = peer(ids).logits[0].double().log_softmax(-1)
        wanted = logits[:-1].gather(1, ids[0, 1:].unsqueeze(1)).squeeze(1)
        np.testing.assert_allclose(ours.score(text).token_log_probabilities[: len(wanted)], wanted, atol=1e-4)
        written = peer.generate(ids, max_new_tokens=12, do_sample=False)[0, ids.shape[1] :].tolist()
        found = ours.generate(text, max_tokens=12, temperature=0)
        assert [*found.ids, IDS["eos"]][: len(written)] == written
    prompt = texts[0]
    told = pipe(prompt, max_new_tokens=12, do_sample=False, return_full_text=False)[0]["generated_text"]
    assert told.lstrip(" ") == ours.generate(prompt, max_tokens=12, temperature=0).lstrip(" ")


@pytest.mark.parametrize("name", ["masked", "masked_untied", "tagging", "pooler", "vectors", "usual"])
def test_round_trips(name, tmp_path):
    """The same bits come back, where nothing was changed; tables begin with the first token's position."""
    content = vocabulary(tmp_path, size=110)
    config = encoder_config(110, name) if name in ENCODERS else model(
        task="language_model", target_vocab_size=110, special_ids=IDS,
        decoder=stack(**(SHAPE | {"norm_place": "pre"} | LANGUAGE_MODELS[name][0])))
    if name == "masked_untied":
        config["encoder"]["position_offset"] = 0
    scheme = "iob2" if name == "tagging" else None
    if scheme:
        config["label_scheme"] = scheme
    directory, output, _ = made(tmp_path, config, content)
    attend.convert.convert(output, tmp_path / "again", label_scheme=scheme)
    again = json.loads((tmp_path / "again/config.json").read_text(encoding="utf-8"))
    assert again["model"] == json.loads((directory / "config.json").read_text(encoding="utf-8"))["model"]
    assert same_bits(directory, tmp_path / "again")
    assert (directory / "vocab.spm").read_bytes() == (tmp_path / "again/vocab.spm").read_bytes()


@pytest.mark.parametrize(("name", "change", "part"), [
    ("masked", {"head_transform": False}, "head_transform is false, which BERT of transformers lacks; expected true"),
    ("first", {"pooling": "mean"}, 'pooling is "mean", which BERT of transformers lacks'),
    ("masked", {"encoder.embedding_norm": False}, "encoder.embedding_norm is false, which BERT of transformers lacks; expected true"),
    ("vectors", {"encoder.activation": "swiglu"}, 'encoder.activation is "swiglu"'),
    ("masked", {"encoder.attention_window": 8}, "encoder.attention_window is 8, which BERT of transformers lacks; expected 0"),
    ("masked", {"encoder.d_k": 4}, "encoder.d_k is 4, which BERT of transformers lacks; expected d_model / heads"),
    ("masked", {"encoder.norm_place": "pre"}, "is no model that attend writes for transformers; it writes models of text: translation models"),
])
def test_what_transformers_lacks_is_named(name, change, part, tmp_path):
    config = encoder_config(110, name)
    for key, value in change.items():
        holder, *rest = key.split(".")
        (config[holder] if rest else config)[rest[0] if rest else holder] = value
    directory = write(tmp_path / "model", config, vocabulary(tmp_path, "--mask", size=110))
    with pytest.raises(attend.InputError, match=part.replace(".", r"\.")):
        attend.convert.export(directory, tmp_path / "transformers")
    assert not (tmp_path / "transformers").exists()


def test_what_labels_lose_is_told(tmp_path):
    content = vocabulary(tmp_path, size=110)
    config = encoder_config(110, "tagging")
    for name, change, part in (("scheme", {"label_scheme": "iob2"}, "whole entities (iob2)"), ("crf", {"crf": True}, "(crf)")):
        directory = write(tmp_path / name, config | change, content)
        exported = attend.convert.export(directory, tmp_path / f"{name}-transformers")
        assert any(part in text for text in exported.left_out), exported.left_out


def test_int8_weights_become_f32(tmp_path):
    content = vocabulary(tmp_path, size=110)
    decoder = stack(**(SHAPE | LEARNED | {"norm_place": "pre"}))
    config = model(task="language_model", target_vocab_size=110, special_ids=IDS, decoder=decoder)
    directory = write(tmp_path / "model", config, content)
    program("quantize", directory, "--output", tmp_path / "int8")
    exported = attend.convert.export(tmp_path / "int8", tmp_path / "transformers")
    assert exported.changed == ["int8 weights to f32"]
    shapes = json.loads((tmp_path / "transformers/config.json").read_text(encoding="utf-8"))
    assert shapes["n_positions"] == 70 and shapes["dtype"] == "float32"
