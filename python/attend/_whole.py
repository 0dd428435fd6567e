"""Folders and files that appear whole or not at all, where a signal ends a command too."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

from attend._say import complain

_unfinished: set[pathlib.Path] = set()
_finished: list[pathlib.Path] = []


@contextlib.contextmanager
def whole(target: pathlib.Path) -> Iterator[pathlib.Path]:
    """A path for a folder or a file that takes the name `target` at the end, once the disk has it. A link stays one, and its target changes; what
    is no file, such as /dev/stdout, gets the bytes of the file."""
    special = target.exists() and not target.is_file() and not target.is_dir()
    if not special:
        target = pathlib.Path(os.path.realpath(target))
        target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=None if special else target.parent, prefix=f"{target.name}.") as name:
        folder = pathlib.Path(name)
        _unfinished.add(folder)
        try:
            yield folder / "new"
            if special:
                with (folder / "new").open("rb") as made, target.open("wb") as file:
                    shutil.copyfileobj(made, file)
            else:
                for path in (folder / "new", *(folder / "new").rglob("*")):
                    _sync(path)
                (folder / "new").rename(target)
                _sync(target.parent)
            _finished.append(target)
        finally:
            _unfinished.discard(folder)


def _sync(path: pathlib.Path) -> None:
    """Has the disk hold a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def interruptible(name: str, work: Callable[[], None]) -> None:
    """Does the work in a thread, so that SIGINT (Ctrl-C) and SIGTERM end the program at once, in the midst of a long call of C++ too: with a
    line, the status 130 or 143, and nothing of what was begun."""
    errors: list[BaseException] = []

    def collect() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    stopped: list[int] = []

    def stop(number: int, _: Any) -> None:
        if stopped:  # by a signal whose work goes on
            return
        stopped.append(number)
        for folder in list(_unfinished):
            while folder.exists():  # the thread may still write there
                shutil.rmtree(folder, ignore_errors=True)
        complain(f"{name}: interrupted; {'what it wrote before is whole' if _finished else 'nothing was written'}")
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    thread.join()
    for error in errors:
        raise error
