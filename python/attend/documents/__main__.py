"""`attend translate-file MODEL IN OUT`, which runs this module with its options as one JSON object."""

from __future__ import annotations

import json
import sys
from typing import Any

from attend import Glossary, TranslationMemory, Translator
from attend._command import run
from attend._say import complain, say
from attend.documents import translate_file
from attend.documents._translated import warnings_of

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
    texts = translate_file(
        translator, options["source"], options["target"], source_language=options["source_language"] or None,
        target_language=options["target_language"] or None, retranslate=options["retranslate"], **searching)
    for warning in warnings_of(texts.counts):
        complain(f"warning: {warning}")
    if options["quiet"]:
        return
    if texts.counts.terms:
        complain(f"terms of the glossary in the text: {texts.counts.terms}, of which {texts.counts.terms_kept} are kept")
    say(f"wrote {options['target']}: {texts} text{'' if texts == 1 else 's'} translated")


def main(options: dict[str, Any]) -> int:
    """With all options of `attend translate-file`, as the program declares them."""
    return run("attend translate-file", options["source"], lambda: _run(options))


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
