"""What the package's functions return: plain values, which print, compare and pickle."""

from __future__ import annotations

import dataclasses
import math
import pathlib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from attend._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy
    from numpy.typing import NDArray

    from attend._attend import Classifier, Encoder, Generator, ItemClassifier, Parser, Tagger, Transcriber, Translator


class Hypothesis(NamedTuple):
    """One output of the search."""

    text: str
    score: float  # log_probability / ((5 + length) / 6) ** length_penalty
    log_probability: float  # natural
    ids: list[int]  # without bos and eos
    finished: bool  # False: cut at max_length
    alignment: list[tuple[int, int]]  # (source, target) white-space words from 0; with alignments=True
    protected_spans: int = 0  # of the text, to be copied exactly
    protected_kept: int = 0  # those that stand in the output exactly once
    terms: int = 0  # of the glossary, each time that they stand in the text
    terms_kept: int = 0  # those that the output has
    quality: float | None = None  # 0 to 100, the geometric mean of the tokens' probabilities in percent; with quality=True
    word_quality: Sequence[float] = ()  # of each white-space word its probability in percent
    doubtful_words: Sequence[int] = ()  # places of the words, from 0, whose quality is below 30


class Translation(str):
    """The best output of a text: a str that knows what the search found."""

    hypotheses: tuple[Hypothesis, ...]  # the n_best of different texts, the best first; fewer where fewer are found
    divided: bool  # a sentence was longer than max_input_tokens, and was divided between clauses, words or characters
    unknown_characters: int  # characters of the text that the model's vocabulary lacks; the outputs lose them

    def __new__(cls, hypotheses: tuple[Hypothesis, ...], divided: bool = False, unknown_characters: int = 0) -> Translation:
        self = super().__new__(cls, hypotheses[0].text)
        self.hypotheses, self.divided, self.unknown_characters = hypotheses, divided, unknown_characters
        return self

    def __getnewargs__(self) -> tuple[tuple[Hypothesis, ...], bool, int]:  # type: ignore[override]  # what pickle makes it from
        return (self.hypotheses, self.divided, self.unknown_characters)

    @property
    def score(self) -> float:
        """The best output's natural log-probability over its length penalty."""
        return self.hypotheses[0].score

    @property
    def log_probability(self) -> float:
        """The best output's natural log-probability."""
        return self.hypotheses[0].log_probability

    @property
    def ids(self) -> list[int]:
        """The best output's pieces, without bos and eos."""
        return self.hypotheses[0].ids

    @property
    def finished(self) -> bool:
        """False where the best output was cut at max_length."""
        return self.hypotheses[0].finished

    @property
    def alignment(self) -> list[tuple[int, int]]:
        """(source, target) white-space words of the best output, from 0; with alignments=True."""
        return self.hypotheses[0].alignment

    @property
    def quality(self) -> float | None:
        """How sure the model is of the best output, 0 to 100; with quality=True, else None."""
        return self.hypotheses[0].quality

    @property
    def word_quality(self) -> Sequence[float]:
        """The same of each white-space word of the best output."""
        return self.hypotheses[0].word_quality

    @property
    def doubtful_words(self) -> Sequence[int]:
        """Places of the best output's words, from 0, whose quality is below 30."""
        return self.hypotheses[0].doubtful_words


class MemoryMatch(NamedTuple):
    """A unit of a translation memory, and how near a text it is."""

    score: float  # percent: 100 (1 - d / n), d the words that differ, n the words of the longer text; 100: the same words
    source: str
    target: str


class TimedWord(NamedTuple):
    """A white-space word and when it is said."""

    text: str
    begin: float  # seconds of the recording
    end: float


class TranscriptSegment(NamedTuple):
    """What is said in a part of a recording that the model reads at once."""

    begin: float  # seconds of the recording
    end: float
    text: str  # the best
    words: tuple[TimedWord, ...]  # of it; with word_times=True


class Transcription(NamedTuple):
    """What is said in a recording."""

    hypotheses: tuple[Hypothesis, ...]  # n_best of them, the best first; none of a file with an error
    seconds: float  # of the recording
    error: str | None  # why a file could not be read
    segments: tuple[TranscriptSegment, ...]  # in order; none of a silent recording

    @property
    def words(self) -> tuple[TimedWord, ...]:
        """Of all segments; with word_times=True."""
        return tuple(word for segment in self.segments for word in segment.words)

    @property
    def text(self) -> str:
        """The best text; empty where there is none."""
        return self.hypotheses[0].text if self.hypotheses else ""


class Score(NamedTuple):
    """How likely a given translation is."""

    log_probability: float  # natural, of the whole target with its eos
    token_log_probabilities: list[float]  # of each target piece, then of eos
    alignment: list[tuple[int, int]]  # (source, target) white-space words from 0; with alignments=True


