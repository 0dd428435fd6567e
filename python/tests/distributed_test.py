"""attend.distributed in processes of one machine: cut, killed and shared jobs give the bytes of one."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import attend  # noqa: E402
import attend.distributed as distributed  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet  # noqa: E402
from attend.distributed.__main__ import main  # noqa: E402
from attend.distributed._files import inputs_of  # noqa: E402
from attend.distributed._formats import Columns, Part, format_of  # noqa: E402
from attend.distributed._models import Counts  # noqa: E402
from distributed_jobs import (  # noqa: E402
    FAST, SLOW, arguments, by_program, content, finished, parts, start, texts, wait_for_parts, write_json, write_lines, write_parquet)
from package import ENVIRONMENT, GOLDEN, LANGUAGE_MODEL, PROGRAM, ROOT  # noqa: E402

COLUMNS = {"column": "english", "target": "german"}


class Echo:
    """A model that repeats texts."""

    def __call__(self, lines):
        return list(lines), Counts(len(lines))


class Sink(list):
    write = list.append


@pytest.mark.parametrize("text", [b"", b"\n", b"a", b"\n\na\n\n", b"ab\ncdefgh\n\ni\n", b"ab\r\n\r\ncd\r\ne"])
def test_lines_stand_in_one_part_each(tmp_path, text):
    (tmp_path / "all.en").write_bytes(text)
    file, = inputs_of([tmp_path / "all.en"])
    for size in range(1, 20):
        sink = Sink()
        for range_ in format_of(file).cut(file, Columns("", ""), size):
            format_of(file).run(file, Part(0, *range_), Columns("", ""), Echo(), sink)
        expected = [line.removesuffix(b"\r") for line in text.split(b"\n")]
        assert b"".join(sink).split(b"\n") == expected + ([b""] if expected[-1] else []), size


@pytest.mark.parametrize("size", [30, 1 << 20])
def test_lines_are_those_of_the_program(tmp_path, size):
    write_lines(tmp_path / "a.en", texts(20), "\r\n")
    (tmp_path / "b.en").write_bytes("\n".join(texts(20, 2)).encode() + b"\n\xff lumi \xe2\x82 tavo\nkeri")
    files = [tmp_path / "a.en", tmp_path / "b.en"]
    with gzip.open(tmp_path / "c.en.gz", "wb") as packed:
        packed.writelines(path.read_bytes() for path in files)
    with pytest.warns(attend.MalformedTextWarning):
        report = distributed.run(distributed.Job(GOLDEN, files, tmp_path / "out", part_bytes=size, options=FAST), threads=2)
    (tmp_path / "all.en").write_bytes(b"".join(path.read_bytes() for path in files))
    expected = by_program(tmp_path / "all.en", tmp_path / "all.de", FAST)
    assert content(tmp_path / "out") == expected
    assert report.counts.rows == expected.count(b"\n")
    assert report.made == report.there == report.parts == len(parts(tmp_path / "out"))
    with pytest.warns(attend.MalformedTextWarning):
        distributed.run(distributed.Job(GOLDEN, [tmp_path / "c.en.gz"], tmp_path / "packed", part_bytes=size, options=FAST))
    assert content(tmp_path / "packed") == expected


def test_a_packed_file_is_read_in_pieces(tmp_path):
    lines = texts(9000)
    with gzip.open(tmp_path / "all.en.gz", "wt", encoding="utf-8") as packed:
        packed.writelines(line + "\n" for line in lines)
    file, = inputs_of([tmp_path / "all.en.gz"])
    sink = Sink()
    format_of(file).run(file, Part(0, 0, file.size), Columns("", ""), Echo(), sink)
    assert b"".join(sink).decode().splitlines() == lines
    assert len(sink) > 2


def test_json_lines_keep_their_columns(tmp_path, translator):
    rows = write_json(tmp_path / "all.jsonl", texts(40))
    odd = {"english": 'two\nlines, "quoted"\u2028', "id": 2**70, "deep": {"a": [None, "\ud800"]}}
    with (tmp_path / "all.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(odd))  # no line end
    distributed.run(distributed.Job(GOLDEN, [tmp_path / "all.jsonl"], tmp_path / "out", part_bytes=500, options=FAST, **COLUMNS))
    made = [json.loads(line) for line in content(tmp_path / "out").decode().split("\n")[:-1]]
    expected = [row | {"german": None if row["english"] is None else str(translator.translate(row["english"], **FAST))} for row in [*rows, odd]]
    assert made == expected
    assert list(made[-1]) == ["english", "id", "deep", "german"]
    assert len(parts(tmp_path / "out")) > 3


def test_json_lines_stay_as_they_are_written(tmp_path):
    rows = [
        b'{"a": 1e400, "english": null, "b": 0.1000000000000000000000001 }',
        b' {"x":1,"x":2,"english":null,"deep":{"u":"\\u00e4"}}\t', b'{"english": null}']
    (tmp_path / "all.jsonl").write_bytes(b"\r\n".join([b"\xef\xbb\xbf" + rows[0], *rows[1:]]))
    distributed.run(distributed.Job(GOLDEN, [tmp_path / "all.jsonl"], tmp_path / "out", options=FAST, **COLUMNS))
    expected = [row.rstrip(b"\t")[:-1].rstrip() + b', "german": null}\n' for row in rows]
    assert content(tmp_path / "out") == b"".join(expected)


def test_parquet_keeps_its_columns(tmp_path, translator):
    lines = texts(120)
    table = write_parquet(tmp_path / "all.parquet", lines)
    distributed.run(distributed.Job(GOLDEN, [tmp_path / "all.parquet"], tmp_path / "out", part_bytes=300, options=FAST, **COLUMNS))
    made = pa.concat_tables(pyarrow.parquet.read_table(path) for path in parts(tmp_path / "out"))
    german = [str(translator.translate(line, **FAST)) if line else None for line in lines]
    assert made.equals(table.append_column("german", pa.array(german)))
    assert len(parts(tmp_path / "out")) > 3
    assert pyarrow.parquet.read_table(tmp_path / "out").equals(made)  # a data set, for others


def test_a_row_group_is_read_once(tmp_path, monkeypatch):
    read, numbers = pyarrow.parquet.ParquetFile.read_row_group, []
    monkeypatch.setattr(pyarrow.parquet.ParquetFile, "read_row_group", lambda file, number: numbers.append(number) or read(file, number))
    for name in ("a", "b"):
        table = write_parquet(tmp_path / f"{name}.parquet", [f"{name} {line}" for line in texts(100)])
        distributed.run(distributed.Job(GOLDEN, [tmp_path / f"{name}.parquet"], tmp_path / name, part_bytes=300, options=FAST, **COLUMNS))
        made = pa.concat_tables(pyarrow.parquet.read_table(path) for path in parts(tmp_path / name))
        assert made.drop_columns("german").equals(table) and len(parts(tmp_path / name)) > 4
    assert numbers == [0, 1, 0, 1]


def test_other_tasks_give_columns(tmp_path, monkeypatch):
    monkeypatch.setenv("BUILD_DIR", str(PROGRAM.parent))
    monkeypatch.syspath_prepend(str(ROOT / "tests/model"))
    import random_models

    rows = write_json(tmp_path / "all.jsonl", ["the small house", "", "new"])
    models = random_models.write_encoders(tmp_path)
    made = {}
    for task, path in [*models.items(), ("language_model", LANGUAGE_MODEL)]:
        options = {"max_tokens": 4} if task == "language_model" else {}
        job = distributed.Job(path, [tmp_path / "all.jsonl"], tmp_path / f"out_{task}", column="english", target="made", options=options)
        distributed.run(job)
        made[task] = [json.loads(line)["made"] for line in content(tmp_path / f"out_{task}").decode().splitlines()]
        assert [value is None for value in made[task]] == [row["english"] is None for row in rows]
    first = rows[0]["english"]
    assert made["classification"][0] == attend.Classifier(models["classification"]).classify(first).label
    words = attend.Tagger(models["tagging"]).tag(first).words
    assert made["tagging"][0]["words"] == [word._asdict() for word in words]
    assert made["masked_language_model"][0] == attend.Encoder(models["masked_language_model"]).embed(first).tolist()
    assert made["language_model"][0] == str(attend.Generator(LANGUAGE_MODEL).generate(first, max_tokens=4))
    write_parquet(tmp_path / "all.parquet", ["the small house", "new"])
    distributed.run(distributed.Job(models["tagging"], [tmp_path / "all.parquet"], tmp_path / "tags", column="english", target="made"))
    assert pyarrow.parquet.read_table(tmp_path / "tags")["made"][0].as_py() == made["tagging"][0]


def test_a_killed_job_goes_on(tmp_path):
    write_lines(tmp_path / "all.en", texts(100))
    command = arguments(tmp_path / "all.en", tmp_path / "out", SLOW, "--part-bytes", 300, "--threads", 1)
    process = start(*command)
    wait_for_parts(tmp_path / "out", 2, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    there = {path: path.stat().st_mtime_ns for path in parts(tmp_path / "out")}
    said = finished(start(*command))
    assert f", {len(parts(tmp_path / 'out')) - len(there)} made now" in said
    assert there.items() <= {path: path.stat().st_mtime_ns for path in parts(tmp_path / "out")}.items()
    assert len(parts(tmp_path / "out")) > len(there)
    assert content(tmp_path / "out") == by_program(tmp_path / "all.en", tmp_path / "all.de", SLOW)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"_job.json", *(path.name for path in parts(tmp_path / "out"))}


def test_processes_share_a_job(tmp_path):
    write_lines(tmp_path / "all.en", texts(60))
    job = arguments(tmp_path / "all.en", tmp_path / "out", FAST, "--part-bytes", 200)
    said = [finished(process) for process in [start(*job, "--shard", f"{number}/3") for number in (1, 2, 3)]]
    assert sum(int(re.search(r"(\d+) made now", each)[1]) for each in said) == len(parts(tmp_path / "out")) > 6
    assert content(tmp_path / "out") == by_program(tmp_path / "all.en", tmp_path / "all.de", FAST)


def scripts():
    """The job scripts of the page, by the first word after #SBATCH --job-name=."""
    page = (ROOT / "docs/cluster.md").read_text(encoding="utf-8")
    return {re.search(r"--job-name=(\w+)", text)[1]: text for text in re.findall(r"```bash\n(#!/bin/bash\n.*?)```", page, flags=re.S)}


