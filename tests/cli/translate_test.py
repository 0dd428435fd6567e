"""attend translate and attend score: the contract of lines, streams, and results that nothing beside a line changes."""

import collections
import json
import math
import os
import pathlib
import random
import re
import select
import subprocess
import time

import pytest
from programs import ATTEND, attend, refused, told

MODEL = pathlib.Path(__file__).resolve().parents[1] / "data/golden_v1"
WORDS = "lumi tavo keri paku neri dosa ilvo sane".split()
KNOWN_SETS = ("reference", "avx2", "avx512", "avx512_vnni", "avx512_amx", "neon", "neon_dot")
Hypothesis = collections.namedtuple("Hypothesis", "line text score")


def sentences(count):
    source = random.Random(5)
    return [" ".join(source.choices(WORDS, k=source.randint(1, 9))) for _ in range(count)]


def translate(*arguments, stdin="", **options):
    done = attend("translate", "--model", MODEL, *arguments, stdin=stdin, **options)
    assert (done.returncode, told(done.stderr)) == (0, "")
    assert done.stdout == "" or done.stdout.endswith("\n")
    return done.stdout.split("\n")[:-1]


def instruction_sets():
    """Those that this machine has, by trying each."""
    return [name for name in KNOWN_SETS if attend("translate", "--model", MODEL, env={"ATTEND_ISA": name}).returncode == 0]


def test_a_line_for_each_line_in_order():
    lines = ["lumi tavo", "", "keri", "   ", "lumi tavo"]
    out = translate(stdin="\n".join(lines) + "\n")
    assert len(out) == 5
    assert out[0] == out[4] != "" and out[1] == "" and out[2] not in ("", out[0])
    assert translate(stdin="\n".join(lines)) == out  # the last LF may be missing
    assert translate(stdin="\r\n".join(lines) + "\r\n") == out


def test_only_lf_ends_a_line():
    assert len(translate(stdin="lumi\u2028tavo\x0ckeri\x85paku\rneri\x0bdosa\n")) == 1
    assert translate(stdin="") == []
    assert translate(stdin="\n") == [""]


def test_scores_are_penalised_logs_and_score_gives_plain_ones(tmp_path):
    lines = sentences(12)
    texts = translate("--length-penalty", 0, stdin="\n".join(lines))
    scored = [line.split(" ||| ") for line in translate("--length-penalty", 0, "--scores", stdin="\n".join(lines))]
    assert [text for text, _ in scored] == texts
    for _, score in scored:
        assert re.fullmatch(r"-\d+\.\d{6}", score)
    (tmp_path / "source").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "target").write_text("\n".join(texts), encoding="utf-8")
    done = attend("score", "--model", MODEL, "--source", tmp_path / "source", "--target", tmp_path / "target")
    assert done.returncode == 0
    plain = [float(line) for line in done.stdout.splitlines()]
    assert len(plain) == len(lines)
    # Without a penalty a finished hypothesis has its plain log-probability. The random model seldom ends
    # by itself; where it was cut, eos is in `score` alone, and the text may be cut into other pieces.
    assert all(got < 0 for got in plain)
    perplexity = re.fullmatch(r".*perplexity (\d+\.\d+) a token \((\d+) tokens, eos counted\)\n", done.stderr)
    assert math.isclose(float(perplexity[1]), math.exp(-sum(plain) / int(perplexity[2])), rel_tol=1e-4)


def test_scores_as_json_are_those_of_the_lines(tmp_path):
    (tmp_path / "source").write_text("lumi tavo\nkeri\n", encoding="utf-8")
    (tmp_path / "target").write_text("sula\nmano deki\n", encoding="utf-8")
    command = ["score", "--model", MODEL, "--source", tmp_path / "source", "--target", tmp_path / "target", "--alignments"]
    lines, done = attend(*command), attend(*command, "--json")
    report = json.loads(done.stdout)
    assert done.stderr == "" and done.stdout.count("\n") == 1
    written = ["{:.6f} |||{}".format(pair["log_probability"], "".join(f" {s}-{t}" for s, t in pair["alignment"])) for pair in report["pairs"]]
    assert written == lines.stdout.splitlines()
    assert f"perplexity {report['perplexity']:.4f} a token ({report['pieces']} tokens" in lines.stderr
    (tmp_path / "source").write_text("", encoding="utf-8")
    (tmp_path / "target").write_text("", encoding="utf-8")
    assert json.loads(attend(*command, "--json").stdout) == {"pairs": [], "pieces": 0, "perplexity": None}


