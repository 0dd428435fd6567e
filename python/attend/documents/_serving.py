"""What `attend serve` starts for a document: reads it, waits for the translations, writes it.

Requests and answers are JSON, a line each. Whoever starts it sets limits of memory, time and size, and ends it.
"""

from __future__ import annotations

import errno
import importlib
import json
import pathlib
import sys
from typing import Any

from attend._errors import InputError, UsageError
from attend.documents import FORMATS, Document, ReadingOptions, read_document, write_document

_LONGEST = 2000  # characters of what is told of an error


class _Served:
    """One document."""

    def __init__(self) -> None:
        self._document: Document | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """To `formats`, `read` or `write`."""
        if request["ask"] == "formats":
            return {"formats": {ending: _why_not(ending) for ending in FORMATS}}
        if request["ask"] == "read":
            return self._read(request)
        return self._write(request)

    def _read(self, request: dict[str, Any]) -> dict[str, Any]:
        options = ReadingOptions(request["source_language"] or None, request["target_language"] or None, names=("source", "target"))
        self._document = read_document(request["path"], options)
        pathlib.Path(request["texts"]).write_text(json.dumps(self._document.texts), encoding="utf-8")
        return {"texts": len(self._document.texts)}

    def _write(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._document is not None, "a document is read before it is written"
        translations = json.loads(pathlib.Path(request["translations"]).read_text(encoding="utf-8"))
        write_document(self._document, translations, request["path"])
        return {}


def _why_not(ending: str) -> str:
    """Why documents with this ending can't be read; "": they can."""
    try:
        importlib.import_module(f"attend.documents.{FORMATS[ending][0]}")
    except ModuleNotFoundError as error:
        return f"a {ending} file needs the package {str(error.name).partition('.')[0]}: pip install '.[documents]' in attend's source folder"
    return ""


def _refusal(error: Exception) -> dict[str, str]:
    """What is told of an error, and of what kind it is: `input` is the document's fault."""
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return {"kind": "size", "error": "it becomes too large"}
    if isinstance(error, MemoryError):
        return {"kind": "memory", "error": "it takes too much memory"}
    if isinstance(error, (InputError, UsageError)):
        return {"kind": "input", "error": str(error)[:_LONGEST]}
    return {"kind": "runtime", "error": f"{type(error).__name__}: {' '.join(str(error).split())}"[:_LONGEST]}


def main() -> None:
    """Answers until there are no more requests."""
    served = _Served()
    for line in sys.stdin:
        try:
            answer = served.answer(json.loads(line))
        except Exception as error:
            answer = _refusal(error)
        print(json.dumps(answer), flush=True)
