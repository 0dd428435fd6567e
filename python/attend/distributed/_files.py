"""Files of this machine and of object stores, by pyarrow.fs."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow.fs
from attend._errors import InputError


class Input(NamedTuple):
    """A file to read."""

    files: pyarrow.fs.FileSystem
    path: str
    size: int  # bytes
    changed: int  # nanoseconds since 1970

    def __str__(self) -> str:
        return f"'{self.path}'"


def locate(path: str | os.PathLike[str]) -> tuple[pyarrow.fs.FileSystem, str]:
    """Where a path (of this machine) or an address such as s3://bucket/folder leads."""
    text = os.fspath(path)
    if "://" in text:
        files, place = pyarrow.fs.FileSystem.from_uri(text)
        return files, place
    return pyarrow.fs.LocalFileSystem(), os.path.abspath(text)


def _hidden(name: str) -> bool:
    """As readers of folders agree: of a job, not of its data."""
    return name.startswith(("_", "."))


def inputs_of(paths: Sequence[str | os.PathLike[str]]) -> list[Input]:
    """The files, and those in the folders by name, in order."""
    found = []
    for path in paths:
        files, place = locate(path)
        about = files.get_file_info(place)
        if about.type == pyarrow.fs.FileType.NotFound:
            raise InputError(f"'{path}' does not exist; expected a file or a folder of files")
        if about.type == pyarrow.fs.FileType.File:
            found.append(Input(files, about.path, about.size, about.mtime_ns))
        else:
            found += _inside(files, place)
    if not found:
        raise InputError(f"there are no files in {', '.join(repr(os.fspath(path)) for path in paths)}; expected at least one")
    return found


def _inside(files: pyarrow.fs.FileSystem, folder: str) -> Iterator[Input]:
    """Files of a folder, by name."""
    for each in sorted(files.get_file_info(pyarrow.fs.FileSelector(folder)), key=lambda each: each.path):
        if _hidden(each.base_name):
            continue
        if each.type == pyarrow.fs.FileType.Directory:
            raise InputError(
                f"the folder '{folder}' has a folder '{each.base_name}' in it, expected files alone; name each folder of files as an input")
        yield Input(files, each.path, each.size, each.mtime_ns)


@contextlib.contextmanager
def whole_file(files: pyarrow.fs.FileSystem, path: str) -> Iterator[Any]:
    """A stream whose bytes become the file `path` at the end, and only there. What others of the same name write is replaced."""
    folder, _, name = path.rpartition("/")
    temporary = f"{folder}/_{name}.{uuid.uuid4().hex}"
    try:
        with files.open_output_stream(temporary) as stream:
            yield stream
        if isinstance(files, pyarrow.fs.LocalFileSystem):
            with open(temporary, "rb") as written:
                os.fsync(written.fileno())  # before the name, so that a machine that fails leaves no empty file of it
        files.move(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            files.delete_file(temporary)
        raise
