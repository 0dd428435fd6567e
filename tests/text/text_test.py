"""Text, lines and vocabularies against Python: its codecs, its str.lower() and its sentencepiece package."""

import collections
import ctypes
import gzip
import os
import pathlib
import random
import re
import subprocess
import unicodedata

import pytest
import sentencepiece

BUILD = pathlib.Path(os.environ["BUILD_DIR"])
PROBE = BUILD / "tests" / "text_probe"
ATTEND = BUILD / "attend"

ENGLISH = """The old woman reads a big newspaper in the garden.
Two children are playing with a red ball near the river.
The dogs that ran over the hill came back before the rain.
A man in a blue shirt is standing on a ladder cleaning a window.
Several women wait outside in a city while it snows.
Nobody had seen the twenty-one horses behind the church.
""".splitlines()
GERMAN = """Die alte Frau liest im Garten eine große Zeitung.
Zwei Kinder spielen am Fluss mit einem roten Ball.
Die Hunde, die über den Hügel liefen, kamen vor dem Regen zurück.
Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster.
Mehrere Frauen warten in einer Stadt im Freien, während es schneit.
Niemand hatte die einundzwanzig Pferde hinter der Kirche gesehen. Die STRASSE heißt Ölweg. İstanbul ΑΘΗΝΑ
""".splitlines()
KEPT = "\u200b\u200c\u200e\u200f"  # by attend's nfkc, which else is SentencePiece's nmt_nfkc
ODD = [
    "", " ", "\t", "  two  spaces ", "no\u00a0break", "a\u2028b", "x\u0085y", "ﬁne ﬃ ① ½ Å", "e\u0301 A\u0308 o\u0302\u0323",
    "ß ẞ GROẞ STRASSE", "İI ıi", "ΣΑΣ", "日本語のテキスト。", "😀👍🏽", "a\u0000b", "\ufeffbom", "tab\there", "▁under", "\ufffd",
    "＋１２３", "～", "①②", "…", "„Anführung“", "x" * 5000, "\u200bzero\u200dwidth", "한국어", "Ça\u0327", "Ⅷ ℌ",
]


def run(arguments, data=b"", check=True):
    done = subprocess.run([str(a) for a in arguments], input=data, capture_output=True)
    if check:
        assert done.returncode == 0, done.stderr.decode()
    return done


def train(folder, *options, name="vocab.spm", lines=ENGLISH + GERMAN):
    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join(lines) + "\n")
    output = folder / name
    run([ATTEND, "vocab", "--input", corpus, "--output", output, "--quiet", *options])
    return output


def ids_by_attend(vocabulary, lines):
    answer = run([PROBE, "ids", vocabulary], "".join(line + "\n" for line in lines).encode()).stdout.decode()
    return [[int(i) for i in line.split()] for line in answer.split("\n")[:-1]]


def random_bytes(generator):
    kinds = [
        lambda: bytes([generator.randrange(256)]),
        lambda: chr(generator.choice([0x41, 0xE4, 0x7FF, 0x800, 0xFFFD, 0x10000, 0x10FFFF])).encode(),
        lambda: chr(generator.choice([0xE4, 0x20AC, 0x1F600])).encode()[:-1],
        lambda: bytes([generator.choice([0xC0, 0xC1, 0xE0, 0xED, 0xF0, 0xF4, 0xF5, 0xFF]), generator.randrange(0x70, 0x100)]),
    ]
    return b"".join(generator.choice(kinds)() for _ in range(generator.randrange(40)))


def test_malformed_utf8_is_repaired_as_python_does():
    generator = random.Random(1)
    parts = [random_bytes(generator) for _ in range(20000)]
    parts += [bytes([a, b, c]) for a in (0xE0, 0xE1, 0xED, 0xF0, 0xF4) for b in range(0x7F, 0xC1) for c in (0x41, 0x80, 0xC3)]
    data = b"|".join(parts)
    done = run([PROBE, "repair"], data)
    expected = data.decode(errors="replace").replace("\0", "\ufffd")
    assert done.stdout.decode() == expected
    assert int(done.stderr) == expected.count("\ufffd") - data.count("\ufffd".encode())


