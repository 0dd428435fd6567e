"""attend.convert of BERT, RoBERTa, DistilBERT and GPT-2 against transformers, with tokenizers trained here and random weights."""

import json
import math
import pathlib
import random
import re
import shutil

import attend
import numpy as np
import pytest
import tiny_run
from package import import_here, program

attend.convert = pytest.importorskip("attend.convert")
safetensors = pytest.importorskip("safetensors")
pytest.importorskip("safetensors.torch")
tokenizers = pytest.importorskip("tokenizers")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from attend.convert import _compare  # noqa: E402

WORDS = "lumi tavo keri sona mipa rudu vesta olin paku neri dosa ilvo brant grau holm jarn kvist myrr noord prax Ähre æon naïve".split()
SHAPE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 66}
DISTILLED = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 64}
ENTITIES, INSIDE = {0: "O", 1: "B-PER", 2: "I-PER", 3: "B-LOC", 4: "I-LOC"}, {0: "I-PER", 1: "O", 2: "I-LOC", 3: "I-MISC"}
COLOURS = {0: "red", 1: "green", 2: "blue"}


def sentences(count, seed):
    numbers = random.Random(seed)
    return [" ".join(numbers.choice(WORDS) for _ in range(numbers.randint(1, 12))) + numbers.choice(["", ".", " 12!"]) for _ in range(count)]


TEXTS = [*sentences(20, 9), "", "unknown ☃ ending", "  two  spaces ", "12 3.5"]


def write_wordpiece(folder):
    tokenizer = tokenizers.BertWordPieceTokenizer()
    tokenizer.train_from_iterator(sentences(300, 1), vocab_size=160, show_progress=False)
    transformers.BertTokenizer(vocab=tokenizer.get_vocab()).save_pretrained(folder)
    return len(tokenizer.get_vocab())


def write_byte_bpe(folder, special):
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(sentences(300, 1), vocab_size=330, special_tokens=special, show_progress=False)
    tokenizer.save_model(str(folder))
    files = {"vocab": str(folder / "vocab.json"), "merges": str(folder / "merges.txt")}
    kind = transformers.RobertaTokenizer if "<s>" in special else transformers.GPT2Tokenizer
    kind(**files).save_pretrained(folder)
    return len(json.loads((folder / "vocab.json").read_text(encoding="utf-8")))


def with_random_weights(model, folder):
    torch.manual_seed(3)
    with torch.no_grad():
        for name, value in model.named_parameters():
            norm = "norm" in name.lower() or ".ln_" in name
            value.copy_(torch.randn_like(value) * 0.3 + (1 if norm and name.endswith("weight") else 0))
    model.tie_weights()
    model.save_pretrained(folder)
    return transformers.AutoTokenizer.from_pretrained(folder), model.eval()


