"""Packages that only some parts of attend take."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def needed(what: str, install: str) -> Iterator[None]:
    """For the imports of what `what` needs: an error names the package that is missing, and what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]  # not a module of it
        raise ModuleNotFoundError(f"{what} needs the package {package}: pip install {install}", name=package) from error
