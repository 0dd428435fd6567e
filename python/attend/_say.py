"""Lines that commands write: what is foreign in them neither makes lines of its own nor drives a terminal."""

from __future__ import annotations

import sys

from attend._attend import printable


def say(text: str) -> None:
    """A line of the result."""
    print(printable(text), flush=True)


def complain(text: str) -> None:
    """A line that is no result: an error, a warning, progress."""
    sys.stdout.flush()
    print(printable(text), file=sys.stderr, flush=True)