def test_the_penalty_divides_the_log_probability():
    options = ("--scores", "--max-length", 4, "--beam-size", 1)
    plain = translate(*options, "--length-penalty", 0, stdin="lumi tavo")[0].split(" ||| ")
    penalised = translate(*options, "--length-penalty", 0.6, stdin="lumi tavo")[0].split(" ||| ")
    assert plain[0] == penalised[0]
    ratio = float(plain[1]) / float(penalised[1])
    assert any(math.isclose(ratio, ((5 + length) / 6) ** 0.6, rel_tol=1e-5) for length in range(1, 5))


@pytest.mark.parametrize("beam, n_best", [(4, 4), (4, 2), (2, 2)])
def test_n_best_gives_n_lines_of_different_texts(beam, n_best):
    lines = sentences(5) + [""]
    out = translate("--beam-size", beam, "--n-best", n_best, stdin="\n".join(lines) + "\n")
    found = [Hypothesis(*line.split(" ||| ")) for line in out]
    assert [int(each.line) for each in found] == sorted(int(each.line) for each in found)
    best = translate("--beam-size", beam, "--scores", stdin="\n".join(lines) + "\n")
    for i in range(len(lines)):
        group = [each for each in found if each.line == str(i)]
        assert f"{group[0].text} ||| {group[0].score}" == best[i]
        if lines[i]:
            assert 1 < len({each.text for each in group}) == len(group) <= n_best
        else:
            assert len(group) == 1


def test_more_than_the_beam_is_a_usage_error():
    refused(attend("translate", "--model", MODEL, "--beam-size", 2, "--n-best", 3, stdin="lumi"), 2, "n_best is 3", "2")


def test_quality_is_the_geometric_mean_of_the_tokens_probabilities():
    """The search's own log-probability is that of the words and, where the output is finished, of its end."""
    lines = sentences(12)
    texts = translate(stdin="\n".join(lines))
    found = [json.loads(line)["hypotheses"][0] for line in translate("--quality", "--json", stdin="\n".join(lines))]
    assert [one["text"] for one in found] == texts
    for one in found:
        assert len(one["word_quality"]) == len(one["text"].split())
        assert one["doubtful_words"] == [place for place, quality in enumerate(one["word_quality"]) if quality < 30]
        tokens = one["log_probability"] / math.log(one["quality"] / 100)
        assert tokens == pytest.approx(round(tokens), abs=1e-3) and tokens >= len(one["word_quality"])
        words = sum(math.log(quality / 100) for quality in one["word_quality"])
        assert words == pytest.approx(one["log_probability"], rel=1e-4) if not one["finished"] else words > one["log_probability"]


def test_quality_in_lines_names_the_words_in_doubt():
    lines = sentences(6)
    objects = [json.loads(line)["hypotheses"][0] for line in translate("--quality", "--json", stdin="\n".join(lines))]
    for one, line in zip(objects, translate("--quality", stdin="\n".join(lines)), strict=True):
        words = "".join(f" {one['text'].split()[place]} ({one['word_quality'][place]:.0f})" for place in one["doubtful_words"])
        assert line == f"{one['text']} ||| {one['quality']:.1f} |||{words}"
    assert any(one["doubtful_words"] for one in objects)


def test_json_has_all_hypotheses_of_a_line():
    [line, empty] = translate("--json", "--n-best", 3, "--alignments", stdin="lumi tavo keri\n\n")
    found = json.loads(line)
    assert [sorted(one) for one in found["hypotheses"]] == 3 * [sorted(["text", "score", "log_probability", "finished", "alignment", "protected_spans", "protected_kept", "terms", "terms_kept"])]
    assert (found["divided"], found["unknown_characters"]) == (False, 0)
    plain = translate("--n-best", 3, stdin="lumi tavo keri\n")
    assert [f"0 ||| {one['text']} ||| {one['score']:.6f}" for one in found["hypotheses"]] == plain
    assert json.loads(empty)["hypotheses"][0]["text"] == ""


def test_alignments_are_a_further_field():
    lines = sentences(8) + [""]
    plain = translate(stdin="\n".join(lines) + "\n")
    for extra, fields in [((), 2), (("--scores",), 3), (("--n-best", 1, "--scores"), 3)]:
        out = translate("--alignments", *extra, stdin="\n".join(lines) + "\n")
        for source, text, line in zip(lines, plain, out):
            parts = [part.strip() for part in line.split("|||")]
            assert len(parts) == fields and parts[0] == text.strip()
            links = [tuple(map(int, link.split("-"))) for link in parts[-1].split()]
            assert [target for _, target in links] == list(range(len(text.split())))
            assert all(0 <= word < len(source.split()) for word, _ in links)


