"""attend.Vocabulary against the sentencepiece package."""

import attend
import pytest
import sentencepiece
from package import GOLDEN, LINES


@pytest.fixture(name="vocabulary", scope="module")
def golden_vocabulary():
    return attend.Vocabulary(GOLDEN / "vocab.spm")


def test_ids_and_text_are_sentencepiece_s(vocabulary):
    peer = sentencepiece.SentencePieceProcessor(model_file=str(GOLDEN / "vocab.spm"))
    assert len(vocabulary) == peer.get_piece_size()
    for line in LINES[:6]:
        ids = vocabulary.encode(line)
        assert ids == peer.encode(line)
        assert vocabulary.decode(ids) == peer.decode(ids)
        assert [vocabulary.piece(id) for id in ids] == peer.id_to_piece(ids)
        assert [vocabulary.id(vocabulary.piece(id)) for id in ids] == ids
    assert (vocabulary.pad, vocabulary.unk, vocabulary.bos, vocabulary.eos) == (0, 1, 2, 3)


def test_a_cut_at_random_follows_from_its_key(vocabulary):
    cuts = [vocabulary.sample("sona mipa, rudu vesta!", 0.5, key) for key in range(20)]
    assert cuts == [vocabulary.sample("sona mipa, rudu vesta!", 0.5, key) for key in range(20)]
    assert all(vocabulary.decode(cut) == vocabulary.decode(cuts[0]) for cut in cuts)


def test_a_translator_has_its_vocabularies(translator, vocabulary):
    assert translator.source_vocabulary.encode("lumi tavo") == vocabulary.encode("lumi tavo")
    assert translator.target_vocabulary.type == vocabulary.type


def test_errors(vocabulary, tmp_path):
    with pytest.raises(attend.InputError, match="no_such"):
        attend.Vocabulary(tmp_path / "no_such")
    with pytest.raises(attend.UsageError):
        vocabulary.decode([len(vocabulary)])
    with pytest.raises(TypeError):
        vocabulary.encode(["lumi"])
