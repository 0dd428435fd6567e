"""Manual pages and shell completion: what the shells and the linters themselves say of them."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = (ROOT / "docs/options.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^## attend (.*)$", OPTIONS, flags=re.M)


def run(*command, **more):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout + done.stderr


def need(program):
    return shutil.which(program) or pytest.skip(f"{program} is not installed")


@pytest.fixture(name="pages", scope="module")
def make_pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man")
    run(sys.executable, ROOT / "tools/man_pages", folder, env={**os.environ, "SOURCE_DATE_EPOCH": "86400"})
    return folder


@pytest.fixture(name="completions", scope="module")
def make_completions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completions")
    run(sys.executable, ROOT / "tools/completions", folder)
    return folder


def test_each_command_has_a_page(pages):
    names = {path.name for path in pages.iterdir()}
    assert names == {"attend.1"} | {f"attend-{name.replace(' ', '-')}.1" for name in COMMANDS}
    assert '"1970-01-02"' in (pages / "attend.1").read_text(encoding="utf-8")


def test_mandoc_has_no_warning(pages):
    need("mandoc")
    run("mandoc", "-Tlint", "-W", "warning", *sorted(pages.iterdir()))


def test_man_shows_each_option_as_it_is_typed(pages):
    need("man")
    for command in ("translate", "train", "bench encode"):
        page = pages / f"attend-{command.replace(' ', '-')}.1"
        shown = run("man", "--warnings", "-l", page, env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "200"})
        assert "warning:" not in shown
        part = OPTIONS.split(f"## attend {command}\n")[1].split("\n## ")[0]
        for option in re.findall(r"^\| `(--[^`]+)`", part, flags=re.M):
            assert re.search(rf"^ +{re.escape(option)}\b", shown, flags=re.M), option


# What is typed, words that must be offered, and words that may not.
CASES = [
    ("attend tr", {"train", "transcribe", "translate"}, {"tag"}),
    ("attend bench ", {"translate", "layers"}, {"serve"}),
    ("attend serve --mo", {"--model", "--models-dir"}, {"--input"}),
    ("attend translate --beam", {"--beam-size"}, {"--beam"}),
    ("attend translate --type ", {"stored", "f32", "int8"}, {"true"}),
    ("attend bench encode --pre", {"--preset"}, {"--prompts"}),
    ("attend train --task t", {"translation", "tagging", "transcription"}, {"parsing"}),
    ("attend score --input sec", {"second.txt"}, {"--input"}),
]


def in_bash(completions, line):
    script = f"""source {completions}/attend; COMP_WORDS=({line.replace("$", "")}{'""' if line.endswith(' ') else ''})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _attend
[[ ${{#COMPREPLY[@]}} != 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}")
printf '%s\\n' "${{COMPREPLY[@]}}" """
    return ["bash", "--norc", "-c", script]


def in_fish(completions, line):
    return ["fish", "--no-config", "-c", f"source {completions}/attend.fish; complete -C '{line}'"]


def in_zsh(completions, line):
    """A terminal of its own, since zsh completes in its line editor alone."""
    return [sys.executable, pathlib.Path(__file__).with_name("zsh_completions.py"), completions, line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shells_complete(completions, shell, tmp_path):
    need(shell)
    (tmp_path / "second.txt").touch()
    file = completions / {"bash": "attend", "zsh": "_attend", "fish": "attend.fish"}[shell]
    run(shell, "--no-execute" if shell == "fish" else "-n", file)
    for line, offered, not_offered in CASES:
        shown = run(*{"bash": in_bash, "zsh": in_zsh, "fish": in_fish}[shell](completions, line), cwd=tmp_path)
        words = {word.split("=")[0] for word in re.split(r"\s+", shown)}
        assert offered <= words, (line, shown)
        first = {row.split("\t")[0].split()[0] for row in shown.splitlines() if row.strip()}
        assert not not_offered & first, (line, shown)
