"""attend.convert of BART, mBART, Pegasus and M2M100 against transformers: tokens, ids of greedy and beam search, log-probabilities."""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import attend
import numpy as np
import pytest
import tiny_run
from package import ENVIRONMENT, program

attend.convert = pytest.importorskip("attend.convert")
attend.torch = pytest.importorskip("attend.torch")
sentencepiece = pytest.importorskip("sentencepiece")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
bart_models = pytest.importorskip("bart_models")

TEXTS = [*bart_models.sentences(20, 9), "unknown ☃ ending", "  two  spaces", "12 3.5", "ﬁn Ａ"]
NORMALISING = "ﬁn Ａ"  # transformers 5 reads the first mBART's text without its table of characters
MOST = 24  # tokens of an output


class Model:
    """A model of transformers and the same one of attend."""

    def __init__(self, family, folder, lines=None, **settings):
        self.family, self.folder, self.directory = family, folder / family, folder / "attend"
        self.peer, self.tokenizer = bart_models.write_model(family, self.folder, lines, **settings)
        self.languages = dict(zip(("source_language", "target_language"), bart_models.LANGUAGES.get(family, ())))
        for name, value in zip(("src_lang", "tgt_lang"), self.languages.values()):
            setattr(self.tokenizer, name, value)
        self.converted = attend.convert.convert(self.folder, self.directory, **self.languages)
        self.config = self.converted.model
        self.translator = attend.Translator(self.directory, threads=1)

    def encoder_ids(self, text):
        tokens = self.translator.source_vocabulary.encode(text)
        return [*self.config["source_begin"], *tokens, self.config["special_ids"]["eos"], *self.config["source_end"]]

    @property
    def start(self):
        return [self.config["special_ids"]["bos"], *self.config["target_begin"]]

    def written(self, text, beam_size):
        """By transformers, without what attend never writes; the lengths of outputs do not count."""
        special = self.config["special_ids"]
        never = {special[name] for name in ("pad", "unk", "bos")} - {special["eos"]}
        first = self.config["target_begin"][0] if self.config["target_begin"] else None
        searched = {"length_penalty": 0.0, "early_stopping": False} if beam_size > 1 else {}
        ids = self.peer.generate(
            torch.tensor([self.encoder_ids(text)]), num_beams=beam_size, do_sample=False, max_length=MOST + len(self.start),
            min_new_tokens=len(self.start), bad_words_ids=[[i] for i in sorted(never)], decoder_start_token_id=special["bos"],
            forced_bos_token_id=first, forced_eos_token_id=None, **searched)[0].tolist()
        assert ids[: len(self.start)] == self.start
        return ids[len(self.start) :]

    def log_probabilities(self, text, target):
        """Of the target's tokens and eos, in transformers."""
        ids = [*self.translator.target_vocabulary.encode(target), self.config["special_ids"]["eos"]]
        logits = self.peer(torch.tensor([self.encoder_ids(text)]), decoder_input_ids=torch.tensor([[*self.start, *ids[:-1]]])).logits[0]
        return logits[len(self.start) - 1 :].double().log_softmax(-1).gather(1, torch.tensor(ids).unsqueeze(1)).squeeze(1).numpy()


@pytest.fixture(name="models", scope="module")
def models_of_all_families(tmp_path_factory):
    return {family: Model(family, tmp_path_factory.mktemp(family)) for family in bart_models.FAMILIES}


@pytest.fixture(name="model", params=list(bart_models.FAMILIES))
def model_of_a_family(request, models):
    return models[request.param]


def test_tokens_are_transformers(model):
    for text in TEXTS:
        if not (model.family == "mbart" and text == NORMALISING):
            assert model.encoder_ids(text) == model.tokenizer(text)["input_ids"], text


@pytest.mark.parametrize("beam_size", [1, 4])
@torch.no_grad()
def test_outputs_are_transformers(model, beam_size):
    texts = TEXTS[:20]
    found = model.translator.translate(texts, beam_size=beam_size, length_penalty=0, max_length=MOST, split_sentences="never")
    for text, translation in zip(texts, found):
        ours = translation.hypotheses[0]
        assert [*ours.ids, *[model.config["special_ids"]["eos"]] * ours.finished] == model.written(text, beam_size), text
    assert len({tuple(translation.hypotheses[0].ids) for translation in found}) > 3 or beam_size > 1
    assert any(translation.hypotheses[0].finished for translation in found)


