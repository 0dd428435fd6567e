"""Documents that are ZIP archives, of which some parts are written anew and all others are copied."""

from __future__ import annotations

import copy
import pathlib
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import IO

from attend._errors import InputError
from attend.documents._xml import MOST_BYTES

_MOST_PARTS = 20_000
_MOST_READ = 200 << 20  # bytes of the parts that are read into memory
_MOST_UNPACKED = 2 << 30  # bytes of all parts
# Archives that unpack to much more than they are hold nothing that people wrote.
_MOST_GROWTH, _SMALL = 200, 32 << 20
_BLOCK = 1 << 16  # bytes that are unpacked at once
# All that the formats know. A block of another one, which zipfile unpacks whole, may become gigabytes.
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What zipfile raises for parts that are damaged, or packed in a way that it does not know.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class Archive:
    """Reads parts within limits; sizes are looked at before anything is unpacked, and no part gives more than its size."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path, self._bytes_read = path, 0
        try:
            with path.open("rb") as file:
                begin = file.read(8)
            if begin == _OLD_OFFICE:
                raise InputError(f"'{path}' has a password or the format of old Office programs; save it without one, in today's format")
            self._zip = zipfile.ZipFile(path)
        except NotImplementedError as error:
            raise InputError(f"'{path}' is packed in a way that can't be read ({error}); pack it as a usual ZIP archive") from error
        except zipfile.BadZipFile as error:
            raise InputError(f"'{path}' is no {path.suffix[1:]} file: it is no ZIP archive, or it is cut off") from error
        except OSError as error:
            raise error if isinstance(error, InputError) else InputError(f"'{path}': {error.strerror}") from error
        try:
            self._check()
        except InputError:
            self._zip.close()
            raise

    def _check(self) -> None:
        parts = self._zip.infolist()
        unpacked, packed = sum(part.file_size for part in parts), self._path.stat().st_size
        if len(parts) > _MOST_PARTS or unpacked > _MOST_UNPACKED or unpacked > max(_SMALL, _MOST_GROWTH * packed):
            raise InputError(
                f"'{self._path}' unpacks to {len(parts):,} parts with {unpacked:,} bytes, {unpacked / max(packed, 1):,.0f} times its size; "
                f"expected at most {_MOST_PARTS:,} parts, {_MOST_UNPACKED:,} bytes, {_MOST_GROWTH} times")
        names = [part.filename for part in parts]
        if len(set(names)) < len(names):
            raise InputError(f"'{self._path}' has two parts of the same name")
        if any(part.flag_bits & 1 for part in parts):
            raise InputError(f"'{self._path}' has a password; save it without one")
        other = next((part for part in parts if part.compress_type not in _PACKINGS), None)
        if other:
            raise InputError(
                f"'{self._path}': the part {other.filename} is packed in a way that can't be read (method {other.compress_type}), expected Deflate or "
                "none; pack it as a usual ZIP archive")

    def names(self) -> list[str]:
        """Of all parts, in their order."""
        return self._zip.namelist()

    def read(self, name: str) -> bytes:
        """A part."""
        try:
            part = self._zip.getinfo(name)
            if part.file_size > MOST_BYTES:
                raise InputError(f"'{self._path}': the part {name} has {part.file_size:,} bytes, expected at most {MOST_BYTES:,}")
            self._bytes_read += part.file_size
            if self._bytes_read > _MOST_READ:
                raise InputError(f"'{self._path}' has more than {_MOST_READ:,} bytes of text and what belongs to it; divide the document")
            return b"".join(self._unpacked(part))
        except KeyError as error:
            raise InputError(f"'{self._path}' is no {self._path.suffix[1:]} file: it has no part {name}") from error
        except _DAMAGE as error:
            raise error if isinstance(error, InputError) else InputError(f"'{self._path}': the part {name} is damaged: {error}") from error

    def _unpacked(self, part: zipfile.ZipInfo) -> Iterator[bytes]:
        """The blocks of a part. zipfile looks at the checksum at its end, but unpacks all of it and then cuts it to its size."""
        larger = copy.copy(part)
        larger.file_size += _MOST_UNPACKED  # so that zipfile gives what is too much
        size = 0
        with self._zip.open(larger) as source:
            while block := source.read(_BLOCK):
                size += len(block)
                if size > part.file_size:
                    raise InputError(
                        f"'{self._path}': the part {part.filename} unpacks to more than the {part.file_size:,} bytes that the archive names; pack it anew")
                yield block

    def write(self, path: pathlib.Path, changed: Mapping[str, bytes]) -> None:
        """Writes the archive with some parts changed, in the same order and packed the same way."""
        with self._zip, zipfile.ZipFile(path, "w") as output:
            output.comment = self._zip.comment
            for part in self._zip.infolist():
                copy = zipfile.ZipInfo(part.filename, part.date_time)
                copy.compress_type, copy.external_attr, copy.create_system = part.compress_type, part.external_attr, part.create_system
                if part.filename in changed:
                    output.writestr(copy, changed[part.filename])
                    continue
                copy.file_size = part.file_size
                with output.open(copy, "w") as target:
                    self._copy(part, target)

    def _copy(self, part: zipfile.ZipInfo, target: IO[bytes]) -> None:
        try:
            for block in self._unpacked(part):
                target.write(block)
        except _DAMAGE as error:
            if isinstance(error, InputError) or isinstance(error, OSError) and error.errno is not None:  # of the disk; that of damage has no number
                raise
            raise InputError(f"'{self._path}': the part {part.filename} is damaged: {error}") from error
