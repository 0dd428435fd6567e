"""`attend compare RUN...`, which runs this module with its options as one JSON object."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

from attend._command import run
from attend._report import write_whole
from attend._say import complain
from attend.compare import compare


def _compare(options: dict[str, Any]) -> None:
    output = options["output"] and pathlib.Path(options["output"])
    report = compare(options["runs"], plots=bool(output), bootstrap_samples=options["bootstrap_samples"], seed=options["seed"])
    if output:
        write_whole(output, report.html())
    if options["json"]:
        print(json.dumps(report.data))
    elif not (output and options["quiet"]):
        print(report.plain(), end="")
    if output and not options["quiet"]:
        complain(f"wrote {output}")


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    sys.exit(run("attend compare", " ".join(given["runs"]), lambda: _compare(given)))