@torch.no_grad()
def test_log_probabilities_are_transformers(model):
    sources, targets = bart_models.sentences(20, 4), bart_models.sentences(20, 5)
    for source, target, score in zip(sources, targets, model.translator.score(sources, targets)):
        np.testing.assert_allclose(score.token_log_probabilities, model.log_probabilities(source, target), atol=1e-4)


def test_a_batch_an_instruction_set_and_int8_change_no_output(model, tmp_path):
    texts = TEXTS[:12]
    wanted = [model.translator.translate([text], beam_size=2)[0].hypotheses[0] for text in texts]
    found = attend.Translator(model.directory, threads=2).translate(texts, beam_size=2)
    assert [(one.hypotheses[0].ids, one.hypotheses[0].score) for one in found] == [(one.ids, one.score) for one in wanted]
    attend.quantize(model.directory, tmp_path / "int8")
    for directory in (model.directory, tmp_path / "int8"):
        assert "within" in program("verify", directory)


def test_samples_and_options_of_plain_pytorch(model):
    plain = attend.torch.load(model.directory)
    for sample in json.loads((model.directory / "samples.json").read_text(encoding="utf-8")):
        tokens = model.translator.source_vocabulary.encode(sample["source"])
        assert plain.encoder_ids(tokens) == sample["source_ids"] == model.encoder_ids(sample["source"])
        start, wrote = plain.decoder_start(), sample["target_ids"]
        logits = plain(torch.tensor([sample["source_ids"]]), torch.tensor([[*start, *wrote[:-1]]]))[0, len(start) - 1 :]
        found = logits.log_softmax(-1).gather(1, torch.tensor(wrote).unsqueeze(1)).squeeze(1)
        np.testing.assert_allclose(found.detach(), sample["token_log_probabilities"], atol=1e-5)


@pytest.mark.skipif("ATTEND_DATA" not in os.environ, reason="ATTEND_DATA is not set")
@pytest.mark.parametrize("family", [family for family in bart_models.FAMILIES if family != "mbart"])
def test_tokens_of_flores_are_transformers(family, tmp_path):
    def lines(language):
        path = pathlib.Path(os.environ["ATTEND_DATA"]) / f"flores101/{language}.devtest.gz"
        return [line.strip() for line in gzip.open(path, "rt", encoding="utf-8")]

    model = Model(family, tmp_path, lines("eng")[:400] + lines("fra")[:400])
    same = [model.encoder_ids(text) == model.tokenizer(text)["input_ids"] for text in lines("eng") + lines("fra")]
    assert sum(same) >= 0.998 * len(same)  # sums of equal scores may be rounded otherwise


@pytest.mark.parametrize("family", ["mbart50", "nllb", "pegasus"])
def test_a_tokenizer_file_cuts_as_the_sentencepiece_model_that_it_was_made_of(family, tmp_path):
    bart_models.train_pieces(tmp_path, "kept.model", **({"model_type": "bpe"} if family == "nllb" else {}) | (
        {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1} if family == "pegasus" else {}))
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "kept.model"))
    model = Model(family, tmp_path)
    if family == "pegasus":
        model.tokenizer.save_pretrained(model.folder)
        (model.folder / "spiece.model").unlink()
        attend.convert.convert(model.folder, tmp_path / "json")
        model.translator = attend.Translator(tmp_path / "json")
    for text in [*TEXTS, "ends in spaces  ", "\ttab", *bart_models.sentences(100, 12)]:
        found = [model.translator.source_vocabulary.piece(i) for i in model.translator.source_vocabulary.encode(text)]
        wanted = [pieces.id_to_piece(i) for i in pieces.encode(text)]
        assert found == wanted, text