class Output(NamedTuple):
    """One text that a language model wrote."""

    text: str  # what follows the prompt
    ids: list[int]  # with those of the stop text
    token_log_probabilities: list[float]  # natural, of each id and of the end where the model chose it
    log_probability: float  # their sum
    ending: Literal["text", "stop", "length"]  # the model ended it, a stop text came, or it was cut off


class Generation(str):
    """The first output of a prompt: a str that knows the others."""

    outputs: tuple[Output, ...]  # n of them; of a beam the best first

    def __new__(cls, outputs: tuple[Output, ...]) -> Generation:
        self = super().__new__(cls, outputs[0].text)
        self.outputs = outputs
        return self

    def __getnewargs__(self) -> tuple[tuple[Output, ...]]:  # type: ignore[override]  # what pickle makes it from
        return (self.outputs,)

    @property
    def ids(self) -> list[int]:
        """The first output's tokens."""
        return self.outputs[0].ids

    @property
    def log_probability(self) -> float:
        """The first output's natural log-probability."""
        return self.outputs[0].log_probability

    @property
    def ending(self) -> Literal["text", "stop", "length"]:
        """How the first output ended."""
        return self.outputs[0].ending


class TextScore(NamedTuple):
    """How likely a text is."""

    log_probability: float  # natural, of the whole text
    token_log_probabilities: list[float]  # of each token, then of the end


class LabelledText(NamedTuple):
    """A part of a text and its label."""

    text: str
    label: str
    begin: int  # characters of the text, from 0
    end: int
    probability: float


class TaggedText(NamedTuple):
    """The labels of a text's words."""

    words: tuple[LabelledText, ...]
    entities: tuple[LabelledText, ...]  # where labels are of entities


class Constituent(NamedTuple):
    """Words begin to end of a sentence."""

    label: str
    begin: int  # words, from 0
    end: int


class ParsedText(str):
    """The tree of a sentence in brackets: a str that knows its parts."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    constituents: tuple[Constituent, ...]  # each before those in it
    score: float  # log_probability / ((5 + length) / 6) ** length_penalty
    log_probability: float  # natural, of the tree's symbols

    def __new__(
        cls, tree: str, words: tuple[str, ...], tags: tuple[str, ...], constituents: tuple[Constituent, ...], scores: tuple[float, float],
    ) -> ParsedText:
        self = super().__new__(cls, tree)
        self.words, self.tags, self.constituents, (self.score, self.log_probability) = words, tags, constituents, scores
        return self

    def __getnewargs__(  # type: ignore[override]  # what pickle makes it from
        self,
    ) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[Constituent, ...], tuple[float, float]]:
        return (str(self), self.words, self.tags, self.constituents, (self.score, self.log_probability))


class Classification(NamedTuple):
    """The classes of a text."""

    classes: tuple[tuple[str, float], ...]  # all, with probabilities, the likeliest first
    cut: bool  # the text is longer than the model can read

    @property
    def label(self) -> str:
        """The likeliest class."""
        return self.classes[0][0]


class ItemClassification(NamedTuple):
    """The classes of an item with several inputs."""

    classes: tuple[tuple[str, float], ...]  # all, with probabilities, the likeliest first
    # How much the log-probability of the chosen class falls without each input, where asked for; None for the only one.
    contributions: dict[str, float | None]
    cut: bool  # the text is longer than the model can read

    @property
    def label(self) -> str:
        """The likeliest class."""
        return self.classes[0][0]


class FillingToken(NamedTuple):
    """What may stand at a [MASK]."""

    token: str  # without the space before it
    begins_word: bool  # else it continues the word before it
    probability: float


class FilledText(NamedTuple):
    """A text with its hidden tokens filled in."""

    text: str  # with the likeliest token at each [MASK]
    masks: tuple[tuple[FillingToken, ...], ...]  # of each [MASK], the likeliest first
    cut: bool  # the text is longer than the model can read


class Attention(NamedTuple):
    """What looks at what. Each array is [layers, heads, queries, keys] with rows that sum to 1."""

    target: str
    source_pieces: list[str]  # what the encoder reads: the source, then eos, and what else the model puts around it
    read_pieces: list[str]  # what the decoder reads: bos, then the target
    target_pieces: list[str]  # what follows each of these: the target, then eos
    encoder: NDArray[numpy.float32]  # source_pieces look at source_pieces
    decoder: NDArray[numpy.float32]  # read_pieces look at read_pieces up to their own
    cross: NDArray[numpy.float32]  # target_pieces, as they are written, look at source_pieces


class TextAttention(NamedTuple):
    """What the tokens of a text look at, in a model of one stack."""

    pieces: list[str]  # as the model reads the text: bos first; an encoder's end with eos
    weights: NDArray[numpy.float32]  # [layers, heads, queries, keys], rows that sum to 1


class InputAttention(NamedTuple):
    """What a model looks at in an input, whose shape is that of a map: [rows, columns] of a picture's patches, else [pieces] or [links]."""

    # What each head gives, by what the class is read from: [layers, heads, *shape].
    heads: NDArray[numpy.float32]
    # How much of each comes through all layers: attention rollout (Abnar and Zuidema 2020, section 3). [*shape]
    rollout: NDArray[numpy.float32]