def pieces(text):
    done = attend("translate", "--model", MODEL, "--max-input-tokens", 1, "--overlong", "refuse", stdin=text)
    return int(re.search(r"line 1 has (\d+) tokens", done.stderr)[1])


def test_overlong_lines_are_split_at_sentences_or_refused():
    short, long = "lumi tavo.", "lumi tavo. Keri paku neri."
    limit = pieces(long) - 1
    assert limit >= pieces("Keri paku neri.")
    options = ("--max-length", 6, "--alignments")
    first, second = (line.split(" |||") for line in translate(*options, stdin="lumi tavo.\nKeri paku neri.\n"))
    out = translate(*options, "--max-input-tokens", limit, stdin=f"{short}\n{long}\n{short}\n")
    text, links = out[1].split(" |||")
    assert len(out) == 3 and text == f"{first[0]} {second[0]}"
    moved = [(int(s) + 2, int(t) + len(first[0].split())) for s, t in re.findall(r"(\d+)-(\d+)", second[1])]
    assert [(int(s), int(t)) for s, t in re.findall(r"(\d+)-(\d+)", links)] == [
        *((int(s), int(t)) for s, t in re.findall(r"(\d+)-(\d+)", first[1])), *moved]
    arguments = ("translate", "--model", MODEL, "--max-input-tokens", limit)
    done = attend(*arguments, "--overlong", "refuse", stdin=f"lumi\n{long}\nlumi\n")
    assert done.returncode == 3 and told(done.stderr).startswith("attend: line 2 has ")
    assert told(done.stderr).count("\n") == done.stdout.count("\n") == 1  # what stands before it is out
    done = attend(*arguments[:-1], 5, stdin=f"lumi\n{long}\nlumi\n")
    assert (done.returncode, done.stdout.count("\n")) == (0, 3) and "tokens, which was translated in parts: line 2;" in told(done.stderr)


def test_lines_longer_than_learned_positions_are_split_or_refused_by_number():
    model = MODEL.with_name("golden_v1_variant")  # 40 learned positions from the third on, one of them for eos
    words = "Lumi tavo. "
    arguments = ("translate", "--model", model, "--max-length", 4)
    done = attend(*arguments, stdin=f"lumi\n{words * 30}\nlumi\n")
    assert (done.returncode, told(done.stderr), done.stdout.count("\n")) == (0, "", 3)
    done = attend(*arguments, "--overlong", "refuse", stdin=f"lumi\n{words * 30}\nlumi\n")
    assert done.returncode == 3 and told(done.stderr).startswith("attend: line 2 has ")
    assert "expected at most 37, the model's learned positions; shorten it" in done.stderr
    assert told(done.stderr).count("\n") == done.stdout.count("\n") == 1


@pytest.mark.parametrize("lines_before", [1, 600])  # of the same window, and of another
def test_score_names_the_line_that_learned_positions_do_not_reach(lines_before, tmp_path):
    model = MODEL.with_name("golden_v1_variant")
    (tmp_path / "source").write_text("lumi\n" * lines_before + "lumi " * 40 + "\nlumi\n", encoding="utf-8")
    (tmp_path / "target").write_text("rudud\n" * (lines_before + 2), encoding="utf-8")
    done = attend("score", "--model", model, "--source", tmp_path / "source", "--target", tmp_path / "target")
    assert done.returncode == 3 and done.stderr.startswith(f"attend: source line {lines_before + 1} has ")
    assert "expected at most 37, the model's learned positions; shorten it" in done.stderr


def test_a_refused_line_leaves_the_output_file_as_it_was(tmp_path):
    out = tmp_path / "out"
    out.write_text("old", encoding="utf-8")
    arguments = ("translate", "--model", MODEL, "--output", out, "--max-input-tokens", 3, "--overlong", "refuse")
    refused(attend(*arguments, stdin="lumi tavo keri paku\n"), 3, "line 1")
    assert out.read_text(encoding="utf-8") == "old" and os.listdir(tmp_path) == ["out"]


def test_an_empty_file_gives_an_empty_file(tmp_path):
    (tmp_path / "in").write_bytes(b"")
    assert translate("--input", tmp_path / "in", "--output", tmp_path / "out") == []
    assert (tmp_path / "out").read_bytes() == b""