def test_tags_give_no_text(models):
    vocabulary = models["m2m100"].translator.target_vocabulary
    tag, words = models["m2m100"].config["target_begin"], vocabulary.encode("lumi tavo")
    assert vocabulary.piece(tag[0]) == "__fr__"
    assert vocabulary.decode([*tag, *words, *tag, len(vocabulary) - 1]) == "lumi tavo"
    vocabulary = models["pegasus"].translator.target_vocabulary
    assert vocabulary.piece(7) == "<unk_5>" and vocabulary.decode([2, 7, *vocabulary.encode("lumi")]) == "lumi"
    vocabulary = models["bart"].translator.target_vocabulary
    assert vocabulary.decode([0, *vocabulary.encode("lumi"), len(vocabulary) - 1]) == "lumi"


def test_a_token_without_text_must_be_one(models, tmp_path):
    from attend.convert import _vocabulary

    whole = (models["m2m100"].directory / "vocab.spm").read_bytes()
    for token, part in ((b"a", ""), (b"b", "a token that stands for no text is not in the list")):
        field = _vocabulary._text(1, b"a") + _vocabulary._number(3, 1) + _vocabulary._number(5, 1) + _vocabulary._text(7, token)
        (tmp_path / "vocab.spm").write_bytes(whole + _vocabulary._text(4200, field))
        if not part:
            assert attend.Vocabulary(tmp_path / "vocab.spm").decode([0]) == ""
            continue
        with pytest.raises(attend.InputError, match=part):
            attend.Vocabulary(tmp_path / "vocab.spm")


def test_attention_names_what_stands_around_texts(models):
    found = models["mbart50"].translator.attention("lumi tavo", "keri")
    assert found.source_pieces[0] == "en_XX" and found.source_pieces[-1] == "</s>"
    assert found.read_pieces[:2] == ["</s>", "ro_RO"] and found.target_pieces[0] == "ro_RO" and found.target_pieces[-1] == "</s>"
    assert found.cross.shape[2:] == (len(found.target_pieces), len(found.source_pieces))
    found = models["mbart"].translator.attention("lumi tavo", "keri")
    assert found.source_pieces[-2:] == ["</s>", "en_XX"] and found.read_pieces[0] == "ro_RO" and found.target_pieces[-1] == "</s>"


def test_alignments_have_no_link_to_a_tag(models):
    for family in ("bart", "mbart", "mbart50"):
        translation = models[family].translator.translate(["lumi tavo keri"], alignments=True, max_length=8)[0].hypotheses[0]
        assert all(0 <= source < 3 for source, _ in translation.alignment)


def test_the_command_asks_for_languages(models, tmp_path):
    folder, environment = tmp_path / "m2m100", ENVIRONMENT | {"ATTEND_PYTHON": sys.executable}
    shutil.copytree(models["m2m100"].folder, folder)
    (folder / "tokenizer_config.json").unlink()  # which names two

    def imported(*options):
        command = [os.path.join(os.environ["BUILD_DIR"], "attend"), "import", folder, "--output", tmp_path / "out", *options]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    for options, part in ((), "source_language is not given, expected one of af, am, ar,"), (
            ("--source-language", "en"), "target_language is not given"), (
            ("--source-language", "en", "--target-language", "xx"), 'target_language is "xx", expected one of af, am'):
        done = imported(*options)
        assert done.returncode == 2 and part in done.stderr, done.stderr
    done = imported("--source-language", "fr", "--target-language", "de", "--verify")
    assert done.returncode == 0, done.stderr
    assert "found M2M100ForConditionalGeneration" in done.stdout and "2 + 2 layers, 32 wide" in done.stdout and "agree within" in done.stdout
    config = json.loads((tmp_path / "out/config.json").read_text(encoding="utf-8"))["model"]
    vocabulary = attend.Vocabulary(tmp_path / "out/vocab.spm")
    assert [vocabulary.piece(i) for i in config["source_begin"] + config["target_begin"]] == ["__fr__", "__de__"]
    assert config["languages"] == ["fr", "de"]
    with pytest.raises(attend.UsageError, match="belong together: give both"):
        attend.convert.convert(models["bart"].folder, tmp_path / "other", source_language="en")
    found = attend.convert.convert(models["bart"].folder, tmp_path / "other", source_language="en", target_language="fr")
    assert found.model["languages"] == ["en", "fr"]


@pytest.mark.parametrize("family", ["bart", "mbart", "mbart50", "pegasus"])
def test_every_family_is_compared(models, family):
    model = models[family]
    assert attend.convert.recognise(model.folder).compare(str(model.folder), str(model.directory)) < 1e-4