def test_the_pages_job_from_python_runs(tmp_path):
    block = re.search(r"### From Python\n```python\n(.*?)```", (ROOT / "docs/cluster.md").read_text(encoding="utf-8"), flags=re.S)[1]
    (tmp_path / "my-model").mkdir()
    (tmp_path / "my-model/model").symlink_to(GOLDEN)
    rows = [{"english": line} for line in texts(20)]
    (tmp_path / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "1 of 1 parts are there, 1 made now from 20 rows"
    assert [json.loads(line)["english"] for line in content(tmp_path / "translated").splitlines()] == [row["english"] for row in rows]


def test_the_page_has_these_scripts():
    assert scripts().keys() == {"lines", "table"}


@pytest.mark.parametrize("name", ["lines", "table"])
def test_slurm_arrays(tmp_path, name):
    """As Slurm runs them: a task each, one of them killed and put into the queue again."""
    lines = texts(90)
    (tmp_path / "my-model").mkdir()
    (tmp_path / "my-model/model").symlink_to(GOLDEN)
    write_lines(tmp_path / "all.en", lines)
    rows = [{"english": line, "other": "x" * 10**5} for line in lines]  # some megabytes
    (tmp_path / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "job.sh").write_text(scripts()[name], encoding="utf-8")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/attend").symlink_to(PROGRAM)
    (tmp_path / "bin/python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    (tmp_path / "bin/python").chmod(0o755)

    def task(number):
        environment = ENVIRONMENT | {
            "ATTEND_DATA": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "SLURM_ARRAY_TASK_ID": str(number),
            "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_CPUS_PER_TASK": "1"}
        return subprocess.Popen(["bash", "-e", "job.sh"], cwd=tmp_path, env=environment, start_new_session=True)

    killed = task(2)
    partial = tmp_path / "translated/part-2.de.partial"
    while not (partial.exists() if name == "lines" else list((tmp_path / "translated").glob("_part-*"))):
        assert killed.poll() is None
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    for process in [task(1), task(3), task(2)]:
        assert process.wait(timeout=300) == 0
    expected = by_program(tmp_path / "all.en", tmp_path / "whole.de", {}).decode().splitlines()
    made = content(tmp_path / "translated").decode().splitlines()
    if name == "lines":
        assert made == expected
    else:
        assert [json.loads(line) for line in made] == [row | {"german": line} for row, line in zip(rows, expected, strict=True)]


def test_a_file_that_is_named_is_read_whatever_its_name(tmp_path):
    folder = tmp_path / "folder"
    (folder / "_old").mkdir(parents=True)
    files = [write_lines(path, ["lumi"]) for path in (tmp_path / "_a.en", tmp_path / "b.en", folder / "c.en", folder / "_d.en")]
    assert [file.path for file in inputs_of([*files[:2], folder])] == [str(path) for path in files[:3]]


def test_a_folder_in_a_folder_is_refused(tmp_path):
    (tmp_path / "all/lang=de").mkdir(parents=True)
    write_lines(tmp_path / "all/a.en", ["lumi"])
    write_lines(tmp_path / "all/lang=de/b.en", ["lumi"])
    with pytest.raises(attend.InputError, match="folder 'lang=de' in it, expected files alone"):
        inputs_of([tmp_path / "all"])


def refused(kind, *expected, inputs, output, **more):
    with pytest.raises(kind) as error:
        distributed.run(distributed.Job(more.pop("model", GOLDEN), inputs, output, **more))
    for part in expected:
        assert part in str(error.value)
    assert "\n" not in str(error.value)


def test_another_job_is_refused(tmp_path):
    path = write_lines(tmp_path / "all.en", texts(3))
    output = tmp_path / "out"
    job = {"inputs": [path], "output": output}
    distributed.run(distributed.Job(GOLDEN, [path], output, options=FAST))
    refused(attend.UsageError, "options", '"beam_size": 1', "this job", '"beam_size": 2', **job, options=FAST | {"beam_size": 2})
    refused(attend.UsageError, "part_bytes", "this job 5", **job, options=FAST, part_bytes=5)
    refused(attend.UsageError, '{}, this job {"type": "int8"}', **job, options=FAST, load={"type": "int8"})
    refused(attend.UsageError, "model", **job, options=FAST, model=ROOT / "tests/data/golden_v1_variant")
    distributed.run(distributed.Job(GOLDEN, [path], output, options=FAST | {"batch_tokens": 99}), threads=1)
    write_lines(path, texts(3, seed=2))
    refused(attend.UsageError, "inputs", **job, options=FAST)
    refused(attend.UsageError, "empty folder", inputs=[path], output=tmp_path)


def test_what_is_wrong_is_told(tmp_path):
    lines = write_lines(tmp_path / "all.en", texts(3))
    write_json(tmp_path / "all.jsonl", texts(3))
    write_parquet(tmp_path / "all.parquet", texts(3))
    jobs = iter(range(100))

    def wrong(kind, *expected, inputs, **more):
        refused(kind, *expected, inputs=inputs, output=tmp_path / f"out{next(jobs)}", **more)

    table = {"inputs": [tmp_path / "all.jsonl"], **COLUMNS}
    wrong(attend.InputError, "nothing", "does not exist", inputs=[tmp_path / "nothing"])
    wrong(attend.UsageError, "files of one kind", inputs=[lines, tmp_path / "all.jsonl"])
    wrong(attend.UsageError, "plain lines have no columns", inputs=[lines], **COLUMNS)
    wrong(attend.UsageError, "names of both", inputs=[tmp_path / "all.jsonl"], column="english")
    wrong(attend.InputError, "all.parquet", "no column 'x'", "id, english", inputs=[tmp_path / "all.parquet"], column="x", target="y")
    wrong(attend.InputError, "'id' has the type int64, expected string", inputs=[tmp_path / "all.parquet"], column="id", target="y")
    wrong(attend.InputError, "column 'id' already", inputs=[tmp_path / "all.parquet"], column="english", target="id")
    wrong(attend.InputError, "at byte 0", "no 'x'", "id, english", **table | {"column": "x"})
    wrong(attend.InputError, "at byte 0", "a 'id' already", **table | {"target": "id"})
    wrong(attend.InputError, "'id' is 0, expected a string or null", **table | {"column": "id"})
    wrong(attend.ConfigurationError, "beam_sise", "did you mean 'beam_size'", inputs=[lines], options={"beam_sise": 2})
    for options in ({"n_best": 3}, {"alignments": True}, {"quality": True}):
        wrong(attend.ConfigurationError, f"options have {next(iter(options))}, but a job writes the best text alone", inputs=[lines], options=options)
    wrong(attend.ConfigurationError, "n, but a job writes the best", **table, model=LANGUAGE_MODEL, options={"n": 2})
    wrong(attend.ConfigurationError, "glossary is 5, expected the path of a file", inputs=[lines], options={"glossary": 5})
    wrong(attend.InputError, "nothing.tmx", inputs=[lines], options={"memory": tmp_path / "nothing.tmx"})
    wrong(attend.ConfigurationError, "give memory", inputs=[lines], options={"memory_source": "en"})
    wrong(attend.ConfigurationError, "glossary", **table, model=LANGUAGE_MODEL, options={"glossary": write_lines(tmp_path / "terms.tsv", ["a\tb"])})
    wrong(attend.ConfigurationError, "tipe", inputs=[lines], load={"tipe": "int8"})
    wrong(attend.ConfigurationError, "threads", inputs=[lines], load={"threads": 1})
    wrong(attend.ConfigurationError, "part_bytes is 0", inputs=[lines], part_bytes=0)
    wrong(attend.InputError, "config.json", inputs=[lines], model=tmp_path)
    wrong(attend.UsageError, "JSON lines or Parquet", inputs=[lines], model=LANGUAGE_MODEL)
    wrong(attend.InputError, "from byte", "raise max_input_tokens", inputs=[lines], options={"overlong": "refuse", "max_input_tokens": 1})
    for name, damaged in {"cut.jsonl": '{"english": "a"}\n{"english', "list.jsonl": '{"english": "a"}\n[]'}.items():
        (tmp_path / name).write_text(damaged, encoding="utf-8")
        wrong(attend.InputError, name, "at byte 17", **table | {"inputs": [tmp_path / name]})
    (tmp_path / "cut.en.gz").write_bytes(gzip.compress(b"lumi tavo\n" * 9999)[:-20])
    wrong(attend.InputError, "cut.en.gz", inputs=[tmp_path / "cut.en.gz"], options=FAST)
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "all.parquet").read_bytes()[:-9])
    wrong(attend.InputError, "cut.parquet", "Parquet", inputs=[tmp_path / "cut.parquet"], **COLUMNS)
    assert not list(tmp_path.glob("out*/*part*"))  # nothing of what failed


