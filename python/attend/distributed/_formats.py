"""Files of lines, of JSON lines and of Parquet: how they are cut into parts, read, and written with one column more."""

from __future__ import annotations

import io
import itertools
import json
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import attend
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet
from attend._errors import Error, InputError, MalformedTextWarning
from attend.distributed._files import Input
from attend.distributed._models import Counts, Model

_AT_ONCE = 4096  # lines that a model gets together
_COMPRESSED = {".gz": "gzip", ".zst": "zstd"}


class Part(NamedTuple):
    """What is read, run and written as one. An output file is made of each."""

    input: int  # number of the input file
    begin: int  # bytes of lines, rows of a row group
    end: int
    group: int = 0  # row group of Parquet


class Columns(NamedTuple):
    """Names of the text's column and of the new one; "" for plain lines."""

    column: str
    target: str


def _run(model: Model, texts: list[str | None], where: str) -> tuple[list[Any], Counts]:
    try:
        return model(texts)
    except Error as error:
        raise type(error)(f"{where}: {error}") from error


class Lines:
    """Plain text, a line a row. A part has the lines that begin between two bytes; a compressed file is one part."""

    suffix = ".txt"
    has_columns = False

    def cut(self, file: Input, columns: Columns, size: int) -> Iterator[tuple[int, int, int]]:
        """(begin, end, group) of parts of about `size` bytes."""
        if isinstance(file.files, pyarrow.fs.LocalFileSystem) and not self.has_columns:
            with warnings.catch_warnings():  # whose turn comes with the whole text
                warnings.simplefilter("ignore")
                next(attend.read_lines(file.path), None)  # an error where the file is none of text
        step = file.size if pathlib.PurePath(file.path).suffix in _COMPRESSED else size
        yield from ((begin, min(begin + step, file.size), 0) for begin in range(0, file.size, max(step, 1)))

    def run(self, file: Input, part: Part, columns: Columns, model: Model, stream: Any) -> Counts:
        """Writes the part with what the model makes of it."""
        total, lines = Counts(), _lines(file, part)
        while chunk := list(itertools.islice(lines, _AT_ONCE)):
            values, counts = self._values(file, chunk, columns, model)
            stream.write("".join(f"{value}\n" for value in values).encode(errors="backslashreplace"))  # a lone surrogate, as JSON writes it
            total = total.plus(counts)
        return total

    def _values(self, file: Input, chunk: list[tuple[int, bytes]], columns: Columns, model: Model) -> tuple[list[str], Counts]:
        where = f"{file}, from byte {chunk[0][0]} on"
        return _run(model, [_text(line, where) for _, line in chunk], where)


class JsonLines(Lines):
    """A JSON object a line."""

    suffix = ".jsonl"
    has_columns = True

    def _values(self, file: Input, chunk: list[tuple[int, bytes]], columns: Columns, model: Model) -> tuple[list[str], Counts]:
        rows = [_row(line, columns, f"{file}, at byte {begin}") for begin, line in chunk]
        values, counts = _run(model, [text for _, text in rows], f"{file}, from byte {chunk[0][0]} on")
        name = json.dumps(columns.target, ensure_ascii=False)
        # Into the object as it is written: read and written again, numbers would be rounded and members of one name lost.
        return [f"{row}, {name}: {json.dumps(value, ensure_ascii=False)}}}" for (row, _), value in zip(rows, values, strict=True)], counts


