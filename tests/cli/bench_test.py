"""attend bench: what it counts and reports. Speeds themselves are nobody's business here."""

import json
import pathlib
import struct

import pytest
from programs import attend, refused

MODEL = pathlib.Path(__file__).resolve().parents[1] / "data/golden_v1"
TINY = ["--preset", "tiny", "--vocab-size", 100, "--sentences", 6, "--source-length", 5, "--target-length", 7, "--repeats", 1]


def benchmark(*arguments):
    done = attend("bench", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


def bench(*arguments):
    return benchmark("translate", *arguments)


def check_measurement(report):
    assert 0 < report["batch_latency_p50_s"] <= report["batch_latency_p99_s"]
    assert report["peak_rss_mb"] > 1 and report["load_s"] > 0
    assert all(rate > 1e6 for rate in report["machine"].values())


def check_rates(report):
    assert report["target_tokens_per_s"] == pytest.approx(report["target_tokens"] / report["seconds"])
    check_measurement(report)
    assert set(report["parts"]) == {
        "encoder", "self_attention", "cross_attention", "feed_forward", "output", "search", "rest"}
    assert all(share >= 0 for share in report["parts"].values())
    assert sum(report["parts"].values()) == pytest.approx(1)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_every_output_has_the_length_that_was_asked_for(beam_size):
    report = bench(*TINY, "--beam-size", beam_size, "--batch-size", 4)
    assert report["target_tokens"] == 6 * 7
    assert report["batches"] == 2
    assert "source_words_per_s" not in report  # pieces are no words
    assert {"preset": "tiny", "vocab_size": 100, "sentences": 6, "batch_size": 4, "beam_size": beam_size}.items() <= report.items()
    check_rates(report)


def test_text_runs_at_its_own_lengths(tmp_path):
    text = tmp_path / "text"
    text.write_text("lumi tavo\n\nkeri paku  neri\n", "utf-8")
    report = bench("--model", MODEL, "--input", text, "--repeats", 2, "--length-penalty", 0, "--threads", 2)
    assert report["source_words_per_s"] * report["seconds"] == pytest.approx(5)
    assert (report["sentences"], report["threads"], report["type"]) == (3, 2, "f32")
    assert report["batches"] == 2 * 1  # each repeat
    check_rates(report)
    short = bench("--model", MODEL, "--input", text, "--repeats", 1, "--max-length", 1)
    assert short["target_tokens"] <= 3 - 1 < report["target_tokens"]  # the empty line has no output


def test_a_model_takes_random_sentences_too():
    report = bench("--model", MODEL, *TINY[4:], "--type", "float32")
    assert report["target_tokens"] == 6 * 7


def test_people_get_a_table():
    done = attend("bench", "translate", *TINY)
    assert done.returncode == 0
    for line in ("target tokens a second", "latency of a batch", "peak memory", "GFLOP/s f32", "  feed_forward"):
        assert line in done.stdout


def test_batches_are_repeated_until_there_are_enough():
    assert bench(*TINY[:-1], 1000, "--batch-size", 1)["batches"] == 102  # of 6 each


@pytest.mark.parametrize(("arguments", "cure"), [
    (("--model", MODEL, "--preset", "base"), "--preset is for random weights; leave out it or --model"),
    (("--model", MODEL, "--vocab-size", 99), "--vocab-size is for random weights"),
    (("--model", MODEL, "--input", "text", "--sentences", 64), "--sentences is for random sentences; leave out it or --input"),
    (("--model", MODEL, "--input", "text", "--source-length", 3), "--source-length is for random sentences"),
    (("--model", MODEL, "--input", "text", "--target-length", 3), "for --input give --max-length"),
    (("--max-length", 9), "random sentences take --target-length"),
    (("--shortlist", "lexicon"), "--shortlist is for --model"),
])
def test_options_that_change_nothing_are_refused(arguments, cure):
    refused(attend("bench", "translate", *arguments), 2, cure)


def test_the_benchmark_has_a_name():
    refused(attend("bench", "translat"), 2, "did you mean 'translate'?")


def test_a_language_model_reads_its_prompts_and_writes_on():
    report = benchmark("generate", "--preset", "gpt-char", "--vocab-size", 50, "--prompts", 3, "--prompt-length", 6, "--output-length", 4,
                       "--batch-size", 2, "--repeats", 1, "--type", "int8")
    assert {"preset": "gpt-char", "prompts": 3, "prompt_length": 6, "output_length": 4, "batches": 2, "type": "int8"}.items() <= report.items()
    assert report["output_tokens_per_s"] == pytest.approx(3 * 4 / report["seconds"])
    # The rates of prompts and steps together make up the whole time.
    assert 3 * 6 / report["prompt_tokens_per_s"] + 3 * 3 / report["step_tokens_per_s"] == pytest.approx(report["seconds"])
    check_measurement(report)


def test_an_encoder_reads_texts():
    report = benchmark("encode", "--preset", "bert-tiny", "--vocab-size", 50, "--texts", 5, "--length", 7, "--batch-size", 2, "--repeats", 1)
    assert {"preset": "bert-tiny", "texts": 5, "length": 7, "batches": 3, "type": "f32"}.items() <= report.items()
    assert report["texts_per_s"] == pytest.approx(5 / report["seconds"])
    assert report["tokens_per_s"] == pytest.approx(5 * 7 / report["seconds"])
    check_measurement(report)


def test_an_encoder_reads_pictures_and_items():
    report = benchmark("encode", "--preset", "vit-tiny", "--texts", 3, "--repeats", 1)
    assert report["pictures"] == 3 and report["pictures_per_s"] == pytest.approx(3 / report["seconds"])
    assert not {"texts", "texts_per_s", "tokens_per_s"} & set(report)
    report = benchmark("encode", "--preset", "fusion-tiny", "--vocab-size", 50, "--texts", 2, "--length", 7, "--repeats", 1)
    # The summary, the text and 144 patches of 8 by 8 pixels; a preset's graph has no nodes.
    assert report["length"] == 1 + 7 + 144 and report["items_per_s"] == pytest.approx(2 / report["seconds"])
    check_measurement(report)


def test_recordings_are_transcribed(tmp_path):
    tiny = ("transcribe", "--preset", "speech-tiny", "--vocab-size", 50, "--max-length", 3, "--beam-size", 1, "--repeats", 1)
    report = benchmark(*tiny, "--recordings", 3, "--seconds", 0.5, "--batch-size", 2)
    assert {"recordings": 3, "sound_seconds": 1.5, "batches": 2, "beam_size": 1}.items() <= report.items()
    assert report["sound_per_s"] == pytest.approx(1.5 / report["seconds"]) and report["output_tokens"] <= 3 * 3
    check_measurement(report)
    samples = b"\0\0" * 4000
    (tmp_path / "a.wav").write_bytes(struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 36 + len(samples), b"WAVEfmt ", 16, 1, 1, 8000, 16000, 2, 16,
                                                 b"data", len(samples)) + samples)
    assert benchmark(*tiny, tmp_path / "a.wav")["sound_seconds"] == 0.5
    refused(attend("bench", *tiny, tmp_path / "a.wav", "--seconds", 3), 2, "--seconds is for noise")
    refused(attend("bench", *tiny, tmp_path / "b.wav"), 3, "b.wav")


@pytest.mark.parametrize(("arguments", "lines"), [
    (("generate", "--preset", "gpt-char", "--vocab-size", 50, "--prompts", 1, "--prompt-length", 2, "--output-length", 2),
     ("output tokens a second", "prompt tokens a second", "peak memory")),
    (("encode", "--preset", "bert-tiny", "--vocab-size", 50, "--texts", 1, "--length", 2), ("texts a second", "GFLOP/s f32")),
    (("encode", "--preset", "vit-tiny", "--texts", 1), ("pictures a second", "GFLOP/s f32")),
    (("transcribe", "--preset", "speech-tiny", "--vocab-size", 50, "--max-length", 2), ("seconds of sound a second", "GFLOP/s f32")),
])
def test_each_benchmark_has_a_table(arguments, lines):
    done = attend("bench", *arguments, "--repeats", 1)
    assert done.returncode == 0
    assert all(line in done.stdout for line in lines)
