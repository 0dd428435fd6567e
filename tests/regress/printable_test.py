"""Errors and logs quoted foreign names with their line ends and control characters: they forged lines and drove terminals."""

import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import unicodedata

import pytest
import random_models

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/http"))
from server import ATTEND, BUILD, MODEL, serving  # noqa: E402

sys.path.append(str(BUILD / "python"))

HOSTILE = "x\nattend: all is well\r\x1b]0;owned\x07\x7f\u0085\u009b31m\u2028\u2029\u202e\u2066y"
BIDI = {"\u061c", "\u200e", "\u200f", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}


def is_printable(line):
    return all(unicodedata.category(c) not in ("Cc", "Zl", "Zp", "Cs") and c not in BIDI for c in line)


def failing(*arguments, cwd=None, stdin=""):
    """The one line of standard error."""
    done = subprocess.run([ATTEND, *arguments], input=stdin.encode(), cwd=cwd, capture_output=True, timeout=120, check=False)
    assert done.returncode in (1, 2, 3), done
    message = done.stderr.decode("utf-8")  # raises for what is not UTF-8
    assert message.endswith("\n") and is_printable(message[:-1]), message
    return message


def copied(folder, change_config=None, change_header=None):
    folder.mkdir()
    for file in MODEL.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    config = json.loads((MODEL / "config.json").read_text(encoding="utf-8"))
    if change_header:
        weights = (MODEL / "model.safetensors").read_bytes()
        end = 8 + struct.unpack("<Q", weights[:8])[0]
        header = change_header(weights[8:end].decode("utf-8")).encode("utf-8", "surrogateescape")
        header += b" " * (-len(header) % 8)
        weights = struct.pack("<Q", len(header)) + header + weights[end:]
        (folder / "model.safetensors").write_bytes(weights)
        config["sha256"]["model.safetensors"] = hashlib.sha256(weights).hexdigest()
    if change_config:
        change_config(config)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


NAME = "encoder.layers.0.self_attention.query.weight"


@pytest.mark.parametrize("name", [json.dumps(HOSTILE)[1:-1], HOSTILE.translate({i: None for i in range(32)}), "\udcff\udcc0"])
def test_tensor_names(tmp_path, name):
    model = copied(tmp_path / "model", change_header=lambda header: header.replace(NAME, name).replace("F32", name))
    for command in ("translate", "inspect", "verify"):
        failing(command, *(["--model"] if command == "translate" else []), str(model))


@pytest.mark.parametrize("change", [
    lambda config: config.update({HOSTILE: 1}), lambda config: config["model"].update({HOSTILE: 1}),
    lambda config: config["sha256"].update({HOSTILE: "0" * 64}), lambda config: config["sha256"].update({"vocab.spm": HOSTILE}),
], ids=range(4))
def test_members_of_a_configuration(tmp_path, change):
    failing("translate", "--model", str(copied(tmp_path / "model", change)))


@pytest.mark.parametrize("name", [HOSTILE, "a\nb", "\udcff\udcfe"])
def test_file_names(tmp_path, name):
    name = name.replace("/", "")
    for arguments in (["translate", "--model", name], ["inspect", name], ["vocab", "--input", name, "--size", "10", "--output", "v"],
                      ["translate", "--model", str(MODEL), "--input", name], [name], ["translate", "--" + name],
                      ["evaluate", "--reference", name, "--hypothesis", name], ["serve", "--model", name],
                      ["serve", "--model", str(MODEL), "--api-keys", name], ["serve", "--model", str(MODEL), "--host", name]):
        failing(*arguments, cwd=tmp_path)


def test_what_inspect_shows(tmp_path):
    def change(config):
        config["model"]["languages"] = [HOSTILE, "en"]
        config["provenance"] = {HOSTILE: HOSTILE, "more": [HOSTILE]}

    model = copied(tmp_path / "model", change)
    for option in ([], ["--json"]):
        done = subprocess.run([ATTEND, "inspect", model, *option], capture_output=True, encoding="utf-8", timeout=120, check=True)
        assert all(is_printable(line) for line in done.stdout.split("\n")), done.stdout
    assert json.loads(done.stdout)["provenance"] == {HOSTILE: HOSTILE, "more": [HOSTILE]}


def test_tensors_of_an_adapter_that_inspect_shows(tmp_path):
    """An adapter's head may have tensors of any name."""
    adapter = random_models.write_adapter(tmp_path / "adapter", MODEL)
    config = json.loads((adapter / "config.json").read_text(encoding="utf-8"))
    weights = (adapter / "adapter.safetensors").read_bytes()
    end = 8 + struct.unpack("<Q", weights[:8])[0]
    header = json.loads(weights[8:end])
    header[f"head.{HOSTILE}"] = {"dtype": "F32", "shape": [1], "data_offsets": [len(weights) - end, len(weights) - end + 4]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    weights = struct.pack("<Q", len(text)) + text + weights[end:] + bytes(4)
    (adapter / "adapter.safetensors").write_bytes(weights)
    config["adapter"]["head"] = True
    config["sha256"]["adapter.safetensors"] = hashlib.sha256(weights).hexdigest()
    (adapter / "config.json").write_text(json.dumps(config), encoding="utf-8")
    done = subprocess.run([ATTEND, "inspect", adapter], capture_output=True, encoding="utf-8", timeout=120, check=True)
    assert "all is well" in done.stdout and all(is_printable(line) for line in done.stdout.split("\n")), done.stdout


def test_python_exceptions(tmp_path):
    attend = pytest.importorskip("attend", reason="the Python package is not built")
    for name in (HOSTILE, "\udcff"):
        with pytest.raises(attend.Error) as caught:
            attend.Translator(os.path.join(tmp_path, name))
        assert is_printable(str(caught.value))


def test_logs_and_answers_of_the_service(tmp_path):
    with serving(tmp_path, "--log-text") as server:
        for body in ({"text": HOSTILE}, {"text": "a", "model": HOSTILE}, {"text": "a", HOSTILE: 1}, {"text": "a", "priority": HOSTILE}):
            status, answer = server.post("/v1/translate", body)
            assert status == 200 or is_printable(answer["error"])
        for body in ({"q": "a", "source": HOSTILE, "target": HOSTILE}, {"q": "a", "target": "su", "format": HOSTILE}):
            assert is_printable(server.post("/translate", body)[1]["error"])
        for header in (b"Content-Type: \x9b\xc2\x9b", b"Authorization: \xff\xc2\x85", b"X-Request-Id: \xc2\x85\xe2\x80\xae"):
            answer = server.raw(b"POST /translate?q=%0a%c2%9b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n" + header + b"\r\n\r\n{}")
            assert is_printable(json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"])
        server.wait_for("request", 8)
        log = server.log.read_text(encoding="utf-8")
        assert all(is_printable(line) for line in log.split("\n")), log
        assert HOSTILE + "\n" in [event.get("text") for event in server.events()]
