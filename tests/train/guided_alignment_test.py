"""Guided alignment: what the cross-attention of one layer learns of word alignments, and where the model says so."""

import json
import subprocess

import pytest
import tiny_run

LONG = {"max_updates": 150, "validate_every": 150, "checkpoint_every": 150, "bpe_dropout": None, "decoder.layers": 3}


def error_rate(run, options, folder, *more):
    """Of the run's model on its validation text, whose words are translated one by one."""
    score = [tiny_run.ATTEND, "score", "--model", run / "model", "--alignments", "--quiet", *more]
    texts = ["--source", options["valid_source"], "--target", options["valid_target"]]
    found = subprocess.run([*score, *texts], capture_output=True, text=True, check=True).stdout
    (folder / "found").write_text(found, encoding="utf-8")
    lines = options["valid_source"].read_text(encoding="utf-8").splitlines()
    right = "".join(" ".join(f"{i}-{i}" for i in range(len(line.split()))) + "\n" for line in lines)
    (folder / "right").write_text(right, encoding="utf-8")
    evaluate = [tiny_run.ATTEND, "evaluate", "--metrics", "aer", "--json", "--hypothesis", folder / "found", "--reference", folder / "right"]
    return json.loads(subprocess.run(evaluate, capture_output=True, text=True, check=True).stdout)["aer"]["score"]


def layer_of(run):
    return json.loads((run / "model/config.json").read_text(encoding="utf-8"))["model"]["alignment_layer"]


def test_one_layer_learns_the_links(options, tmp_path):
    guided = options | LONG | tiny_run.guided(options, tmp_path)
    tiny_run.trained(guided, tmp_path / "guided")
    tiny_run.trained(options | LONG, tmp_path / "plain")
    assert layer_of(tmp_path / "guided") == 2 and layer_of(tmp_path / "plain") == 0
    learned = error_rate(tmp_path / "guided", options, tmp_path)
    assert learned == error_rate(tmp_path / "guided", options, tmp_path, "--alignment-layer", "2")
    assert learned < 10 < error_rate(tmp_path / "plain", options, tmp_path)
    assert learned < error_rate(tmp_path / "guided", options, tmp_path, "--alignment-layer", "3")
    subprocess.run([tiny_run.ATTEND, "verify", tmp_path / "guided/model"], check=True, capture_output=True)
    told = subprocess.run([tiny_run.ATTEND, "inspect", tmp_path / "guided/model"], check=True, capture_output=True, text=True).stdout
    assert "from decoder layer 2" in told
    # A run that goes on from the model keeps the layer, guided or not.
    short = options | {name: None for name in ("vocab", "encoder.layers", "encoder.d_model", "encoder.heads", "encoder.d_ff", "decoder.layers",
                                               "decoder.d_model", "decoder.heads", "decoder.d_ff")}
    tiny_run.trained(short | {"init": tmp_path / "guided/model"}, tmp_path / "on")
    assert layer_of(tmp_path / "on") == 2


def test_streamed_text_has_links_too(options, tmp_path):
    """BPE-dropout cuts the words otherwise in each epoch."""
    guided = options | LONG | tiny_run.guided(options, tmp_path) | {"guided_alignment_layer": 1, "bpe_dropout": 0.2}
    tiny_run.trained(guided, tmp_path / "run")
    assert layer_of(tmp_path / "run") == 1
    assert error_rate(tmp_path / "run", options, tmp_path) < 40


@pytest.mark.parametrize(("change", "status", "part"), [
    ({"guided_alignment_weight": 0}, 2, "train_alignments is given, but guided_alignment_weight is 0; set it (0.5 is usual)"),
    ({"train_alignments": None}, 2, "guided_alignment_weight needs train_alignments, the words' links; `attend align` makes them"),
    ({"guided_alignment_layer": 2}, 2, "guided_alignment_layer is 2, expected at most 1, the decoder's layers"),
    ({"architecture": "lstm"}, 2, "architecture is lstm; it is for transformers"),
    ({"protect": "numbers"}, 2, "guided_alignment_weight and protect exclude each other"),
])
def test_what_does_not_go_together_is_refused(options, tmp_path, change, status, part):
    guided = options | tiny_run.guided(options, tmp_path) | change
    if change.get("architecture"):
        guided = {name: value for name, value in guided.items() if not name.endswith((".heads", ".d_ff", ".layers"))}
    tiny_run.refused(tiny_run.train(guided, tmp_path / "run"), status, part)


def test_links_of_other_text_are_refused(options, tmp_path):
    guided = tiny_run.guided(options, tmp_path)
    links = guided["train_alignments"]
    lines = links.read_text(encoding="utf-8").splitlines(keepends=True)
    links.write_text("".join([*lines[:4], "0-9\n", *lines[5:]]), encoding="utf-8")
    tiny_run.refused(tiny_run.train(options | guided, tmp_path / "run"), 3, f"{links}:5: a link names word 9 of the target")
    links.write_text("".join(lines[:-1]), encoding="utf-8")
    tiny_run.refused(tiny_run.train(options | guided, tmp_path / "run"), 3, "has 160 lines but", "has 159")
