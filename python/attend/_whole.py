"""Folders and files that appear whole or not at all, where Ctrl-C ends a command too."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator

_unfinished: set[pathlib.Path] = set()


@contextlib.contextmanager
def whole(target: pathlib.Path) -> Iterator[pathlib.Path]:
    """A path beside `target` for a folder or a file that takes this name at the end."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}.") as name:
        folder = pathlib.Path(name)
        _unfinished.add(folder)
        try:
            yield folder / "new"
            (folder / "new").rename(target)
        finally:
            _unfinished.discard(folder)


def interruptible(name: str, work: Callable[[], None]) -> None:
    """Does the work in a thread, so that Ctrl-C ends the program at once, in the midst of a long call of C++ too: with a line and the
    status 130, and nothing of what was begun."""
    errors: list[BaseException] = []

    def collect() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        sys.stdout.flush()
        for folder in list(_unfinished):
            while folder.exists():  # the thread may still write there
                shutil.rmtree(folder, ignore_errors=True)
        print(f"{name}: interrupted; nothing was written", file=sys.stderr, flush=True)
        os._exit(130)
    for error in errors:
        raise error
