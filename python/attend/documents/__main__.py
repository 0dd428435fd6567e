"""`attend translate-file MODEL IN OUT`, which runs this module with its options as one JSON object."""

from __future__ import annotations

import json
import sys
from typing import Any

from attend import Glossary, TranslationMemory, Translator
from attend._command import run
from attend._say import say
from attend.documents import translate_file

# What the model is loaded with, and what only this command knows; all else are options of Translator.translate.
_LOADING = ("threads", "type", "adapter", "protect", "shortlist")
_OWN = (
    "model", "source", "target", "quiet", "source_language", "target_language", "retranslate", "glossary", "memory", "memory_source", "memory_target")


def _run(options: dict[str, Any]) -> None:
    translator = Translator(options["model"], **{name: options[name] for name in _LOADING})
    searching = {name: value for name, value in options.items() if name not in _LOADING + _OWN}
    if options["glossary"]:
        searching["glossary"] = Glossary(options["glossary"])
    if options["memory"]:
        searching["memory"] = TranslationMemory(options["memory"], options["memory_source"], options["memory_target"])
    count = translate_file(
        translator, options["source"], options["target"], source_language=options["source_language"] or None,
        target_language=options["target_language"] or None, retranslate=options["retranslate"], **searching)
    if not options["quiet"]:
        say(f"wrote {options['target']}: {count} text{'' if count == 1 else 's'} translated")


def main(options: dict[str, Any]) -> int:
    """With all options of `attend translate-file`, as the program declares them."""
    return run("attend translate-file", options["source"], lambda: _run(options))


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
