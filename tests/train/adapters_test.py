"""Training low-rank adapters: the base stays as it is, checkpoints hold what is learnt alone, a killed run resumes to the bit, and
what runs with an adapter is the merged model. For every task.
"""

import json
import pathlib
import shutil
import subprocess

import labels_test
import masked_language_model_test
import numpy
import pytest
import ranks
import tiny_run
from numpy_transformer import read_safetensors

RANK, ALPHA = 4, 6.0
OF_THE_BASE = ("encoder.", "decoder.", "preset", "vocab")
MERGED = ["query", "value"]


def without_model(options):
    """What is not the base's to say."""
    return {name: value for name, value in options.items() if not name.startswith(OF_THE_BASE)}


def attend(*arguments, text="", status=0):
    done = subprocess.run([str(each) for each in [tiny_run.ATTEND, *arguments]], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


@pytest.fixture(name="base", scope="module")
def train_base(options, tmp_path_factory):
    output = tmp_path_factory.mktemp("base") / "run"
    tiny_run.trained(options | {"max_updates": 40, "ema_decay": None, "average_last": 1}, output)
    return output / "model"


@pytest.fixture(name="adapting", scope="module")
def adapter_options(options, base):
    return without_model(options) | {"init": base, "adapter.rank": RANK, "adapter.alpha": ALPHA, "test_source": options["valid_source"],
                                     "test_target": options["valid_target"]}


@pytest.fixture(name="run", scope="module")
def train_adapter(adapting, tmp_path_factory):
    output = tmp_path_factory.mktemp("adapter") / "run"
    tiny_run.trained(adapting, output)
    return output


def config_of(directory):
    return json.loads((directory / "config.json").read_text(encoding="utf-8"))


def test_checkpoints_hold_what_is_learnt_alone(run, base):
    weights = read_safetensors(base / "model.safetensors")
    adapted = [name for name in weights if name.split(".")[-2] in MERGED]
    expected = {name.replace(".weight", f".adapter_{part}") for name in adapted for part in "ab"}
    newest = run / "checkpoints/update-0000000012"
    for file, prefixes in (("weights", [""]), ("average", [""]), ("optimizer", ["first_moment.", "second_moment."])):
        assert set(read_safetensors(newest / f"{file}.safetensors")) == {prefix + name for prefix in prefixes for name in expected}
    state = json.loads((newest / "state.json").read_text(encoding="utf-8"))
    assert state["run"]["options"]["adapter"] == {"rank": RANK, "alpha": ALPHA, "matrices": "query_value"}
    digest = config_of(base)["sha256"]["model.safetensors"]
    assert state["run"]["data_digests"]["init"] == digest and state["run"]["task"]["base"] == str(base)
    found = config_of(run / "adapter")
    assert found["adapter"] == {"base_sha256": digest, "rank": RANK, "alpha": ALPHA, "head": False, "matrices": adapted}
    assert {path.name for path in (run / "adapter").iterdir()} == {"config.json", "adapter.safetensors", "samples.json"}
    assert set(read_safetensors(run / "adapter/adapter.safetensors")) == expected
    assert not (run / "model").exists()


def test_it_learns_and_the_base_stays(run, base, tmp_path):
    losses = [line["validation"]["loss"] for line in tiny_run.metrics(run) if "validation" in line]
    assert losses[-1] < losses[0]
    attend("export", "--adapter", run / "adapter", "--model", base, "--output", tmp_path / "merged", "--quiet")
    before, after = (read_safetensors(directory / "model.safetensors") for directory in (base, tmp_path / "merged"))
    own = read_safetensors(run / "adapter/adapter.safetensors")
    assert list(before) == list(after)
    for name, weight in before.items():
        if name.split(".")[-2] not in MERGED:
            assert weight.tobytes() == after[name].tobytes(), name
            continue
        a, b = (own[name.replace(".weight", f".adapter_{part}")].astype(float) for part in "ab")
        assert numpy.abs(b).max() > 0
        numpy.testing.assert_allclose(after[name], weight + ALPHA / RANK * (b @ a), rtol=0, atol=1e-6, err_msg=name)
    assert (tmp_path / "merged/samples.json").read_bytes() == (run / "adapter/samples.json").read_bytes()


def test_it_runs_as_the_merged_model(run, base, options, tmp_path):
    attend("export", "--adapter", run / "adapter", "--model", base, "--output", tmp_path / "merged", "--quiet")
    attend("quantize", base, "--output", tmp_path / "int8", "--quiet")
    attend("export", "--adapter", run / "adapter", "--model", tmp_path / "int8", "--output", tmp_path / "merged8", "--quiet")
    text = options["valid_source"].read_text(encoding="utf-8")
    for model, merged, more in ((base, "merged", []), (base, "merged", ["--type", "int8"]), (tmp_path / "int8", "merged8", [])):
        found = attend("translate", "--model", model, "--adapter", run / "adapter", "--scores", *more, text=text)
        assert found == attend("translate", "--model", tmp_path / merged, "--scores", *more, text=text)
        assert found != attend("translate", "--model", model, "--scores", *more, text=text)
    # Training tested it so.
    assert (run / "test_output.txt").read_text(encoding="utf-8") == attend(
        "translate", "--model", base, "--adapter", run / "adapter", "--beam-size", "2", text=text)
    for arguments in ([base, "--adapter", run / "adapter"], [tmp_path / "merged"], [tmp_path / "merged8"]):
        result = json.loads(attend("verify", *arguments, "--json"))
        assert result["good"] and result["samples"] == 8
    assert "nothing to replay" in attend("verify", tmp_path / "int8", "--adapter", run / "adapter")


def test_exporting_its_checkpoints_gives_its_adapter(run, base, tmp_path):
    checkpoints = [run / f"checkpoints/update-00000000{update}" for update in ("08", "12")]
    # The samples are LibTorch's, whose sums depend on its threads.
    attend("export", "--checkpoint", *checkpoints, "--output", tmp_path / "adapter", "--threads", "2")
    for file in ("config.json", "adapter.safetensors", "samples.json"):
        assert (tmp_path / "adapter" / file).read_bytes() == (run / "adapter" / file).read_bytes(), file
    away = base.rename(tmp_path / "away")
    try:
        told = attend("export", "--checkpoint", run, "--output", tmp_path / "other", status=3)
        assert f"'{base}', the model that the adapter is for, is not there" in told and "--model" in told
        attend("export", "--checkpoint", *checkpoints, "--model", away, "--output", tmp_path / "other", "--threads", "2")
        assert (tmp_path / "other/config.json").read_bytes() == (run / "adapter/config.json").read_bytes()
        told = attend("export", "--checkpoint", run, "--model", run.parents[1], "--output", tmp_path / "third", status=3)
        assert "is not a model directory" in told or "config.json" in told
    finally:
        away.rename(base)


@pytest.mark.parametrize("kind", ["plain", "streamed", "all", "bf16", "r_drop"])
def test_a_killed_run_resumes_to_the_same_bits(adapting, kind, tmp_path):
    adapting = tiny_run.streamed(adapting, tmp_path) if kind == "streamed" else adapting
    adapting = adapting | {"all": {"adapter.matrices": "all"}, "bf16": {"precision": "bf16"}, "r_drop": {"r_drop": 5}}.get(kind, {})
    adapting = adapting | {"max_updates": 100, "validate_every": 25, "checkpoint_every": 3}
    tiny_run.trained(adapting, tmp_path / "unbroken")
    tiny_run.trained_though_killed(adapting, tmp_path / "run", 20)
    tiny_run.assert_same(tmp_path / "run", tmp_path / "unbroken")


def test_two_ranks_train_as_one_and_resume(adapting, run, tmp_path):
    for more in ({}, {"shard_optimizer": []}):
        output = tmp_path / f"two{len(more)}"
        ranks.trained(adapting | more | {"threads": 1}, output)
        for name, expected in read_safetensors(run / "checkpoints/update-0000000012/weights.safetensors").items():
            found = read_safetensors(output / "checkpoints/update-0000000012/weights.safetensors")[name]
            numpy.testing.assert_allclose(found, expected, rtol=0, atol=1e-4, err_msg=name)
        # Adam's state by its shares, and it goes on.
        ranks.trained(adapting | more | {"threads": 1, "max_updates": 16}, output)
        assert tiny_run.metrics(output)[-1]["update"] == 16


@pytest.mark.parametrize("odd, part", [(1, "adapter.rank is not given"), (0, "adapter.rank is 4, there ")])
def test_all_ranks_train_an_adapter_or_none(adapting, odd, part, tmp_path):
    without = {"adapter.rank": 0, "adapter.alpha": None}
    ended = ranks.finish(ranks.start_ranks(adapting | {"threads": 1}, tmp_path / "run", options_of={odd: without}))
    assert [status for status, _ in ended] == [1, 2] and part in ranks.last_line(ended[1][1]), ended


def test_a_base_that_is_not_as_its_config_says_is_refused(adapting, base, tmp_path):
    own = tmp_path / "own"
    shutil.copytree(base, own)
    weights = bytearray((own / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (own / "model.safetensors").write_bytes(weights)
    tiny_run.refused(tiny_run.train(adapting | {"init": own}, tmp_path / "run"), 3, "is not the file that config.json has the SHA-256 of")
    tiny_run.trained(adapting | {"init": own, "adapter.rank": None, "adapter.alpha": None, "max_updates": 1}, tmp_path / "tuned")


def test_the_base_must_stay_while_an_adapter_is_trained(adapting, base, tmp_path):
    own = tmp_path / "own"
    shutil.copytree(base, own)
    adapting = adapting | {"init": own, "max_updates": 4}
    tiny_run.trained(adapting, tmp_path / "run")
    longer = adapting | {"max_updates": 6}
    moved = own.rename(tmp_path / "moved")
    done = tiny_run.train(longer, tmp_path / "run")
    tiny_run.refused(done, 3, f"'{own}', the model to adapt, is not there any more", "put it back, or name its place with init")
    tiny_run.trained(longer | {"init": moved}, tmp_path / "run")
    attend("export", "--adapter", tmp_path / "run/adapter", "--model", moved, "--output", tmp_path / "changed", "--quiet")
    done = tiny_run.train(longer | {"init": tmp_path / "changed", "max_updates": 8}, tmp_path / "run")
    tiny_run.refused(done, 2, "init, the model to fine-tune, is another or is new")
    for change, part in (({"adapter.rank": 5}, "adapter.rank was 4, now 5"), ({"adapter.alpha": 1}, "adapter.alpha was 6"),
                         ({"adapter.rank": None, "adapter.alpha": None}, "adapter.rank is not given any more")):
        done = tiny_run.train(longer | {"init": moved, "max_updates": 8} | change, tmp_path / "run")
        tiny_run.refused(done, 2, part)


def test_refused_options(adapting, options, tmp_path):
    given = {name: adapting[name] for name in ("adapter.rank", "adapter.alpha")}
    tiny_run.refused(tiny_run.train(options | given, tmp_path / "run"), 2, "adapter.rank is 4, but there is no init")
    without = adapting | {"adapter.rank": None}
    tiny_run.refused(tiny_run.train(without, tmp_path / "run"), 2, "adapter.alpha is given, but adapter.rank is 0")
    tiny_run.refused(tiny_run.train(adapting | {"adapter.rank": -1}, tmp_path / "run"), 2, "adapter.rank")
    tiny_run.refused(tiny_run.train(adapting | {"adapter.matrices": "key"}, tmp_path / "run"), 2, "query_value")


def test_a_dry_run_and_the_report_count_what_is_trained(adapting, run, base):
    plan = json.loads(tiny_run.trained(adapting | {"dry_run": [], "json": []}, "unused").stdout)
    learnt = sum(array.size for array in read_safetensors(run / "adapter/adapter.safetensors").values())
    whole = sum(array.size for array in read_safetensors(base / "model.safetensors").values())
    assert (plan["trained_parameters"], plan["parameters"]) == (learnt, whole)
    assert f'"parameters":{whole + learnt},"trained_parameters":{learnt}' in (run / "report.html").read_text(encoding="utf-8")


def test_rank_0_is_no_adapter(options, base, tmp_path):
    tuning = without_model(options) | {"init": base, "max_updates": 4}
    for name, more in (("plain", {}), ("none", {"adapter.rank": 0})):
        tiny_run.trained(tuning | more, tmp_path / name)
    tiny_run.assert_same(tmp_path / "none", tmp_path / "plain")
    state = (tmp_path / "none/checkpoints/update-0000000004/state.json").read_text(encoding="utf-8")
    assert '"adapter"' not in state and "adapter" not in (tmp_path / "none/config.toml").read_text(encoding="utf-8")
    assert "adapter" not in config_of(tmp_path / "none/model")


def masked_base(folder):
    masked_language_model_test.write_text(folder / "train.txt", 1, 200)
    options = {"task": "masked_language_model", "preset": "bert-tiny", "train_text": folder / "train.txt", "vocab_type": "word", "vocab_size": 40,
               "context_tokens": 16, "encoder.layers": 2, "encoder.d_model": 32, "encoder.heads": 4, "encoder.d_ff": 64,
               "encoder.max_positions": 40, "batch_tokens": 576, "threads": 2, "schedule": "constant", "peak_learning_rate": 0.003,
               "warmup_updates": 0, "max_updates": 20, "average_last": 1}
    tiny_run.trained(options, folder / "base")
    return options, folder / "base/model"


@pytest.mark.parametrize("task", ["tagging", "tagging-crf", "classification"])
def test_labels_get_a_head_of_their_own(task, tmp_path):
    _, base = masked_base(tmp_path)
    text = tmp_path / "text"
    text.mkdir()
    options = without_model(labels_test.make_options(task, text)) | {"init": base, "adapter.rank": RANK, "adapter.matrices": "all", "max_updates": 6,
                                                             "validate_every": 3, "checkpoint_every": 3}
    for path in text.iterdir():
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("".join(masked_language_model_test.in_known_words(line) + "\n" for line in lines), encoding="utf-8")
    tiny_run.trained(options, tmp_path / "run")
    adapter = tmp_path / "run/adapter"
    config = config_of(adapter)
    assert config["adapter"]["head"] and len(config["adapter"]["matrices"]) == 2 * 6 and config["model"]["labels"]
    own = read_safetensors(adapter / "adapter.safetensors")
    assert {"head.weight", "head.bias"} <= set(own) and ("head.transitions" in own) == (task == "tagging-crf")
    assert "head.weight" in read_safetensors(tmp_path / "run/checkpoints/update-0000000006/weights.safetensors")
    assert json.loads(attend("verify", base, "--adapter", adapter, "--json"))["good"]
    attend("export", "--adapter", adapter, "--model", base, "--output", tmp_path / "merged", "--quiet")
    command, line = ("classify", "red apple") if task == "classification" else ("tag", "red apple in green grass")
    found = attend(command, "--model", base, "--adapter", adapter, "--json", text=line)
    assert found == attend(command, "--model", tmp_path / "merged", "--json", text=line)
    assert attend("embed", "--model", base, "--adapter", adapter, text=line) == attend("embed", "--model", tmp_path / "merged", text=line)


def test_a_masked_language_model_is_adapted(tmp_path):
    options, base = masked_base(tmp_path)
    masked_language_model_test.write_text(tmp_path / "other.txt", 9, 40)
    text = {"train_text": tmp_path / "other.txt", "valid_text": tmp_path / "other.txt", "test_text": tmp_path / "other.txt"}
    tiny_run.trained(without_model(options) | text | {"init": base, "adapter.rank": 2, "max_updates": 6, "validate_every": 3}, tmp_path / "run")
    validated = [line["validation"]["loss"] for line in tiny_run.metrics(tmp_path / "run") if "validation" in line]
    scores = json.loads((tmp_path / "run/result.json").read_text(encoding="utf-8"))
    assert scores["loss"] == pytest.approx(validated[-1], rel=0.2)
    adapter = tmp_path / "run/adapter"
    assert json.loads(attend("verify", base, "--adapter", adapter, "--json"))["good"]
    attend("export", "--adapter", adapter, "--model", base, "--output", tmp_path / "merged", "--quiet")
    found = attend("fill", "red [MASK]", "--model", base, "--adapter", adapter, "--json")
    assert found == attend("fill", "red [MASK]", "--model", tmp_path / "merged", "--json")


def test_a_language_model_is_adapted(tmp_path):
    for name, seed in (("train", 1), ("other", 5)):
        masked_language_model_test.write_text(tmp_path / f"{name}.txt", seed, 100)
    options = {"task": "language_model", "preset": "gpt-char", "train_text": tmp_path / "train.txt", "valid_text": tmp_path / "other.txt",
               "vocab_type": "word", "vocab_size": 26, "decoder.layers": 2, "decoder.d_model": 32, "decoder.heads": 4, "decoder.d_ff": 64,
               "decoder.max_positions": 40, "context_tokens": 16, "batch_tokens": 256, "threads": 1, "schedule": "constant", "peak_learning_rate": 0.003,
               "warmup_updates": 0, "max_updates": 20, "validate_every": 10, "average_last": 1}
    tiny_run.trained(options, tmp_path / "base")
    base = tmp_path / "base/model"
    more = {"train_text": tmp_path / "other.txt", "test_text": tmp_path / "other.txt", "init": base, "adapter.rank": 2, "max_updates": 10}
    tiny_run.trained(without_model(options) | more, tmp_path / "run")
    adapter = tmp_path / "run/adapter"
    assert json.loads(attend("verify", base, "--adapter", adapter, "--json"))["good"]
    attend("export", "--adapter", adapter, "--model", base, "--output", tmp_path / "merged", "--quiet")
    found = attend("generate", "red", "--model", base, "--adapter", adapter, "--json", "--max-tokens", "9")
    assert found == attend("generate", "red", "--model", tmp_path / "merged", "--json", "--max-tokens", "9")
    scored = attend("score", "--model", base, "--adapter", adapter, "--input", tmp_path / "train.txt")
    assert scored == attend("score", "--model", tmp_path / "merged", "--input", tmp_path / "train.txt")
    assert scored != attend("score", "--model", base, "--input", tmp_path / "train.txt")


def test_the_base_of_an_adapter_may_be_named_by_a_short_path(adapting, base, tmp_path, monkeypatch):
    monkeypatch.chdir(base.parent)
    tiny_run.trained(adapting | {"init": pathlib.Path("model"), "max_updates": 2}, tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    attend("export", "--checkpoint", tmp_path / "run", "--output", tmp_path / "adapter")
    assert config_of(tmp_path / "adapter")["adapter"]["base_sha256"] == config_of(base)["sha256"]["model.safetensors"]