class Parquet:
    """A part has rows of one row group."""

    suffix = ".parquet"
    has_columns = True

    def cut(self, file: Input, columns: Columns, size: int) -> Iterator[tuple[int, int, int]]:
        with _parquet(file) as table:
            check_schema(table.schema_arrow, columns, str(file))
            leaves = [table.metadata.schema.column(number).path for number in range(table.metadata.num_columns)]
            index = leaves.index(columns.column)
            for number in range(table.num_row_groups):
                group = table.metadata.row_group(number)
                step = max(1, group.num_rows * size // max(1, group.column(index).total_uncompressed_size))
                yield from ((begin, min(begin + step, group.num_rows), number) for begin in range(0, group.num_rows, step))

    def run(self, file: Input, part: Part, columns: Columns, model: Model, stream: Any) -> Counts:
        rows = _row_group(file, part.group).slice(part.begin, part.end - part.begin)
        table, counts = with_column(rows, columns, model, f"{file}, row group {part.group}, from row {part.begin} on")
        pyarrow.parquet.write_table(table, stream)
        return counts


_LINES = Lines()
_FORMATS: dict[str, Lines | Parquet] = {".jsonl": JsonLines(), ".ndjson": JsonLines(), ".json": JsonLines(), ".parquet": Parquet()}


def format_of(file: Input) -> Lines | Parquet:
    """By the file's name, without .gz or .zst."""
    path = pathlib.PurePath(file.path)
    return _FORMATS.get((path.with_suffix("") if path.suffix in _COMPRESSED else path).suffix, _LINES)


def check_schema(schema: pa.Schema, columns: Columns, where: str) -> None:
    """The source column is there and has texts; the target column is not there."""
    if columns.column not in schema.names:
        raise InputError(f"{where} has no column '{columns.column}', expected one of: {', '.join(schema.names)}")
    found = schema.field(columns.column).type
    if not (pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found)):
        raise InputError(f"{where}: the column '{columns.column}' has the type {found}, expected string")
    if columns.target in schema.names:
        raise InputError(f"{where} has a column '{columns.target}' already; give another name for the target")


def with_column(table: pa.Table, columns: Columns, model: Model, where: str) -> tuple[pa.Table, Counts]:
    """The table with what the model makes of a column of texts."""
    check_schema(table.schema, columns, where)
    values, counts = _run(model, table[columns.column].to_pylist(), where)
    return table.append_column(columns.target, pa.array(values, model.task.type)), counts


def _parquet(file: Input) -> pyarrow.parquet.ParquetFile:
    try:
        return pyarrow.parquet.ParquetFile(file.path, filesystem=file.files)
    except pa.ArrowInvalid as error:
        raise InputError(f"{file} can't be read as Parquet: {error}") from error


_last_group: list[tuple[Input, int, pa.Table]] = []  # at most one


def _row_group(file: Input, number: int) -> pa.Table:
    """A row group, which a process keeps until it asks for another: its parts come one after the other, and each would read all of it."""
    for known, group, rows in _last_group:
        if (known, group) == (file, number):
            return rows
    _last_group.clear()  # first, so that there is room for the next
    with _parquet(file) as reader:
        rows = reader.read_row_group(number)
    _last_group.append((file, number, rows))
    return rows


def _lines(file: Input, part: Part) -> Iterator[tuple[int, bytes]]:
    """Where each line of the part begins, in bytes of the text, and the line without LF or CRLF."""
    compression = _COMPRESSED.get(pathlib.PurePath(file.path).suffix)
    try:
        source = file.files.open_input_stream(file.path, compression=compression) if compression else file.files.open_input_file(file.path)
        with io.BufferedReader(source) as stream:
            begin = part.begin
            if begin > 0:  # a line that began before belongs to the part before
                stream.seek(begin - 1)
                begin += len(stream.readline()) - 1
            while (compression or begin < part.end) and (line := stream.readline()):
                yield begin, line.removesuffix(b"\n").removesuffix(b"\r")
                begin += len(line)
    except OSError as error:
        raise InputError(f"{file} can't be read to its end: {error}") from error


def _text(line: bytes, where: str) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        warnings.warn(f"{where}: malformed UTF-8 became U+FFFD", MalformedTextWarning, stacklevel=2)
        return line.decode(errors="replace")


def _row(line: bytes, columns: Columns, where: str) -> tuple[str, str | None]:
    """The object without its last brace, and its text."""
    try:
        written = line.decode("utf-8-sig", "surrogatepass")
        row = json.loads(written)
    except ValueError as error:
        raise InputError(f"{where}: expected a JSON object in one line: {error}") from error
    if not isinstance(row, dict) or columns.column not in row:
        found = ", ".join(row) if isinstance(row, dict) else json.dumps(row)[:40]
        raise InputError(f"{where} there is no '{columns.column}', expected one in each object; found: {found}")
    text = row[columns.column]
    if text is not None and not isinstance(text, str):
        raise InputError(f"{where}: '{columns.column}' is {json.dumps(text)[:40]}, expected a string or null")
    if columns.target in row:
        raise InputError(f"{where} there is a '{columns.target}' already; give another name for the target")
    return written.rstrip().removesuffix("}").rstrip(), text