def test_a_file_may_be_translated_onto_itself(tmp_path):
    lines = sentences(600)
    (tmp_path / "text").write_text("\n".join(lines), encoding="utf-8")
    translate("--beam-size", 1, "--max-length", 3, "--input", tmp_path / "text", "--output", tmp_path / "text")
    assert (tmp_path / "text").read_text(encoding="utf-8").split("\n")[:-1] == translate(
        "--beam-size", 1, "--max-length", 3, stdin="\n".join(lines))


def test_bytes_that_are_no_text_go_line_by_line(tmp_path):
    garbage = bytes(range(256)) * 8
    (tmp_path / "garbage").write_bytes(garbage)
    done = attend("translate", "--model", MODEL, "--max-length", 5, "--max-input-tokens", 2000, "--input", tmp_path / "garbage")
    assert done.returncode == 0
    assert done.stdout.count("\n") == garbage.count(b"\n") + 1
    expected = garbage.replace(b"\0", b"\xff").decode("utf-8", errors="replace").count("\ufffd")  # NUL is no text
    assert f"{expected} malformed UTF-8 sequences" in done.stderr and told(done.stderr).count("\n") == 1


def test_nothing_beside_a_line_changes_its_bits():
    lines = sentences(70) + [""]
    want = translate("--scores", stdin="\n".join(lines) + "\n")
    order = list(range(len(lines)))
    random.Random(3).shuffle(order)
    shuffled = "".join(lines[i] + "\n" for i in order)
    for threads in (1, 2):
        for batch_tokens in (1, 45, 4096):
            got = translate("--scores", "--threads", threads, "--batch-tokens", batch_tokens, stdin=shuffled)
            assert got == [want[i] for i in order], (threads, batch_tokens)
        for batch_sentences in (1, 7):
            got = translate("--scores", "--threads", threads, "--batch-sentences", batch_sentences, stdin=shuffled)
            assert got == [want[i] for i in order], (threads, batch_sentences)
    assert translate("--scores", stdin=lines[7] + "\n") == [want[7]]


def test_instruction_sets_agree(tmp_path):
    lines = sentences(40)
    (tmp_path / "source").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "target").write_text("\n".join(reversed(lines)), encoding="utf-8")
    scores, translated = {}, {}
    for name in instruction_sets():
        arguments = ("score", "--quiet", "--model", MODEL, "--source", tmp_path / "source", "--target", tmp_path / "target")
        done = attend(*arguments, env={"ATTEND_ISA": name})
        scores[name] = done.stdout.splitlines()
        for threads in (1, 2):
            translated[name] = translate("--scores", "--threads", threads, stdin="\n".join(lines), env={"ATTEND_ISA": name})
            assert translated[name] == translated["reference"], (name, threads)
        assert scores[name] == scores["reference"], name
    assert len(scores["reference"]) == len(translated["reference"]) == len(lines)


def test_a_set_that_is_not_here_is_refused():
    refused(attend("translate", "--model", MODEL, env={"ATTEND_ISA": "avx1024"}), 2, "'avx1024' is unknown", "reference")
    missing = [name for name in KNOWN_SETS if name not in instruction_sets()]
    for name in missing:
        refused(attend("translate", "--model", MODEL, env={"ATTEND_ISA": name}), 2, f"'{name}' is not on this machine", "reference")


def test_score_aligns_and_counts_lines(tmp_path):
    (tmp_path / "source").write_bytes(b"lumi tavo keri\r\n\nlumi\n")
    (tmp_path / "target").write_bytes("öd rudud grau\r\n\nöd\n".encode())
    done = attend("score", "--quiet", "--alignments", "--model", MODEL, "--source", tmp_path / "source", "--target", tmp_path / "target")
    assert (done.returncode, done.stderr) == (0, "")
    out = [line.split(" |||") for line in done.stdout.splitlines()]
    assert [len(fields) for fields in out] == [2, 2, 2]
    assert [[link.split("-")[1] for link in links.split()] for _, links in out] == [["0", "1", "2"], [], ["0"]]
    assert all(float(score) < 0 for score, _ in out)


