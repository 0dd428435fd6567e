"""Translator.translate_lines: any iterable, in order, in bounded memory."""

import gzip
import itertools

import attend
import pytest
from package import GOLDEN, LINES, run


def test_lines_come_as_translate_gives_them(translator):
    lines, options = LINES * 20, {"n_best": 2, "beam_size": 2, "max_length": 5}
    expected = translator.translate(lines, **options)
    got = list(translator.translate_lines(iter(lines), **options))
    assert [t.hypotheses for t in got] == [t.hypotheses for t in expected]
    assert list(translator.translate_lines([])) == []


def test_an_endless_stream_is_read_as_it_is_asked_for(translator):
    read = []

    def endless():
        for line in itertools.cycle(LINES):
            read.append(line)
            yield line

    stream = translator.translate_lines(endless(), beam_size=1, max_length=4)
    assert not read
    first = [next(stream) for _ in range(10)]
    assert first == translator.translate(LINES[:10], beam_size=1, max_length=4)
    assert len(read) == 16
    for given in range(10, 10000):
        next(stream)
        assert len(read) <= given + 4096


def test_a_file_s_line_ends_are_no_part_of_its_lines(translator, tmp_path):
    file = tmp_path / "lines"
    file.write_bytes("".join(line + "\n" for line in LINES).encode() + b"neri dosa")
    expected = translator.translate([*LINES, "neri dosa"])
    with file.open(encoding="utf-8") as lines:
        assert list(translator.translate_lines(lines)) == expected
    assert list(translator.translate_lines(line + "\r\n" for line in LINES)) == expected[:-1]


@pytest.mark.parametrize("packed", [lambda text: text, gzip.compress], ids=["plain", "gz"])
def test_lines_are_read_as_the_program_reads_them(tmp_path, packed):
    text = b"lumi\x0btavo\xe2\x80\xa8keri\r\nneri\rdosa\x1c\x85\n\n\xff\xf0\x9f olin\n" + b"sona\n" * 2000 + b"mipa"
    file = tmp_path / ("lines" if packed(b"") == b"" else "lines.gz")
    file.write_bytes(packed(text))
    with pytest.warns(attend.MalformedTextWarning, match=f"^3 malformed UTF-8 sequences in {file} became U\\+FFFD$"):
        lines = list(attend.read_lines(file))
    assert lines == ["lumi\x0btavo\u2028keri", "neri\rdosa\x1c\ufffd", "", "\ufffd\ufffd olin", *["sona"] * 2000, "mipa"]
    assert len(lines) == text.count(b"\n") + 1


def test_a_file_that_is_none_is_an_error(tmp_path):
    with pytest.raises(attend.InputError, match="missing"):
        attend.read_lines(tmp_path / "missing")
    (tmp_path / "plain.gz").write_text("lumi\n")
    with pytest.raises(attend.InputError, match=r"plain\.gz"):
        list(attend.read_lines(str(tmp_path / "plain.gz")))


def test_what_the_iterable_raises_comes_through(translator):
    def broken():
        yield "lumi"
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        list(translator.translate_lines(broken()))
    with pytest.raises(TypeError, match="expected a str, found int"):
        next(translator.translate_lines([7]))
    with pytest.raises(TypeError):
        translator.translate_lines(7)


def test_a_stream_in_a_cycle_is_collected():
    run("""
import gc, sys, weakref
import attend

class Own(attend.Translator):
    pass

class Lines(list):
    pass

translator, lines = Own(sys.argv[1], threads=1), Lines(["lumi"])
translator.lines = translator.translate_lines(lines)
lines.stream = attend.Translator(sys.argv[1], threads=1).translate_lines(line for line in lines)
kept = [weakref.ref(translator), weakref.ref(lines)]
del translator, lines
gc.collect()
assert [one() for one in kept] == [None, None]
""", GOLDEN)


def test_an_error_ends_a_stream(translator):
    """It would go on behind lines that nobody got."""
    stream = translator.translate_lines([*LINES[:5], "lumi " * 3000, *LINES], overlong="refuse")
    with pytest.raises(attend.InputError):
        list(stream)
    assert list(stream) == []

    def failing():
        yield from LINES[:3]
        raise ValueError("the source fails")

    stream = translator.translate_lines(failing())
    with pytest.raises(ValueError, match="the source fails"):
        next(stream)
    assert list(stream) == []