def encoder(folder, family, head, labels=None, more_rows=0, **named):
    """A transformers model and its tokenizer, saved in `folder`; its embedding has rows without a token."""
    folder.mkdir()
    named |= {} if labels is None else {"id2label": labels}
    if family == "roberta":
        size = write_byte_bpe(folder, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
        config = transformers.RobertaConfig(vocab_size=size + more_rows, type_vocab_size=1, **SHAPE, **named)
    elif family == "bert":
        config = transformers.BertConfig(vocab_size=write_wordpiece(folder) + more_rows, **SHAPE, **named)
    else:
        config = transformers.DistilBertConfig(vocab_size=write_wordpiece(folder), **DISTILLED, **named)
    return with_random_weights(getattr(transformers, f"AutoModel{head}").from_config(config), folder)


def imported(folder):
    output = folder.parent / f"{folder.name}-attend"
    attend.convert.convert(folder, output)
    return output


FAMILIES = ("bert", "roberta", "distilbert")


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_vectors_are_transformers(family, tmp_path):
    tokenizer, peer = encoder(tmp_path / family, family, "")
    found = attend.Encoder(imported(tmp_path / family))
    for text in TEXTS:
        hidden = peer(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()
        np.testing.assert_allclose(found.embed(text, pooling="first"), hidden[0], atol=1e-4)
        np.testing.assert_allclose(found.embed(text, pooling="mean"), hidden.mean(0), atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_filled_masks_are_transformers(family, tmp_path):
    tokenizer, peer = encoder(tmp_path / family, family, "ForMaskedLM")
    found = attend.Encoder(imported(tmp_path / family))
    hidden = set(tokenizer.all_special_ids)
    for text in ("[MASK] tavo", "sona [MASK] grau [MASK].", "holm jarn [MASK]"):
        ids = tokenizer(text.replace("[MASK]", tokenizer.mask_token), return_tensors="pt")
        logits = peer(**ids).logits[0].double().softmax(-1)
        places = (ids["input_ids"][0] == tokenizer.mask_token_id).nonzero().flatten().tolist()
        filled = found.fill(text, top=40)
        assert len(filled.masks) == len(places)
        for place, tokens in zip(places, filled.masks):
            order = [i for i in logits[place].argsort(descending=True).tolist() if i not in hidden][:40]
            np.testing.assert_allclose([token.probability for token in tokens], logits[place][order], rtol=1e-3)
            assert [token.token for token in tokens] == [shown(tokenizer, i) for i in order]


def shown(tokenizer, token):
    """As transformers' pipeline tells it, without the space before a word, and on one line."""
    return re.sub("[\n\r\0]", " ", tokenizer.decode([token]).removeprefix(" "))


@torch.no_grad()
def test_heads_that_are_not_tied(tmp_path):
    tokenizer, peer = encoder(tmp_path / "bert", "bert", "ForMaskedLM", tie_word_embeddings=False)
    assert not torch.equal(peer.cls.predictions.decoder.weight, peer.bert.embeddings.word_embeddings.weight)
    check_a_mask(tokenizer, lambda ids: peer(**ids).logits[0], imported(tmp_path / "bert"))
    config = json.loads((tmp_path / "bert-attend/config.json").read_text(encoding="utf-8"))["model"]
    assert config["tie_target_output"] is False


def check_a_mask(tokenizer, logits, model):
    ids = tokenizer("sona [MASK] grau", return_tensors="pt")
    place = (ids["input_ids"][0] == tokenizer.mask_token_id).nonzero().item()
    wanted = logits(ids)[place].double().softmax(-1)
    for text, _, probability in attend.Encoder(model).fill("sona [MASK] grau", top=10).masks[0]:
        assert math.isclose(probability, wanted[tokenizer.convert_tokens_to_ids(text)], rel_tol=1e-3)


@torch.no_grad()
def test_a_model_of_pretraining_has_its_head_of_masked_tokens(tmp_path):
    tokenizer, peer = encoder(tmp_path / "bert", "bert", "ForPreTraining")
    check_a_mask(tokenizer, lambda ids: peer(**ids).prediction_logits[0], imported(tmp_path / "bert"))


def with_tensor(folder, ending, change):
    """Of a copy, the tensor whose name ends so."""
    shutil.copytree(folder, folder.parent / "changed")
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    name = next(key for key in tensors if key.endswith(ending))
    safetensors.torch.save_file(tensors | {name: change(tensors[name]).contiguous()}, folder.parent / "changed/model.safetensors")
    return folder.parent / "changed", name


@pytest.mark.parametrize(("ending", "change", "part"), [
    ("position_embeddings.weight", lambda value: value.reshape(-1), "has 1 dimensions, expected 2"),
    ("token_type_embeddings.weight", lambda value: value[None], "has 3 dimensions, expected 2"),
    ("token_type_embeddings.weight", lambda value: value[:, 1:], "expected rows of 32"),
    ("word_embeddings.weight", lambda value: value * torch.nan, "has numbers that are none"),
    ("query.weight", lambda value: value.to(torch.int64), "is of int64, expected floats"),
])
def test_odd_tensors_are_named(ending, change, part, tmp_path):
    encoder(tmp_path / "bert", "bert", "")
    folder, name = with_tensor(tmp_path / "bert", ending, change)
    with pytest.raises(attend.InputError, match=f"tensor '{name}' .*{part}"):
        attend.convert.convert(folder, tmp_path / "out")


def test_a_shape_that_does_not_fit_names_the_source(tmp_path):
    encoder(tmp_path / "bert", "bert", "")
    folder, _ = with_tensor(tmp_path / "bert", "query.weight", lambda value: value[1:])
    with pytest.raises(attend.InputError, match=r"changed' makes no model .*self_attention.query.weight' has shape \[31, 32\], expected \[32, 32\]"):
        attend.convert.convert(folder, tmp_path / "out")


@torch.no_grad()
def test_positions_of_roberta_begin_after_its_pad_token(tmp_path):
    tokenizer, peer = encoder(tmp_path / "roberta", "roberta", "", pad_token_id=3)
    found = attend.Encoder(imported(tmp_path / "roberta"))
    hidden = peer(**tokenizer("lumi tavo keri", return_tensors="pt")).last_hidden_state[0].numpy()
    np.testing.assert_allclose(found.embed("lumi tavo keri", pooling="mean"), hidden.mean(0), atol=1e-4)


def test_what_is_no_number_does_not_agree(tmp_path):
    encoder(tmp_path / "bert", "bert", "ForMaskedLM")
    model = imported(tmp_path / "bert")
    assert math.isnan(_compare.samples_differ_by(str(model), lambda read, _: torch.full((len(read), 400), torch.nan)))
    assert math.isnan(_compare.largest([1e-6, math.nan, 1e-7])) and _compare.largest([]) == 0


@pytest.mark.parametrize(("ending", "change"), [
    ("c_attn.weight", lambda value: value[:, 1:]), ("c_attn.weight", lambda value: value.sum()), ("c_attn.bias", lambda value: value[1:])])
def test_odd_tensors_of_gpt2_are_named(gpt2, ending, change, tmp_path):
    shutil.copytree(gpt2[2], tmp_path / "gpt2")
    folder, _ = with_tensor(tmp_path / "gpt2", ending, change)
    with pytest.raises(attend.InputError, match="attn.c_attn.weight' has .* expected (2|3 equal parts)"):
        attend.convert.convert(folder, tmp_path / "out")


def test_names_of_labels_are_checked(tmp_path):
    encoder(tmp_path / "bert", "bert", "ForTokenClassification", {0: "O", 1: "B-X"})
    path = tmp_path / "bert/config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"id2label": 5}), encoding="utf-8")
    with pytest.raises(attend.InputError, match="id2label is 5, expected a name for each id from 0 on"):
        imported(tmp_path / "bert")


def test_what_is_left_out_is_told(tmp_path):
    encoder(tmp_path / "bert", "bert", "ForPreTraining")
    (tmp_path / "bert/modules.json").write_text('[{"type": "a.Transformer"}, {"type": "a.Pooling"}, {"type": "a.Normalize"}]', encoding="utf-8")
    (tmp_path / "bert/1_Pooling").mkdir()
    (tmp_path / "bert/1_Pooling/config.json").write_text('{"pooling_mode_mean_tokens": true}', encoding="utf-8")
    (tmp_path / "bert/sentence_bert_config.json").write_text('{"max_seq_length": 256}', encoding="utf-8")
    said = attend.convert.convert(tmp_path / "bert", tmp_path / "out").left_out
    for part in ("the other token types", "the pooler", "whether a sentence follows another", "--pooling mean --normalize`", "max_seq_length 256"):
        assert any(part in text for text in said), said


@torch.no_grad()
def test_norms_of_old_files_have_gamma_and_beta(tmp_path):
    _, peer = encoder(tmp_path / "bert", "bert", "ForMaskedLM")
    tensors = safetensors.torch.load_file(tmp_path / "bert/model.safetensors")
    names = {name: name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta") for name in tensors}
    extra = {"bert.pooler.dense.weight": torch.zeros(32, 32), "bert.pooler.dense.bias": torch.zeros(32)}
    shutil.copytree(tmp_path / "bert", tmp_path / "old")
    safetensors.torch.save_file({names[name]: tensor for name, tensor in tensors.items()} | extra, tmp_path / "old/model.safetensors")
    new, old = (attend.Encoder(imported(tmp_path / name)) for name in ("bert", "old"))
    assert any(name != given for name, given in names.items())
    assert new.fill("sona [MASK]", top=5).masks == old.fill("sona [MASK]", top=5).masks


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_labels_of_words_are_transformers(family, tmp_path):
    tokenizer, peer = encoder(tmp_path / family, family, "ForTokenClassification", labels=COLOURS)
    found = attend.Tagger(imported(tmp_path / family))
    for text in sentences(20, 5):
        words = text.split()
        spaced = [" " + word for word in words] if family == "roberta" else words
        parts = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in spaced]
        ids = [tokenizer.cls_token_id, *(i for part in parts for i in part), tokenizer.sep_token_id]
        logits = peer(input_ids=torch.tensor([ids])).logits[0].double().softmax(-1)
        places = [1 + sum(map(len, parts[:word])) for word in range(len(words))]
        tagged = found.tag_words(words)
        assert [word.label for word in tagged.words] == [COLOURS[logits[place].argmax().item()] for place in places]
        np.testing.assert_allclose([word.probability for word in tagged.words], [logits[place].max().item() for place in places], atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_classes_are_transformers(family, tmp_path):
    tokenizer, peer = encoder(tmp_path / family, family, "ForSequenceClassification", labels=COLOURS)
    found = attend.Classifier(imported(tmp_path / family))
    for text in TEXTS:
        wanted = peer(**tokenizer(text, return_tensors="pt")).logits[0].double().softmax(-1)
        classified = found.classify(text)
        assert classified.label == COLOURS[wanted.argmax().item()]
        for label, probability in classified.classes:
            assert math.isclose(probability, wanted[[*COLOURS.values()].index(label)], abs_tol=1e-4)


@pytest.mark.parametrize("family", ["bert", "roberta"])
@torch.no_grad()
def test_rows_without_tokens_stay(family, tmp_path):
    """An embedding is often larger than its tokenizer: probabilities are among all of its rows."""
    tokenizer, peer = encoder(tmp_path / family, family, "ForMaskedLM", more_rows=5)
    model = imported(tmp_path / family)
    found, vocabulary = attend.Encoder(model), attend.Vocabulary(model / "vocab.spm")
    assert len(vocabulary) == len(tokenizer) + 5 and vocabulary.piece(len(tokenizer)) == "<unused_0>"
    for text in TEXTS:
        ids = tokenizer(text, return_tensors="pt")
        assert vocabulary.encode(text) == ids["input_ids"][0, 1:-1].tolist()
        np.testing.assert_allclose(found.embed(text, pooling="first"), peer.base_model(**ids).last_hidden_state[0, 0].numpy(), atol=1e-4)
    ids = tokenizer(f"{tokenizer.mask_token} tavo", return_tensors="pt")
    place = ids["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    logits = peer(**ids).logits[0, place].double().softmax(-1)
    order = [i for i in logits.argsort(descending=True).tolist() if i not in tokenizer.all_special_ids][:3]
    np.testing.assert_allclose([token.probability for token in found.fill("[MASK] tavo", top=3).masks[0]], logits[order], rtol=1e-3)


def test_another_models_tokenizer_is_refused(tmp_path):
    encoder(tmp_path / "bert", "bert", "", more_rows=500)
    with pytest.raises(attend.InputError, match="is it another model's"):
        imported(tmp_path / "bert")


def groups_of_transformers(tokenizer, peer, words):
    """Entities of words, as the pipeline joins what its model says of each: a label, its first and its last word."""
    pipeline = transformers.TokenClassificationPipeline(model=peer, tokenizer=tokenizer, aggregation_strategy="first")
    text, begins = " ".join(words), [0]
    for word in words:
        begins.append(begins[-1] + len(word) + 1)
    return [(found["entity_group"], begins.index(found["start"]), begins.index(found["end"] + 1)) for found in pipeline(text)]


@pytest.mark.parametrize(("labels", "scheme"), [
    (ENTITIES, "iob"), ({**ENTITIES, 3: "I-MISC"}, "iob"), (INSIDE, "iob1"), ({0: "O", 1: "B-PER", 2: "B-LOC"}, "iob2"), (COLOURS, "none"),
    ({0: "O", 1: "B-PER", 2: "I-PER", 3: "E-PER", 4: "S-PER"}, "iobes"),
])
def test_entities_have_a_scheme(labels, scheme, tmp_path):
    encoder(tmp_path / "bert", "bert", "ForTokenClassification", labels=labels)
    config = json.loads((imported(tmp_path / "bert") / "config.json").read_text(encoding="utf-8"))["model"]
    assert (config["label_scheme"], config["labels"]) == (scheme, [*labels.values()])


@pytest.mark.parametrize("labels", [ENTITIES, INSIDE])
def test_entities_are_those_of_transformers(labels, tmp_path):
    """Random weights follow no scheme: I- stands after O and after other types, B- anywhere."""
    tokenizer, peer = encoder(tmp_path / "bert", "bert", "ForTokenClassification", labels=labels)
    with torch.no_grad():  # labels that take turns
        mean = peer.bert(**tokenizer(" ".join(sentences(5, 7)), return_tensors="pt")).last_hidden_state[0].mean(0)
        peer.classifier.weight.copy_(torch.randn_like(peer.classifier.weight))
        peer.classifier.bias.copy_(-peer.classifier.weight @ mean)
    peer.save_pretrained(tmp_path / "bert")
    tagger, seen = attend.Tagger(imported(tmp_path / "bert")), set()
    for text in sentences(40, 6):
        words = re.findall(r"\w+|[.!]", text)
        tagged = tagger.tag_words(words)
        assert len(tagged.words) == len(words)
        begins = [word.begin for word in tagged.words]
        ends = [word.end for word in tagged.words]
        found = [(each.label, begins.index(each.begin), ends.index(each.end) + 1) for each in tagged.entities]
        assert found == groups_of_transformers(tokenizer, peer, words)
        named = [word.label for word in tagged.words]
        seen |= {(before[0], label[0]) for before, label in zip(["O", *named], named)}
    assert ("O", "I") in seen and len(seen) >= (4 if labels is INSIDE else 8), seen


def test_a_scheme_may_be_given(tmp_path):
    encoder(tmp_path / "bert", "bert", "ForTokenClassification", labels=ENTITIES)
    attend.convert.convert(tmp_path / "bert", tmp_path / "given", label_scheme="iob2")
    assert json.loads((tmp_path / "given/config.json").read_text(encoding="utf-8"))["model"]["label_scheme"] == "iob2"
    tagger = attend.Tagger(tmp_path / "given")
    for text in sentences(20, 6):
        named = ["O", *(word.label for word in tagger.tag_words(text.split()).words)]
        assert all(before[2:] == label[2:] for before, label in zip(named, named[1:]) if label[0] == "I")
    encoder(tmp_path / "colours", "bert", "ForTokenClassification", labels=COLOURS)
    with pytest.raises(attend.UsageError, match="none of entities: red, green, blue"):
        attend.convert.convert(tmp_path / "colours", tmp_path / "other", label_scheme="iob2")
    encoder(tmp_path / "none", "bert", "")
    with pytest.raises(attend.UsageError, match="the model is of masked_language_model; leave it out"):
        attend.convert.convert(tmp_path / "none", tmp_path / "other", label_scheme="iob2")
    assert not (tmp_path / "other").exists()


HEADS = [("", None), ("ForMaskedLM", None), ("ForTokenClassification", ENTITIES), ("ForSequenceClassification", COLOURS)]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("head", "labels"), HEADS)
def test_verify_asks_transformers(family, head, labels, tmp_path, capsys):
    encoder(tmp_path / family, family, head, labels)
    assert import_here(tmp_path / family, tmp_path / "model", verify=True) == 0
    what = "log-probabilities" if head else "vectors"
    said = re.search(rf"{what} of 4 samples agree within (\S+) with the program", capsys.readouterr().out)
    assert 0 < float(said[1]) < 1e-4
    # It would notice another model.
    name = next(name for name in ("bert", "roberta", "distilbert") if name == family)
    other = tmp_path / "other"
    shutil.copytree(tmp_path / family, other)
    tensors = safetensors.torch.load_file(other / "model.safetensors")
    changed = next(key for key in tensors if key.endswith("word_embeddings.weight"))
    safetensors.torch.save_file(tensors | {changed: tensors[changed] * 1.01}, other / "model.safetensors", metadata={"format": "pt"})
    assert attend.convert.recognise(tmp_path / name).compare(str(other), str(tmp_path / "model")) > 1e-4


@pytest.mark.parametrize("family", FAMILIES)
def test_encoders_without_a_head_become_int8(family, tmp_path):
    encoder(tmp_path / family, family, "")
    model = imported(tmp_path / family)
    assert "no samples: the model has no head" in program("quantize", model, "--output", tmp_path / "int8")
    attend.quantize(model, tmp_path / "python")
    whole, small = attend.Encoder(model, type="int8"), attend.Encoder(tmp_path / "int8")
    for text in TEXTS:
        np.testing.assert_array_equal(small.embed(text), whole.embed(text))


@pytest.mark.parametrize(("task", "head", "labels"), [
    ("tagging", "", None), ("classification", "", None), ("tagging", "ForTokenClassification", {0: "COLD", 1: "HOT"}),
    ("classification", "ForSequenceClassification", {0: "COLD", 1: "HOT"}), ("tagging", "ForMaskedLM", None),
    ("masked_language_model", "ForMaskedLM", None), ("language_model", "GPT2", None)])
def test_adapters_of_what_is_imported(task, head, labels, tmp_path):
    if head == "GPT2":
        (tmp_path / "bert").mkdir()
        size = write_byte_bpe(tmp_path / "bert", ["<|endoftext|>"])
        config = transformers.GPT2Config(vocab_size=size, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=0, eos_token_id=0)
        with_random_weights(transformers.GPT2LMHeadModel(config), tmp_path / "bert")
    else:
        encoder(tmp_path / "bert", "bert", head, labels)
    texts = sentences(60, 5)
    lines = {
        "tagging": [f"{word} {'HOT' if 'a' in word else 'COLD'}\n" + "\n" * (i % 5 == 4) for i, word in enumerate(" ".join(texts).split())],
        "classification": [f"{'HOT' if 'lumi' in text else 'COLD'}\t{text}\n" for text in texts]}.get(task, [text + "\n" for text in texts])
    (tmp_path / "text").write_text("".join(lines), encoding="utf-8")
    plain = task.endswith("language_model")
    suffix = "text" if plain else "columns" if task == "tagging" else "table"
    tiny_run.trained({f"{part}_{suffix}": tmp_path / "text" for part in ("train", "valid")} | {
        "task": task, "init": imported(tmp_path / "bert"), "adapter.rank": 2, "max_updates": 2, "batch_tokens": 200, "threads": 1} | (
            {"context_tokens": 16} if plain else {"scheme": "none"} if task == "tagging" else {}), tmp_path / "run")
    program("verify", tmp_path / "bert-attend", "--adapter", tmp_path / "run/adapter")


@pytest.fixture(name="gpt2", scope="module", params=[0, 3])
def random_gpt2(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt2") / "gpt2"
    folder.mkdir()
    size = write_byte_bpe(folder, ["<|endoftext|>"])
    config = transformers.GPT2Config(
        vocab_size=size + request.param, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=0, eos_token_id=0)
    tokenizer, peer = with_random_weights(transformers.GPT2LMHeadModel(config), folder)
    return tokenizer, peer, folder, imported(folder)


def test_gpt2_becomes_ctranslate2s(gpt2, tmp_path):
    """A vocabulary that is a tokenizer.json stays one."""
    pytest.importorskip("ctranslate2")
    attend.convert.export(gpt2[3], tmp_path / "ct2", format="ctranslate2")
    assert json.loads((tmp_path / "ct2/tokenizer.json").read_bytes())["model"]["type"] == "BPE"
    assert (tmp_path / "ct2/model.bin").exists() and not (tmp_path / "ct2/sentencepiece.model").exists()


@torch.no_grad()
def test_texts_are_gpt2s(gpt2):
    tokenizer, peer, _, model = gpt2
    generator = attend.Generator(model)
    for text in [text for text in TEXTS if text.strip()][:12]:
        ids = tokenizer(text)["input_ids"]
        score = generator.score(text)
        logits = peer(torch.tensor([[0, *ids]])).logits[0].double().log_softmax(-1)
        wanted = [logits[i, token].item() for i, token in enumerate(ids)]
        np.testing.assert_allclose(score.token_log_probabilities[: len(ids)], wanted, atol=1e-4)
        written = peer.generate(torch.tensor([[0, *ids]]), max_new_tokens=12, do_sample=False, pad_token_id=0)[0, len(ids) + 1 :].tolist()
        found = generator.generate(text, max_tokens=12, temperature=0)
        assert found.ids == [i for i in written if i != 0][: len(found.ids)] and len(found.ids) >= min(len(written) - 1, 11)


def test_verify_asks_gpt2(gpt2, tmp_path, capsys):
    assert import_here(gpt2[2], tmp_path / "model", verify=True) == 0
    assert 0 < float(re.search(r"log-probabilities of 4 samples agree within (\S+) with", capsys.readouterr().out)[1]) < 1e-4


@torch.no_grad()
def test_roberta_of_older_tokenizer_files(tmp_path):
    tokenizer, peer = encoder(tmp_path / "roberta", "roberta", "ForMaskedLM")
    shutil.copytree(tmp_path / "roberta", tmp_path / "old")
    (tmp_path / "old/tokenizer.json").unlink()
    write_byte_bpe_files(tmp_path / "roberta", tmp_path / "old")
    found, vocabulary = attend.Encoder(imported(tmp_path / "old")), attend.Vocabulary(tmp_path / "old-attend/vocab.spm")
    for text in TEXTS:
        assert [tokenizer.cls_token_id, *vocabulary.encode(text), tokenizer.sep_token_id] == tokenizer(text)["input_ids"]
    ids = tokenizer("sona<mask> grau", return_tensors="pt")
    wanted = peer(**ids).logits[0][(ids["input_ids"][0] == tokenizer.mask_token_id).nonzero().item()].double().softmax(-1)
    for text in ("sona [MASK] grau", "sona <mask> grau"):
        (best, _, probability), *_ = found.fill(text, top=1).masks[0]
        assert math.isclose(probability, wanted.max(), rel_tol=1e-3) and best == shown(tokenizer, wanted.argmax().item())


def test_older_tokenizer_files_give_the_same_model(gpt2, tmp_path):
    _, _, folder, model = gpt2
    shutil.copytree(folder, tmp_path / "old")
    (tmp_path / "old/tokenizer.json").unlink()
    write_byte_bpe_files(folder, tmp_path / "old")
    other = imported(tmp_path / "old")
    for text in TEXTS:
        assert attend.Generator(other).vocabulary.encode(text) == attend.Generator(model).vocabulary.encode(text)


def write_byte_bpe_files(folder, output):
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    (output / "vocab.json").write_text(json.dumps(vocabulary["vocab"]), encoding="utf-8")
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in vocabulary["merges"]]
    (output / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", encoding="utf-8")


def test_a_list_of_words_gives_the_same_vectors(tmp_path):
    encoder(tmp_path / "bert", "bert", "")
    shutil.copytree(tmp_path / "bert", tmp_path / "old")
    vocabulary = json.loads((tmp_path / "bert/tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    (tmp_path / "old/tokenizer.json").unlink()
    (tmp_path / "old/vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.get)) + "\n", encoding="utf-8")
    old, new = (attend.Encoder(imported(tmp_path / name)) for name in ("old", "bert"))
    assert all(np.array_equal(old.embed(text), new.embed(text)) for text in TEXTS)


@pytest.mark.parametrize(("change", "part"), [
    ({"hidden_act": "tanh"}, 'hidden_act is "tanh", which attend lacks'), ({"architectures": 5}, "architectures is 5, expected list"),
    ({"position_embedding_type": "relative_key"}, 'position_embedding_type is "relative_key"'),
    ({"architectures": ["BertForQuestionAnswering"]}, 'architectures is "BertForQuestionAnswering"'),
    ({"num_hidden_layers": 3}, "tensor 'encoder.layer.2.attention.self.query.weight' is missing"),
    ({"num_hidden_layers": 1}, "is one that attend lacks a place for"), ({"is_decoder": True}, "is_decoder is true"),
    ({"architectures": ["BertForTokenClassification"], "id2label": 5}, "tensor 'classifier.weight' is missing"),
    ({"model_type": "llama"}, 'model_type of its config.json is "llama", expected one of marian, bart'),
])
def test_what_attend_lacks_is_named(tmp_path, change, part):
    encoder(tmp_path / "bert", "bert", "")
    path = pathlib.Path(tmp_path / "bert/config.json")
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(attend.InputError, match=re.escape(part)):
        imported(tmp_path / "bert")
