"""attend.bleu, attend.chrf and attend.ter against sacrebleu."""

import warnings

import attend
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

HYPOTHESES = ["The cat sat on the mat .", "a big dog", "Ein Hund, rennt!", "", "na ja 日本"]
REFERENCES = ["The cat lay on the mat .", "a big brown dog", "Ein Hund rennt.", "so", "na ja 日本語"]
OTHERS = ["A cat sat on a mat .", "the big dog", "Der Hund rennt!", "also", "ja 日本"]


@pytest.mark.parametrize("references", [[REFERENCES], [REFERENCES, OTHERS]], ids=["one", "two"])
@pytest.mark.parametrize(
    ("function", "peer", "options"),
    [
        (attend.bleu, BLEU, {}),
        (attend.bleu, BLEU, {"tokenize": "char", "lowercase": True}),
        (attend.bleu, BLEU, {"smooth_method": "add-k", "smooth_value": 2}),
        (attend.chrf, CHRF, {}),
        (attend.chrf, CHRF, {"word_order": 2, "lowercase": True}),
        (attend.ter, TER, {}),
        (attend.ter, TER, {"normalized": True, "case_sensitive": True}),
    ],
)
def test_scores_and_signatures_are_sacrebleu_s(function, peer, options, references):
    metric = peer(**options)
    expected = metric.corpus_score(HYPOTHESES, references)
    score = function(iter(HYPOTHESES), references if len(references) > 1 else references[0], **options)
    assert score == pytest.approx(expected.score, abs=2e-9)
    assert (score.name, score.signature) == (expected.name, str(metric.get_signature()))
    assert score.details == (expected._verbose or "")


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(attend.UsageError):
        attend.bleu(HYPOTHESES, REFERENCES[1:])
    with pytest.raises(attend.UsageError):
        attend.ter([], [])
    with pytest.raises(TypeError, match="put it in a list"):
        attend.chrf("a", "b")
    with pytest.raises(attend.ConfigurationError, match="chrf: unknown option 'wordorder'; did you mean 'word_order'"):
        attend.chrf(HYPOTHESES, REFERENCES, wordorder=2)
    with pytest.raises(attend.ConfigurationError, match="tokenize is '13b', expected one of auto, 13a, intl"):
        attend.bleu(HYPOTHESES, REFERENCES, tokenize="13b")


def test_scores_that_say_little_are_warned_of():
    with pytest.warns(attend.ScoreWarning, match="zh"):
        attend.bleu(["我们喜欢鱼和水果。"], ["我们喜欢水果和鱼。"])
    with pytest.warns(attend.ScoreWarning, match="hypotheses"):
        attend.bleu(["a b c ."] * 3, ["a b c."] * 3)
    with pytest.warns(attend.ScoreWarning, match="asian_support"):
        attend.ter(["我们喜欢鱼"], ["我们喜欢水果"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        attend.bleu(["a b c."], ["a b c."])
        attend.bleu(["我们喜欢鱼"], ["我们喜欢水果"], tokenize="zh")
