"""Whether test texts tell runs apart: paired bootstrap resampling, as `attend evaluate --baseline` has it."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any

from attend._errors import InputError, RunError
from attend._train import find_program
from attend._trained_run import TrainedRun

TEXT_METRICS = ("bleu", "chrf", "chrf++", "ter", "exact_match", "wer", "cer")


@dataclass(frozen=True)
class Tested:
    """A line for each thing that the test asked for."""

    outputs: list[str]
    references: list[str]
    metrics: tuple[str, ...]
    options: tuple[str, ...] = ()  # of `attend evaluate`
    label: str = ""  # of exact matches, where they count something else


def tested(run: TrainedRun) -> Tested | str:
    """Or why there is none."""
    output = run.path / "test_output.txt"
    if not output.is_file():
        return "it kept no output of a test"
    lines = _read(output)
    if run.task == "tagging":
        sentences = [[row.split("\t") for row in block.split("\n")] for block in "\n".join(lines).strip("\n").split("\n\n")]
        found, expected = ([" ".join(row[column] for row in rows) for rows in sentences] for column in (2, 1))
        return Tested(found, expected, ("exact_match",), label="% of sentences with every label right")
    if run.task in ("classification", "fusion"):
        rows = [line.split("\t") for line in lines]
        return Tested([row[1] for row in rows], [row[0] for row in rows], ("exact_match",), label="accuracy, %")
    kept = run.path / "test_reference.txt"
    files = [kept] if kept.is_file() else [pathlib.Path(name) for name in run.options.get("test_target", [])]
    if missing := [str(file) for file in files if not file.is_file()]:
        return f"'{missing[0]}', which it was tested on, is not there" + ("" if pathlib.Path(missing[0]).is_absolute() else "; a relative path starts here")
    references = [line for file in files for line in _read(file)]
    if len(references) != len(lines):
        return f"'{output}' has {len(lines)} lines and its reference {len(references)}, expected the same: the test text is another one now"
    metrics = tuple(name for name in TEXT_METRICS if name in run.test)
    return Tested(lines, references, metrics, _as_scored(run)) if metrics else "it has no scores of a test"


def _read(path: pathlib.Path) -> list[str]:
    if path.suffix in (".gz", ".zst"):
        from attend import read_lines  # noqa: PLC0415

        return list(read_lines(path))
    return path.read_text(encoding="utf-8", errors="replace").removesuffix("\n").split("\n")


def _as_scored(run: TrainedRun) -> tuple[str, ...]:
    """The options behind the signatures of result.json."""
    signatures = {name: value["signature"] for name, value in run.test.items() if isinstance(value, dict) and "signature" in value}
    # TER never minds capitals.
    options = ["--lowercase"] if any("case:lc" in text for name, text in signatures.items() if name != "ter") else []
    if tokens := re.search(r"\btok:([^|]+)", signatures.get("bleu", "")):
        options += ["--tokenize", tokens[1]]
        if model := run.options.get("tokenize_model"):
            options += ["--tokenize-model", model]
    return tuple(options)


def against(baseline: Tested, other: Tested, samples: int, seed: int) -> dict[str, dict[str, Any]] | str:
    """What `attend evaluate` says of each metric of the other run, the baseline's beside it; or why they can't be compared. Equal scores have no p-value."""
    if baseline.references != other.references:
        return "it was tested on another text than the first run"
    if baseline.options != other.options:
        return "its test was scored in another way than the first run's: " + " ".join(other.options)
    metrics = [name for name in baseline.metrics if name in other.metrics]
    if not metrics:
        return "its test has no score in common with the first run's"
    with tempfile.TemporaryDirectory(prefix="attend-compare-") as folder:
        files = {}
        for name, lines in (("baseline", baseline.outputs), ("hypothesis", other.outputs), ("reference", baseline.references)):
            files[name] = pathlib.Path(folder) / name
            files[name].write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        command = [find_program(trains=False), "evaluate", "--json", "--quiet", "--width", "4", "--metrics", ",".join(metrics),
                   f"--bootstrap-samples={samples}", f"--seed={seed}", *baseline.options]
        done = subprocess.run([*command, *(part for name, path in files.items() for part in (f"--{name}", str(path)))],
                              capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        message = done.stderr.strip().rpartition("\n")[2].removeprefix("attend: ")
        raise (InputError if done.returncode == 3 else RunError)(f"attend evaluate: {message}")
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    for score in found.values():
        if score["score"] == score["baseline"]["score"]:
            score["p_value"] = None  # the test, which is sacreBLEU's, calls no difference the rarest one
    return found