class ItemAttention(NamedTuple):
    """What the summary of an item looks at. R rows: the summary itself, `pieces`, the picture's patches, row by row, and `links`."""

    pieces: list[str]  # of the text, as the model reads it; none: no text
    patches: tuple[int, int]  # rows and columns of them; 0 and 0: no picture
    links: list[str]  # each once
    heads: NDArray[numpy.float32]  # what each head gives, [layers, heads, R]; sums to 1
    rollout: NDArray[numpy.float32]  # how much of each row comes through all layers, [R]; sums to 1

    def of(self, part: Literal["summary", "text", "picture", "links"]) -> InputAttention:
        """That of one part's rows."""
        rows, columns = self.patches
        shapes = {"summary": (1,), "text": (len(self.pieces),), "picture": (rows, columns), "links": (len(self.links),)}
        first = 0
        for name, shape in shapes.items():
            end = first + math.prod(shape)
            if name == part:
                heads = self.heads[..., first:end]
                return InputAttention(heads.reshape(*heads.shape[:2], *shape), self.rollout[first:end].reshape(shape))
            first = end
        raise UsageError(f"part is {part!r}, expected summary, text, picture or links")


class RecordingAttention(NamedTuple):
    """What the words of a segment look at in its sound, which columns divide evenly in time: the decoder's cross-attention."""

    segment: TranscriptSegment  # with its words
    mean: NDArray[numpy.float32]  # of all heads of the layer that the words' times are read from, [words, columns]
    heads: NDArray[numpy.float32]  # [layers, heads, words, columns]


class MetricScore(float):
    """A metric's score of a text: a float that knows how it was counted."""

    name: str  # "BLEU", "chrF2", "TER"
    signature: str  # sacreBLEU's
    details: str  # what stands behind the score, for people; "" where there is nothing to add

    def __new__(cls, score: float, name: str, signature: str, details: str) -> MetricScore:
        self = super().__new__(cls, score)
        self.name, self.signature, self.details = name, signature, details
        return self

    def __getnewargs__(self) -> tuple[float, str, str, str]:  # type: ignore[override]  # what pickle makes it from
        return (float(self), self.name, self.signature, self.details)


class Validation(NamedTuple):
    """What a validation found."""

    update: int
    figures: dict[str, float]  # by name: loss, perplexity, bleu ...


@dataclasses.dataclass(frozen=True)
class Training:
    """What a training gave. As text it is a short table."""

    path: pathlib.Path  # the run's folder
    model: pathlib.Path  # its model directory; where an adapter was trained, the one that it is for
    adapter: pathlib.Path | None  # the adapter's directory, where one was trained
    updates: int
    seconds: float  # that this call took
    last: Validation | None  # None: the run has no validation
    best: Validation | None  # by early_stopping_metric
    test: dict[str, Any] | None  # result.json; None: the run has no test text
    warnings: tuple[str, ...]  # the program's, and those of mlflow=
    history: list[dict[str, Any]] = dataclasses.field(repr=False)  # the lines of metrics.jsonl: of each update and validation

    def load(self) -> Translator | Generator | Tagger | Parser | Classifier | ItemClassifier | Encoder | Transcriber:
        """The model, as attend.load gives it."""
        from attend._attend import load  # noqa: PLC0415  which imports this file

        return load(self.model) if self.adapter is None else load(self.model, adapter=str(self.adapter))

    def __str__(self) -> str:
        lines = [f"{self.path}: {self.updates} updates; this call took {self.seconds:.1f} s"]
        validations = [(name, each) for name, each in (("last", self.last), ("best", self.best)) if each is not None]
        if validations:
            names = list(validations[0][1].figures)
            lines.append(f"{'validation':<12}{'update':>10}" + "".join(f"{name:>12}" for name in names))
        for name, each in validations:
            lines.append(f"{name:<12}{each.update:>10}" + "".join(f"{each.figures[figure]:>12.5g}" for figure in names))
        for name, value in (self.test or {}).items():
            figure = value.get("score") if isinstance(value, dict) else value
            if isinstance(figure, (int, float)):
                lines.append(f"{'test':<12}{name:>10}{figure:>12.5g}")
        return "\n".join(lines)