def test_score_counts_malformed_text_of_both_files(tmp_path):
    source, target = b"lumi \xff\xe2\x82\ntavo\n", b"\xc3d\nrudud\n"
    (tmp_path / "source").write_bytes(source)
    (tmp_path / "target").write_bytes(target)
    arguments = ("score", "--quiet", "--model", MODEL, "--source", tmp_path / "source", "--target", tmp_path / "target")
    done = attend(*arguments)
    assert done.returncode == 0 and told(done.stderr).count("\n") == 2
    assert f"2 malformed UTF-8 sequences in {tmp_path}/source" in done.stderr
    assert f"1 malformed UTF-8 sequence in {tmp_path}/target" in done.stderr
    (tmp_path / "source").write_text(source.decode(errors="replace"), encoding="utf-8")
    (tmp_path / "target").write_text(target.decode(errors="replace"), encoding="utf-8")
    repaired = attend(*arguments)
    assert (told(repaired.stderr), repaired.stdout) == ("", done.stdout)


class Running:
    """`attend translate`, or another command, between two pipes."""

    def __init__(self, *arguments, **streams):
        arguments = arguments or ("translate", "--max-length", "5")
        command = [ATTEND, *map(str, arguments), "--model", MODEL, "--threads", "1"]
        self.process = subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **streams)

    def __enter__(self):
        return self.process

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                if stream is not None:
                    stream.close()
            except BrokenPipeError:
                pass


def comes(stream):
    """Something to read comes in time; a test without this would wait for ever."""
    return select.select([stream], [], [], 30)[0] != []


def test_a_pause_in_the_input_lets_out_what_has_come():
    with Running(stdout=subprocess.PIPE) as process:
        for line in (b"lumi tavo\nkeri\npak", b"u\n"):
            process.stdin.write(line)
            process.stdin.flush()
            for _ in range(line.count(b"\n")):
                assert comes(process.stdout) and process.stdout.readline().endswith(b"\n")
        process.stdin.close()
        assert process.stdout.read() == b"" and process.wait(timeout=60) == 0


def test_a_pause_in_either_file_lets_out_scores(tmp_path):
    os.mkfifo(tmp_path / "target")
    with Running("score", "--source", "-", "--target", tmp_path / "target", stdout=subprocess.PIPE) as process:
        with open(tmp_path / "target", "wb", buffering=0) as targets:
            for source, target, pairs in [(b"lumi\ntavo\n", b"rudud\n", 1), (b"", b"grau\n", 1), (b"keri\n", b"\xc3\xb6d\n", 1)]:
                process.stdin.write(source)
                targets.write(target)
                for _ in range(pairs):
                    assert comes(process.stdout) and float(process.stdout.readline()) < 0
        process.stdin.close()
        assert process.stdout.read() == b"" and process.wait(timeout=60) == 0


def test_a_terminal_gets_line_after_line():
    controller, terminal = os.openpty()
    with Running(stdout=terminal) as process:
        process.stdin.write(b"lumi tavo\n")
        process.stdin.flush()
        assert comes(controller) and os.read(controller, 1000).endswith(b"\n")
    os.close(terminal)
    os.close(controller)


def test_memory_stays_bounded_on_endless_input():
    def resident(process):
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])

    with Running(stdout=subprocess.DEVNULL) as process:
        block = b"\n" * 100000 + b"lumi tavo keri\n" * 200  # empty lines are cheap, and take memory where they are kept
        sizes = []
        for _ in range(20):
            process.stdin.write(block)
            process.stdin.flush()
            sizes.append(resident(process))
        assert max(sizes) - sizes[9] < 8000, sizes


def test_a_full_disk_is_a_clear_error(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", small], check=False).returncode:
        pytest.skip("only root may mount a small tmpfs")
    try:
        text = "lumi tavo\n" * 3000
        options = ("--beam-size", 1, "--max-length", 8, "--output", small / "out")
        done = attend("translate", "--model", MODEL, *options, stdin=text)
        done.stderr = told(done.stderr)
        refused(done, 1, small / "out", "No space left", "--resume")
        assert not (small / "out").exists()  # long_jobs_test has what stays
    finally:
        subprocess.run(["umount", small], check=True)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([ATTEND, "translate", "--model", MODEL], input=b"lumi\n", stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and b"standard output: No space left" in done.stderr


def test_a_reader_that_has_seen_enough_ends_it_quietly():
    started = time.monotonic()
    with Running(stdout=subprocess.PIPE) as process:
        process.stdin.write(b"lumi\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        try:
            for _ in range(1000):
                process.stdin.write(b"lumi tavo\n" * 100)
                process.stdin.flush()
        except BrokenPipeError:
            pass
        assert process.wait(timeout=60) == -13 and process.stderr.read() == b""  # SIGPIPE
    assert time.monotonic() - started < 60