def test_a_job_takes_a_glossary_and_a_memory(tmp_path, translator, capsys):
    lines = write_lines(tmp_path / "all.en", ["lumi tavo keri", "sona mipa"])
    terms, units = write_lines(tmp_path / "terms.tsv", ["lumi\tvesta"]), tmp_path / "units.tmx"
    units.write_text(
        '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>sona mipa</seg></tuv>'
        '<tuv xml:lang="de"><seg>DREI</seg></tuv><tuv xml:lang="fr"><seg>TROIS</seg></tuv></tu></body></tmx>', encoding="utf-8")
    more = ["--set", f"glossary={terms}", "--set", f"memory={units}", "--set", "memory_target=fr"]
    assert main([str(GOLDEN), str(lines), "--output", str(tmp_path / "out"), *more]) == 0
    assert capsys.readouterr().out.endswith("terms of the glossary in the text: 1, of which 1 are kept\n")
    expected = translator.translate("lumi tavo keri", glossary=attend.Glossary(terms))
    assert "vesta" in expected.split() and content(tmp_path / "out").decode().splitlines() == [expected, "TROIS"]
    write_lines(terms, ["lumi\tholm"])
    job = {"glossary": terms, "memory": units, "memory_target": "fr"}
    refused(attend.UsageError, "_job.json", "has options", inputs=[lines], output=tmp_path / "out", options=job)
    long = write_lines(tmp_path / "long.tsv", ["lumi\tzzzzzzzzzzz"])
    counts = distributed.run(distributed.Job(GOLDEN, [lines], tmp_path / "other", options={"glossary": long, "max_length": 2})).counts
    assert (counts.cut, counts.terms, counts.terms_kept) == (2, 1, 0)


