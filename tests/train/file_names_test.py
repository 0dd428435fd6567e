"""Pictures and recordings whose files are not named in UTF-8, as older systems left them."""

import json
import os

import pytest
import tiny_run

LATIN = os.fsdecode(b"caf\xe9")
SHORT = {"max_updates": 2, "validate_every": 2, "checkpoint_every": 2, "average_last": 1, "report_every": 2}


def folder_of_pictures(folder, labels):
    """Pictures with such names, in a folder for each label."""
    tiny_run.write_items(folder, "drawn", 24, 1)
    for number, picture in enumerate(sorted((folder / "drawn").iterdir())):
        of_label = folder / "pictures" / labels[number % 2]
        of_label.mkdir(parents=True, exist_ok=True)
        picture.rename(of_label / f"{LATIN}{number}.png")
    return folder / "pictures"


def assert_names_are_repaired(output):
    """In the samples of validation, and in the model's."""
    shown = json.loads((output / "samples.jsonl").read_text(encoding="utf-8").splitlines()[-1])["samples"]
    samples = json.loads((output / "model/samples.json").read_text(encoding="utf-8"))
    assert shown[0]["input"].startswith("caf\ufffd") and samples[0]["source"].startswith("caf\ufffd")


def test_pictures(options, tmp_path):
    pictures = folder_of_pictures(tmp_path, ["even", "odd"])
    given = tiny_run.of_pictures(options, tmp_path) | SHORT | {"train_pictures": pictures, "valid_pictures": pictures}
    tiny_run.trained(given, tmp_path / "run")
    assert_names_are_repaired(tmp_path / "run")


@pytest.mark.parametrize("table", [False, True])
def test_a_label_is_utf8(options, tmp_path, table):
    pictures = folder_of_pictures(tmp_path, ["even", LATIN])
    if table:
        lines = (f"{picture.parent.name}/{picture.name}\t{picture.parent.name}\n" for picture in sorted(pictures.rglob("*.png")))
        (pictures / "all.tsv").write_bytes(os.fsencode("".join(lines)))
    given = tiny_run.of_pictures(options, tmp_path) | SHORT
    given |= {"train_pictures": pictures / "all.tsv" if table else pictures, "valid_pictures": None}
    tiny_run.refused(tiny_run.train(given, tmp_path / "run"), 3, "the label 'caf\\xE9' of '", "pictures/caf\\xE9/caf\\xE9", "rename its folder")


def test_recordings(options, tmp_path):
    given = tiny_run.of_recordings(options, tmp_path) | SHORT
    for part in ("train", "valid"):
        recording = tmp_path / part / "0.wav"
        recording.rename(recording.with_name(LATIN + ".wav"))
        table = given[f"{part}_recordings"]
        table.write_bytes(table.read_bytes().replace(f"{part}/0.wav".encode(), os.fsencode(f"{part}/{LATIN}.wav")))
    tiny_run.trained(given, tmp_path / "run")
    assert_names_are_repaired(tmp_path / "run")