def test_languages_go_by_short_names(models, tmp_path):
    found = attend.convert.convert(models["mbart50"].folder, tmp_path / "short", source_language="ro", target_language="en")
    assert found.model["languages"] == ["ro", "en"]
    found = attend.convert.convert(models["nllb"].folder, tmp_path / "script", source_language="eng", target_language="zho_Hant")
    assert found.model["languages"] == ["eng", "zho-Hant"]
    with pytest.raises(attend.UsageError, match='target_language is "zho"'):
        attend.convert.convert(models["nllb"].folder, tmp_path / "other", source_language="eng", target_language="zho")


def copied(model, folder, change=None, name="config.json"):
    """The model's folder, with other values in one of its files."""
    shutil.copytree(model.folder, folder)
    values = json.loads((folder / name).read_text(encoding="utf-8")) if (folder / name).exists() else {}
    (folder / name).write_text(json.dumps(values | (change or {})), encoding="utf-8")
    return folder


def test_older_folders_of_nllb_list_their_languages(models, tmp_path):
    """SentencePiece's file with a list of languages, and tags after the source."""
    model = models["nllb"]
    folder = copied(model, tmp_path / "old", {"legacy_behaviour": True}, "tokenizer_config.json")
    bart_models.train_pieces(folder, "sentencepiece.bpe.model", model_type="bpe")
    (folder / "tokenizer.json").unlink()
    values = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {key: value for key, value in values.items() if not key.endswith("_special_tokens")}), encoding="utf-8")
    with pytest.raises(attend.InputError, match="lists no languages"):
        attend.convert.convert(folder, tmp_path / "none", **model.languages)
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": bart_models.NLLB_LANGUAGES}), encoding="utf-8")
    found = attend.convert.convert(folder, tmp_path / "out", **model.languages)
    vocabulary = attend.Vocabulary(tmp_path / "out/vocab.spm")
    assert [vocabulary.piece(i) for i in found.model["source_end"]] == ["eng_Latn"] and not found.model["source_begin"]
    assert vocabulary.encode("lumi tavo") == model.translator.source_vocabulary.encode("lumi tavo")


def test_the_kind_of_an_mbart_is_seen(models, tmp_path):
    for family in ("mbart", "mbart50"):
        folder = copied(models[family], tmp_path / family)
        (folder / "tokenizer_config.json").unlink()
        found = attend.convert.convert(folder, tmp_path / f"{family}-out", **models[family].languages)
        assert found.model == models[family].config


def test_older_files_of_bart_give_the_same_tokens(models, tmp_path):
    model = models["bart"]
    folder = copied(model, tmp_path / "old")
    tokens = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"] | {"<mask>": 330}
    (folder / "vocab.json").write_text(json.dumps(tokens), encoding="utf-8")
    (folder / "tokenizer.json").unlink()
    found = attend.convert.convert(folder, tmp_path / "out")
    assert found.model == model.config
    vocabulary = attend.Vocabulary(tmp_path / "out/vocab.spm")
    for text in TEXTS:
        assert vocabulary.encode(text) == model.translator.source_vocabulary.encode(text)


def test_a_token_without_a_row_is_left_out(tmp_path):
    model = Model("bart", tmp_path, more_rows=-1)
    assert "the token <mask>, which the embedding has no row for" in model.converted.left_out
    assert len(model.translator.source_vocabulary) == model.peer.config.vocab_size


def test_a_model_saved_without_its_head_has_one(models, tmp_path):
    model = models["bart"]
    shutil.copytree(model.folder, tmp_path / "base")
    model.peer.model.save_pretrained(tmp_path / "base")
    found = attend.convert.convert(tmp_path / "base", tmp_path / "out")
    assert not found.model["head_bias"]
    assert attend.convert.recognise(tmp_path / "base").compare(str(tmp_path / "base"), str(tmp_path / "out")) < 1e-4


def test_sinusoids_that_were_rounded_are_made_anew(models, tmp_path):
    shutil.copytree(models["pegasus"].folder, tmp_path / "half")
    transformers.PegasusForConditionalGeneration.from_pretrained(models["pegasus"].folder).half().save_pretrained(tmp_path / "half")
    found = attend.convert.convert(tmp_path / "half", tmp_path / "out")
    assert "the rounding of sines and cosines: attend makes them in f32" in found.left_out
    difference = attend.convert.recognise(tmp_path / "half").compare(str(tmp_path / "half"), str(tmp_path / "out"))
    assert 1e-6 < difference < found.tolerance < 0.1


