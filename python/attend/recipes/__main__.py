"""`attend distill` and `attend back-translate`, which run this module with their options as one JSON object."""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

from attend._command import status_of
from attend.recipes import BackTranslation, Distillation

COMMANDS: dict[str, Any] = {"distill": Distillation, "back-translate": BackTranslation}


def main(options: dict[str, Any]) -> int:
    """With all options of the command, as the program declares them."""
    command = options.pop("command")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return status_of(f"attend {command}", options["output"], lambda: COMMANDS[command](**options).run())
    except (KeyboardInterrupt, SystemExit) as end:
        print(f"attend {command}: interrupted; the same call goes on from there", file=sys.stderr)
        return 130 if isinstance(end, KeyboardInterrupt) else 143


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