def zstd(data):
    """One zstd frame; the library itself, since Python has no module of it."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(library.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    size = library.ZSTD_compress(room, ctypes.c_size_t(len(room)), data, ctypes.c_size_t(len(data)), 3)
    return room.raw[:size]


def test_lines_end_at_lf_only(tmp_path):
    data = b"one\r\ntwo\n\n\r\nthree\rstill three\na\x00b\n" + "x\u2028y\u0085z\x0b\x0c\x1c\n".encode() + b"\xff\xfe\nlast"
    expected = [line[:-1] if line.endswith(b"\r") else line for line in data.split(b"\n")]
    (tmp_path / "plain").write_bytes(data)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(data[:20]) + gzip.compress(data[20:]))
    (tmp_path / "packed.zst").write_bytes(zstd(data[:20]) + zstd(data[20:]))
    for arguments in (["-"], [tmp_path / "plain"], [tmp_path / "packed.gz"], [tmp_path / "packed.zst"]):
        lines = run([PROBE, "lines", *arguments], data).stdout.decode().split("\n")[:-1]
        assert [bytes.fromhex(line) for line in lines] == expected


def test_line_counts_of_real_text_equal_wc():
    data = os.environ.get("ATTEND_DATA")
    if not data:
        pytest.skip("ATTEND_DATA is not set")
    for path in sorted(pathlib.Path(data, "wmt-news-2008-2012").glob("newstest*")):
        expected = int(run(["wc", "-l", path]).stdout.split()[0])
        assert run([PROBE, "lines", path]).stdout.count(b"\n") == expected


@pytest.mark.parametrize("kind", ["gz", "zst"])
@pytest.mark.parametrize("case", ["missing", "cut", "damaged", "not packed", "empty"])
def test_unreadable_packed_files_are_named(tmp_path, kind, case):
    path = tmp_path / f"file.{kind}"
    text = "".join(f"line {i} {os.urandom(30).hex()}\n" for i in range(20000)).encode()
    packed = {"gz": gzip.compress, "zst": zstd}[kind](text)
    if case == "cut":
        path.write_bytes(packed[: len(packed) // 2])
    elif case == "damaged":
        middle = len(packed) // 2
        path.write_bytes(packed[:middle] + bytes(500) + packed[middle + 500 :])
    elif case == "not packed":
        path.write_bytes(b"plain text\n")
    elif case == "empty":
        path.write_bytes(b"")
    done = run([PROBE, "lines", path], check=False)
    assert done.returncode == 3
    assert str(path) in done.stderr.decode()
    if case in ("cut", "damaged"):
        line = int(done.stderr.decode().rsplit("after line ", 1)[1])
        assert 0 < line < 20000


def test_gzip_files_one_after_another_are_one_text(tmp_path):
    first, second = gzip.compress(b"one\ntwo\n"), gzip.compress(b"three\n")
    path = tmp_path / "file.gz"
    for packed in (first + second, first + gzip.compress(b"") + bytes(512) + second + bytes(100)):
        path.write_bytes(packed)
        assert [bytes.fromhex(line) for line in run([PROBE, "lines", path]).stdout.decode().split()] == [b"one", b"two", b"three"]
    for packed in (first + second[:1], first + second[:-1], first + b"\x1e" + second[1:], first + b"rest"):  # gzip -dc tells of all of them
        path.write_bytes(packed)
        done = run([PROBE, "lines", path], check=False)
        assert done.returncode == 3 and str(path) in done.stderr.decode(), packed


@pytest.mark.parametrize("case", ["folder", "long"])
def test_unreadable_files_are_named(tmp_path, case):
    path = tmp_path / "file"
    if case == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"short\n" + b"x" * (2**20 + 1))
    done = run([PROBE, "lines", path], check=False)
    assert done.returncode == 3
    assert ("file:2:" if case == "long" else str(path)) in done.stderr.decode()


@pytest.mark.parametrize("kind, strength", [("unigram", 0.3), ("bpe", 0.2)])
def test_sampled_cuts_come_as_often_as_from_sentencepiece(tmp_path, kind, strength):
    draws = 4000
    path = train(tmp_path, "--type", kind, "--size", "150")
    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    lines = ["the old woman", "Kinder", "a window"]
    done = run([PROBE, "sample", path, str(strength), str(draws)], "\n".join(lines).encode())
    sampled = done.stdout.decode().splitlines()
    for number, line in enumerate(lines):
        ours = collections.Counter(sampled[number * draws : (number + 1) * draws])
        theirs = collections.Counter(
            " ".join(map(str, peer.encode(line, enable_sampling=True, alpha=strength, nbest_size=-1))) for _ in range(draws)
        )
        common = [cut for cut, _ in theirs.most_common(12)]
        assert len(common) > 5
        # Six deviations of the difference of two counts.
        for cut in common:
            assert abs(ours[cut] - theirs[cut]) < 6 * (2 * theirs[cut]) ** 0.5, (line, cut)


@pytest.mark.parametrize("options", [
    ["--type", "unigram", "--size", "150"],
    ["--type", "bpe", "--size", "200", "--case", "lower"],
    ["--type", "bpe", "--size", "420", "--byte-fallback", "--case", "lower"],
    ["--type", "unigram", "--size", "400", "--byte-fallback", "--normalization", "none"],
    ["--type", "bpe", "--size", "200", "--normalization", "none", "--case", "lower"],
    ["--type", "bpe", "--size", "200", "--user-defined-symbols", "<sep>", '"', "a,b", "ÄÖ"],
])
def test_python_loads_the_file_and_gives_the_same_ids(tmp_path, options):
    path = train(tmp_path, *options)
    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    assert (peer.pad_id(), peer.unk_id(), peer.bos_id(), peer.eos_id()) == (0, 1, 2, 3)
    assert peer.get_piece_size() == int(options[options.index("--size") + 1])
    generator = random.Random(2)
    lines = ENGLISH + GERMAN + ODD + ["<sep>a,b\"ÄÖ äö"]
    lines += ["".join(generator.choice("aZäÄß .,'\u0301\u0308éÉΣ日😀") for _ in range(30)) for _ in range(300)]
    mine = ids_by_attend(path, lines)
    assert mine == [peer.encode(line.replace("\0", "\ufffd")) for line in lines]
    texts = run([PROBE, "text", path], "".join(" ".join(map(str, ids)) + "\n" for ids in mine).encode()).stdout.decode()
    assert texts.split("\n")[:-1] == [peer.decode(ids) for ids in mine]


def test_lower_casing_is_lower_of_nmt_nfkc(tmp_path):
    size = ["--type", "bpe", "--size", "200"]
    lower = sentencepiece.SentencePieceProcessor(model_file=str(train(tmp_path, *size, "--case", "lower")))
    plain = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc")
    known = [c for c in map(chr, range(1, 0x110000)) if unicodedata.category(c) not in ("Cn", "Cs", "Co")]
    generator = random.Random(3)
    samples = ["x%sx" % c for c in known] + ["".join(generator.choices(known[:3000], k=20)) for _ in range(3000)]
    samples += GERMAN + ODD
    for text in samples:
        parts = [part if part in KEPT else plain.normalize(part) for part in re.split(f"([{KEPT}])", text) if part]
        expected = "".join(c.lower() for c in "".join(parts)).replace("\u2581", " ")
        expected = " ".join(word for word in expected.split(" ") if word)
        assert lower.normalize(text).replace("\u2581", " ").strip(" ") == expected, repr(text)
    assert lower.decode(lower.encode("GROẞE STRASSE heißt Ölweg")) == "große strasse heißt ölweg"


def test_without_lower_casing_the_rules_are_sentencepieces_own_but_for_zero_width_characters(tmp_path):
    corpus = ENGLISH + GERMAN
    odd = [line.replace("\0", "") for line in ODD if not set(line) & set(KEPT)]
    mine = sentencepiece.SentencePieceProcessor(model_file=str(train(tmp_path, "--type", "bpe", "--size", "200")))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_prefix=str(tmp_path / "peer"), vocab_size=200, model_type="bpe",
        character_coverage=1.0, pad_id=0, unk_id=1, bos_id=2, eos_id=3, minloglevel=3)
    peer = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "peer.model"))
    assert [mine.id_to_piece(i) for i in range(200)] == [peer.id_to_piece(i) for i in range(200)]
    assert [mine.encode(line) for line in corpus + odd] == [peer.encode(line) for line in corpus + odd]


@pytest.mark.parametrize("kind", ["word", "char"])
def test_vocabularies_of_words_and_characters_are_sentencepieces_own(tmp_path, kind):
    corpus = ENGLISH + GERMAN
    mine = sentencepiece.SentencePieceProcessor(model_file=str(train(tmp_path, "--type", kind, "--size", "40")))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_prefix=str(tmp_path / "peer"), vocab_size=40, model_type=kind, hard_vocab_limit=False,
        character_coverage=1.0, pad_id=0, unk_id=1, bos_id=2, eos_id=3, minloglevel=3, add_dummy_prefix=kind == "word")
    peer = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "peer.model"))
    assert [mine.id_to_piece(i) for i in range(len(mine))] == [peer.id_to_piece(i) for i in range(len(peer))]
    assert [mine.encode(line) for line in corpus] == [peer.encode(line) for line in corpus]


def test_byte_fallback_gives_any_text_back(tmp_path):
    path = train(tmp_path, "--type", "bpe", "--size", "420", "--byte-fallback", "--normalization", "none")
    generator = random.Random(4)
    alphabet = [c for c in map(chr, range(1, 0x110000)) if c not in "\n\r\ufdd0\ufdd1" and not 0xD800 <= ord(c) <= 0xDFFF]
    lines = ["".join(generator.choices(alphabet, k=30)) for _ in range(500)]
    lines += ["  two  spaces  ", "\ttab\t\t\u2581", "\u2581\u2581 x \u2581", " ", "\t", "😀", ""]
    ids = ids_by_attend(path, lines)
    assert all(1 not in line for line in ids)
    assert texts_by_attend(path, ids) == lines
    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    assert [peer.decode(line) for line in ids] == lines


# What a vocabulary's normalisation and its case must give back, whatever the script.
SCRIPTS = [
    "Der MANN im ROTEN HEMD, NATO und iPhone von McDonald's: 3D, TVs, GROẞ, GROß!", "İstanbul'da ISPARTA ısındı, DİYARBAKIR",
    "Ο ΟΔΥΣΣΕΥΣ ΣΤΗΝ ΑΘΗΝΑ: Σ, Σίσυφος, ΟΔΟΣ ΣΑΣ, ᾈδης", "МОСКВА и Санкт-Петербург; ЩЁКИ, Ёлка", "ՀԱՅԱՍՏԱՆ Երևան", "ᲗᲑᲘᲚᲘᲡᲘ თბილისი", "ᎠᎡᎢ ꭰꭱꭲ",
    "می\u200cخواهم کتاب\u200cها را بخوانم", "\u200fשלום (hello)\u200e عالم\u200f", "हिन्दी क्\u200dष नमस्ते", "ខ្មែរ\u200bភាសា ไทย\u200bภาษา",
    "👨\u200d👩\u200d👧 🏳️\u200d🌈 ok", "日本語のテキスト ABC と ＡＢＣ", "한국어 TEXT 입니다", "J\u030CAN ǰan Ϊ\u0301 Ọ̀rúnmìlà Ç", "ǅ Ǆ ǆ ﬁne Ⅷ ⅷ ⓐ Ⓐ ℌ ™ K Å",
    "A B C. U.S.A. U.S. NAVY SEALS", "⇧ ⇪⇫⇩ ⇧Das ⇩Haus ⇫ALLES GROSS HIER⇩⇩ X⇧", "QUERY(x), L'ART D'ÊTRE, DON'T", "  ZWEI  Leer  ", "aBcDEfGHI XyZ", "A", "ABC",
    "<Sep>Das<Sep>HAUS äöÄÖ", "ВСЕ БУКВЫ БОЛЬШИЕ\tТАБ", "𐐀𐐨 DESERET 𐐀𐐁", "Ⴀ ⴀ", "ŉa ŇA ſs",
]


def texts_by_attend(vocabulary, ids):
    answer = run([PROBE, "text", vocabulary], "".join(" ".join(map(str, line)) + "\n" for line in ids).encode()).stdout.decode()
    return answer.split("\n")[:-1]


@pytest.mark.parametrize("normalization", ["nfkc", "none"])
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("case", ["keep", "factor"])
def test_decoded_text_is_the_normalised_text_in_every_script(tmp_path, case, kind, normalization):
    options = ["--type", kind, "--size", "400", "--byte-fallback", "--case", case, "--normalization", normalization]
    path = train(tmp_path, *options, "--user-defined-symbols", "<Sep>", "ÄÖ")
    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    generator = random.Random(6)
    lines = SCRIPTS + ENGLISH + GERMAN + [line.upper() for line in GERMAN] + [line.title() for line in GERMAN + SCRIPTS]
    alphabet = "aAbBßẞİıΣσςΑ\u0345ǅÇ\u0327\u030cJ 's3'’-.⇧⇪⇫⇩ÄÖ \u200c日"
    lines += ["".join(generator.choices(alphabet, k=15)) for _ in range(3000)]
    known = [c for c in map(chr, range(1, 0x110000)) if unicodedata.category(c) not in ("Cn", "Cs", "Co") and c not in "\n\r"]
    lines += [form % c for c in known for form in ("x%sx", "%s", "AB%sC", "%sA")] if kind == "bpe" else []
    expected = lines

    def normalized(line):
        return peer.normalize(line).replace("▁", " ").removeprefix(" ")

    if normalization == "nfkc":
        expected = [normalized(line) for line in lines]
        if case == "factor":  # SentencePiece normalises text with marks once more: U+0344 gives marks that compose then
            expected = [normalized(line) for line in expected]
    texts = texts_by_attend(path, ids_by_attend(path, lines))
    assert [pair for pair in zip(texts, expected) if pair[0] != pair[1]] == []


def test_marked_words_share_their_pieces(tmp_path):
    path = train(tmp_path, "--type", "bpe", "--size", "200", "--case", "factor")
    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    small, title, capitals, run_of = ids_by_attend(path, ["garten", "Garten", "GARTEN", "DER GARTEN IST GROSS"])
    marks = [peer.piece_to_id(mark) for mark in "⇧⇪⇫⇩"]
    assert marks == [4, 5, 6, 7] and title == marks[:1] + small and capitals == marks[1:2] + small
    assert run_of == marks[2:3] + ids_by_attend(path, ["der garten ist gross"])[0] + marks[3:]
    assert small == peer.encode("garten")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_split_digits_makes_each_digit_a_piece(tmp_path, kind):
    numbers = ["In 1984 and 2024, 1984 or 2024.", "in ۱۹۸۴ und ٢٠٢٤ und १९८४ １９８４"] * 30
    split, whole = (train(tmp_path, "--type", kind, "--size", "150", *options, name=name, lines=ENGLISH + GERMAN + numbers)
                    for name, options in (("split", ["--split-digits"]), ("whole", [])))
    pieces = [sentencepiece.SentencePieceProcessor(model_file=str(path)) for path in (split, whole)]
    longest = [max(sum(c.isdecimal() for c in peer.id_to_piece(i)) for i in range(150)) for peer in pieces]
    assert longest[0] == 1 < longest[1]
    for line in numbers[:2]:
        assert pieces[0].decode(pieces[0].encode(line)) == pieces[0].normalize(line).replace("▁", " ").strip()
        assert sum(c.isdecimal() for c in line) == sum(any(map(str.isdecimal, p)) for p in pieces[0].encode(line, out_type=str))


def test_the_file_is_a_function_of_text_options_and_seed(tmp_path):
    corpus = [" ".join(random.Random(i).choices((" ".join(ENGLISH + GERMAN)).split(), k=8)) for i in range(500)]
    options = ["--type", "unigram", "--size", "180", "--case", "lower"]
    first = train(tmp_path, *options, lines=corpus).read_bytes()
    again = train(tmp_path, *options, name="again.spm", lines=corpus).read_bytes()
    assert first == again
    assert str(tmp_path).encode() not in first and b"attend-rules" not in first
    sample = [*options, "--max-sentences", "100"]
    by_seed = [train(tmp_path, *sample, "--seed", seed, lines=corpus).read_bytes() for seed in ("1", "2", "1")]
    assert by_seed[0] == by_seed[2] != by_seed[1]


@pytest.mark.parametrize("options, lines, status, expected", [
    (["--size", "90000"], ENGLISH, 2, "at most"),
    (["--size", "90000", "--type", "bpe"], ENGLISH, 2, "at most"),
    (["--size", "20"], ENGLISH, 2, "characters alone take"),
    (["--size", "100", "--byte-fallback"], ENGLISH, 2, "bytes alone are 260"),
    (["--size", "100"], [], 3, "no text"),
    (["--size", "100"], ["\x01", "   ", "\u2028"], 3, "no text"),
    (["--size", "100", "--user-defined-symbols", "<s>"], ENGLISH, 2, "'<s>'"),
    (["--size", "100", "--user-defined-symbols", "x", "x"], ENGLISH, 2, "'x' appears twice"),
    (["--size", "100", "--user-defined-symbols", "a b"], ENGLISH, 2, "'a b' holds U+0020, white space"),
    (["--size", "100", "--user-defined-symbols", "a\tb"], ENGLISH, 2, "holds U+0009"),
    (["--size", "100", "--user-defined-symbols", "a\u3000b"], ENGLISH, 2, "holds U+3000"),
    (["--size", "100", "--user-defined-symbols", "a\u2585"], ENGLISH, 2, "holds U+2585"),
    (["--size", "100", "--user-defined-symbols", "x" * 300], ENGLISH, 2, "has 300 bytes, expected at most 256"),
    (["--size", "100", "--user-defined-symbols", ""], ENGLISH, 2, "is empty"),
    (["--size", "100", "--user-defined-symbols", "⇧", "--case", "factor"], ENGLISH, 2, "'⇧' is a piece that marks case"),
    (["--size", "100", "--lowercase"], ENGLISH, 2, "`case`"),
    (["--size", "100", "--lowercase=true"], ENGLISH, 2, "`case`"),
    (["--size", "100", "--normalisation", "none"], ENGLISH, 2, "normalization"),
    (["--size", "x"], ENGLISH, 2, "size"),
])
def test_what_cannot_be_is_refused_in_one_line(tmp_path, options, lines, status, expected):
    (tmp_path / "corpus").write_text("".join(line + "\n" for line in lines))
    done = run([ATTEND, "vocab", "--input", tmp_path / "corpus", "--output", tmp_path / "v.spm", *options], check=False)
    assert done.returncode == status, done.stderr
    assert expected in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    assert not (tmp_path / "v.spm").exists()
    if expected == "at most":  # the size it names is right
        most = done.stderr.decode().split("at most ")[1].split()[0]
        run([ATTEND, "vocab", "--input", tmp_path / "corpus", "--output", tmp_path / "v.spm", *options[2:], "--size", most])
