"""attend: translates, generates, labels, scores, measures and trains with models of the Transformer of "Attention Is All You Need".

    import attend

    translator = attend.Translator("my-model/model", threads=2)
    print(translator.translate("A small house."))

Options have the names and ranges of the command line's, in snake_case; an unknown one is an error that names the nearest.
"""

from attend._attend import (
    Classifier,
    Encoder,
    Generator,
    ItemClassifier,
    Parser,
    Tagger,
    Transcriber,
    TranslationMemory,
    Translator,
    Vocabulary,
    bleu,
    chrf,
    extend,
    load,
    quantize,
    read_lines,
    ter,
)
from attend._attend import version as __version__
from attend._errors import ConfigurationError, CutTextWarning, Error, InputError, MalformedTextWarning, RunError, ScoreWarning, UsageError
from attend._html import translate_html
from attend._results import (
    Attention,
    Classification,
    Constituent,
    FilledText,
    FillingToken,
    Generation,
    Hypothesis,
    ItemClassification,
    LabelledText,
    MemoryMatch,
    MetricScore,
    Output,
    ParsedText,
    Score,
    TaggedText,
    TextAttention,
    TextScore,
    TimedWord,
    Training,
    TranscriptSegment,
    Transcription,
    Translation,
    Validation,
)
from attend._train import train
from attend.documents import translate_file

__all__ = [
    "Attention",
    "Classification",
    "Classifier",
    "ConfigurationError",
    "Constituent",
    "CutTextWarning",
    "Encoder",
    "Error",
    "FilledText",
    "FillingToken",
    "Generation",
    "Generator",
    "Hypothesis",
    "InputError",
    "ItemClassification",
    "ItemClassifier",
    "LabelledText",
    "MalformedTextWarning",
    "MemoryMatch",
    "MetricScore",
    "Output",
    "ParsedText",
    "Parser",
    "RunError",
    "ScoreWarning",
    "Score",
    "TaggedText",
    "Tagger",
    "TextAttention",
    "TextScore",
    "TimedWord",
    "Training",
    "Transcriber",
    "TranscriptSegment",
    "Transcription",
    "Translation",
    "TranslationMemory",
    "Translator",
    "UsageError",
    "Validation",
    "Vocabulary",
    "__version__",
    "bleu",
    "chrf",
    "extend",
    "load",
    "quantize",
    "read_lines",
    "ter",
    "train",
    "translate_file",
    "translate_html",
]