def test_other_tables_than_sinusoids_are_learned_positions(models, tmp_path):
    peer = transformers.PegasusForConditionalGeneration.from_pretrained(models["pegasus"].folder)
    with torch.no_grad():
        peer.model.decoder.embed_positions.weight[3, 5] += 1
    shutil.copytree(models["pegasus"].folder, tmp_path / "other")
    peer.save_pretrained(tmp_path / "other")
    found = attend.convert.convert(tmp_path / "other", tmp_path / "out")
    assert found.model["decoder"]["positions"] == "learned" and found.model["encoder"]["positions"] == "sinusoidal"
    assert attend.convert.recognise(tmp_path / "other").compare(str(tmp_path / "other"), str(tmp_path / "out")) < 1e-4


def test_search_options_of_the_model_are_named(models, tmp_path):
    folder = copied(models["bart"], tmp_path / "cnn", {"num_beams": 4, "no_repeat_ngram_size": 3, "length_penalty": 2.0}, "generation_config.json")
    (left_out,) = attend.convert.convert(folder, tmp_path / "out").left_out
    assert left_out.startswith("forced_eos_token_id 2, length_penalty 2.0, no_repeat_ngram_size 3, num_beams 4 of generation_config.json")


def test_a_bart_that_is_told_no_first_token_begins_with_it_all_the_same(models, tmp_path):
    folder = copied(models["bart"], tmp_path / "base", {"forced_bos_token_id": None}, "generation_config.json")
    assert attend.convert.convert(folder, tmp_path / "out").model["target_begin"] == [0]


@pytest.mark.parametrize(("family", "change", "part"), [
    ("bart", {"activation_function": "tanh"}, 'activation_function is "tanh", which attend lacks'),
    ("bart", {"encoder_layers": 3}, "tensor 'model.encoder.layers.2.self_attn.q_proj.weight' is missing"),
    ("mbart50", {"vocab_size": 113}, "the embedding has 114 rows, but vocab_size of config.json is 113"),
    ("mbart", {"decoder_layers": 1}, "is one that attend lacks a place for"),
    ("pegasus", {"tie_word_embeddings": False}, "tie_word_embeddings is false"),
    ("bart", {"architectures": ["BartForSequenceClassification"]}, 'architectures is "BartForSequenceClassification"'),
    ("m2m100", {"eos_token_id": [2, 3]}, "eos_token_id is [2, 3], expected int"),
    ("m2m100", {"pad_token_id": 10000}, "pad_token_id is 10000, expected an id below"),
    ("mbart", {"model_type": "mbart50"}, 'model_type of its config.json is "mbart50", expected one of marian, bart, mbart,'),
])
def test_what_attend_lacks_is_named(models, tmp_path, family, change, part):
    folder = copied(models[family], tmp_path / "changed", change)
    with pytest.raises(attend.InputError, match=re.escape(part)):
        attend.convert.convert(folder, tmp_path / "out", **models[family].languages)


@pytest.mark.parametrize(("change", "part"), [
    ({"normalizer": {"type": "Lowercase"}}, 'normalizer is {"type": "Lowercase"}'),
    ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "?"}}, "expected base64"),
    ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAAAQ=="}}, "its normalisation has a wrong size"),
    ({"pre_tokenizer": {"type": "ByteLevel"}}, "expected Metaspace"),
    ({"added_tokens": [{"id": 7, "content": "<s>"}]}, "expected a token with the next id"),
    ({"model": {"type": "WordPiece"}}, 'type is "WordPiece", which attend lacks'),
    ({"model": {"type": "Unigram", "vocab": [["a", 1], ["a", 2]], "unk_id": 0}}, "each token once"),
    ({"model": {"type": "Unigram", "vocab": [["a", float("nan")]], "unk_id": 0}}, "a token and its score"),
    ({"model": {"type": "Unigram", "vocab": [["<unk>", 0], *([f"t{i}", 0] for i in range(150))], "unk_id": 400}, "added_tokens": []},
     "expected an unknown token"),
    ({"model": 7}, "expected a JSON object with a member 'model'"),
])
def test_a_tokenizer_file_of_another_kind_is_refused(models, tmp_path, change, part):
    folder = copied(models["pegasus"], tmp_path / "changed")
    models["pegasus"].tokenizer.save_pretrained(folder)
    (folder / "spiece.model").unlink()
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(attend.InputError, match=re.escape(part)):
        attend.convert.convert(folder, tmp_path / "out")