@pytest.mark.parametrize("engine", ["here", "spark"])
def test_workers_are_of_ray(tmp_path, engine, capsys):
    lines = write_lines(tmp_path / "all.en", texts(3))
    with pytest.raises(SystemExit, match="2"):
        main([str(GOLDEN), str(lines), "--output", str(tmp_path / "out"), "--workers", "3", "--engine", engine])
    assert "--workers is for --engine ray" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_the_command_tells_errors_in_a_line(tmp_path):
    lines = write_lines(tmp_path / "all.en", texts(3))
    for status, more in ((3, ["nothing"]), (2, [lines, "--set", "beam_sise=2"]), (2, [lines, "--shard", "4/3"]), (2, [lines, "--set", "n_best=3"]),
                         (2, [lines, "--engine", "ray", "--workers", "0"]), (3, [lines, "--set", "glossary=nothing.tsv"])):
        process = start(str(GOLDEN), *map(str, more), "--output", str(tmp_path / "out"))
        said, _ = process.communicate(timeout=60)
        assert process.returncode == status, said
        assert said.startswith("attend.distributed: ")
        assert said.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_the_command_tells_errors_of_the_system_in_a_line(tmp_path, capsys):
    lines = write_lines(tmp_path / "all.en", texts(3))
    assert main([str(GOLDEN), str(lines), "--output", str(lines / "out")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("attend.distributed: ") and str(lines) in said and said.count("\n") == 1


@pytest.mark.parametrize("there", [False, True])
def test_a_part_that_another_process_finished_is_no_error(tmp_path, monkeypatch, there):
    """Two processes make a part; the one that is done first removes the other's file."""
    job = distributed.Job(GOLDEN, [write_lines(tmp_path / "all.en", texts(3))], tmp_path / "out", options=FAST)
    work = format_of(job.files[0]).run

    def late(*of_part):
        counts = work(*of_part)
        if there:
            (tmp_path / "out/part-000000.txt").write_bytes(b"of the other")
        for begun in (tmp_path / "out").glob("_part-*"):
            begun.unlink()
        return counts

    monkeypatch.setattr(job.format, "run", late)
    if there:
        assert job.run_part(0, 1) == Counts()
        assert content(tmp_path / "out") == b"of the other"
    else:
        with pytest.raises(FileNotFoundError):
            job.run_part(0, 1)