@pytest.mark.parametrize(("family", "name", "content", "part"), [
    ("m2m100", "vocab.json", '{"<s>": "0"}', "gives each token an id"), ("m2m100", "sentencepiece.bpe.model", "text", "not a SentencePiece model"),
    ("mbart", "tokenizer_config.json", '{"tokenizer_class": "BarthezTokenizer"}', 'tokenizer_class is "BarthezTokenizer"'),
    ("pegasus", "tokenizer_config.json", '{"offset": "x"}', 'offset is "x", expected int'),
    ("pegasus", "generation_config.json", '{"forced_bos_token_id": -4}', "forced_bos_token_id is -4"),
    ("bart", "tokenizer.json", "{", "not JSON"),
])
def test_damaged_files_are_refused(models, tmp_path, family, name, content, part):
    folder = tmp_path / "damaged"
    shutil.copytree(models[family].folder, folder)
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(attend.InputError, match=re.escape(part)):
        attend.convert.convert(folder, tmp_path / "out", **models[family].languages)


@pytest.mark.skipif(not tiny_run.TRAIN.exists(), reason="the build does not train")
@pytest.mark.parametrize("family", ["bart", "mbart50", "mbart"])
def test_training_goes_on_as_in_transformers(models, tmp_path, family):
    """The first loss is that of transformers' labels, and a run in two parts ends in the bits of one."""
    model = models[family]
    files = {}
    for side, seed in (("source", 21), ("target", 22)):
        files[side] = tmp_path / side
        files[side].write_text("\n".join(bart_models.sentences(30, seed)) + "\n", encoding="utf-8")
    options = {
        "train_source": files["source"], "train_target": files["target"], "init": model.directory, "batch_tokens": 4000, "max_length": 40, "dropout": 0,
        "label_smoothing": 0, "schedule": "inverse_sqrt", "peak_learning_rate": 0.001, "warmup_updates": 2, "max_updates": 6,
        "checkpoint_every": 3, "report_every": 1, "threads": 1}
    tiny_run.trained(options, tmp_path / "whole")
    loss = next(line["loss"] for line in tiny_run.metrics(tmp_path / "whole") if line["update"] == 1)
    pairs = zip(*(files[side].read_text(encoding="utf-8").splitlines() for side in ("source", "target")))
    total = count = 0
    for source, target in pairs:
        labels = [*model.config["target_begin"], *model.translator.target_vocabulary.encode(target), model.config["special_ids"]["eos"]]
        with torch.no_grad():
            logits = model.peer(
                torch.tensor([model.encoder_ids(source)]), decoder_input_ids=torch.tensor([[model.start[0], *labels[:-1]]])).logits[0]
        total += torch.nn.functional.cross_entropy(logits.double(), torch.tensor(labels), reduction="sum").item()
        count += len(labels)
    np.testing.assert_allclose(loss, total / count, rtol=1e-5)
    tiny_run.trained(options | {"max_updates": 3}, tmp_path / "parts")
    tiny_run.trained(options, tmp_path / "parts")
    weights = [(tmp_path / run / "model/model.safetensors").read_bytes() for run in ("whole", "parts")]
    assert weights[0] == weights[1]
    trained = json.loads((tmp_path / "whole/model/config.json").read_text(encoding="utf-8"))["model"]
    assert {key: trained[key] for key in ("source_begin", "source_end", "target_begin", "special_ids")} == {
        key: model.config[key] for key in ("source_begin", "source_end", "target_begin", "special_ids")}
    samples = json.loads((tmp_path / "whole/model/samples.json").read_text(encoding="utf-8"))
    assert any(sample["target_ids"][-1] == trained["special_ids"]["eos"] for sample in samples)
    assert "within" in program("verify", tmp_path / "whole/model")
