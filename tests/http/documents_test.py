"""Documents of other programs at /translate_file: what the Python package makes of them, through the service's queues."""

import contextlib
import fcntl
import http.client
import io
import json
import os
import pathlib
import select
import re
import signal
import subprocess
import sys
import zipfile

import pytest
from files_test import LANGUAGES, post_parts
from server import BUILD, HAS_PACKAGE, MODEL, PATIENCE, TEXT, command_line, events_in, multipart, serving, wait_until

for package in ("lxml", "polib", "srt", "webvtt"):
    pytest.importorskip(package, reason=f"no {package}; run tools/setup")
if not HAS_PACKAGE:
    pytest.skip("the build has no Python module", allow_module_level=True)

PLAIN = [".txt", ".html", ".htm"]
DOCUMENTS = [".docx", ".pptx", ".odt", ".epub", ".xlf", ".xliff", ".tmx", ".po", ".pot", ".srt", ".vtt", ".tsv"]
CUE = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
XLIFF = '<xliff version="1.2"><file source-language="ka" target-language="su"><body>{}</body></file></xliff>'
UNIT = '<trans-unit id="1"><source>{}</source></trans-unit>'
BOLD = "lumi <b>tavo</b> keri"


def archive(parts):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return file.getvalue()


def word(paragraphs, **more):
    document = "".join(f"<w:p>{each}</w:p>" for each in paragraphs)
    types = '<Types><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
    name = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    return archive({"[Content_Types].xml": types, "word/document.xml": f'<w:document xmlns:w="{name}"><w:body>{document}</w:body></w:document>', **more})


def run(text, properties=""):
    return f'<w:r>{properties}<w:t xml:space="preserve">{text}</w:t></w:r>'


EXAMPLES = {
    "a.docx": word([run("lumi ") + run("tavo", "<w:rPr><w:b/></w:rPr>") + run(" keri"), run("Sona mipa.")]),
    "A.SRT": CUE.format(BOLD).encode(),
    "a.vtt": f"WEBVTT\n\n00:01.000 --> 00:02.000\n{BOLD}\n".encode(),
    "a.xlf": XLIFF.format(UNIT.format('lumi <g id="1">tavo</g> keri')).encode(),
    "a.tmx": b'<tmx version="1.4"><header srclang="ka"/><body><tu><tuv xml:lang="ka"><seg>lumi tavo keri</seg></tuv></tu></body></tmx>',
    "a.po": b'msgid "lumi tavo keri"\nmsgstr ""\n',
    "a.tsv": b"lumi tavo keri\t\nSona mipa.\tdone\n",
}


@pytest.fixture(name="python", scope="module", autouse=True)
def this_python():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTEND_PYTHON", sys.executable)
        yield patch


@pytest.fixture(name="server", scope="module")
def run_server(python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    (folder / "tmp").mkdir()
    python.setenv("TMPDIR", str(folder / "tmp"))
    (folder / "office.tsv").write_text("Sona mipa.\tDREI VIER.\n", encoding="utf-8")
    with serving(folder, "--memory", folder / "office.tsv") as server:
        yield server
    assert not list((folder / "tmp").iterdir())  # of all that ran


def content(server, answer):
    """The bytes of a translated file."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request("GET", answer["translatedFileUrl"].split(f":{server.port}")[1])
        got = connection.getresponse()
        assert got.status == 200 and got.headers["Content-Type"] == "application/octet-stream"
        return got.read()


def by_command(path):
    """What `attend translate-file` makes of it."""
    target = path.with_name(f"out{path.suffix}")
    subprocess.run([BUILD / "attend", "translate-file", MODEL, path, target, "--target-language", "su", "--threads", "1", "--quiet"], check=True)
    return target.read_bytes()


def parts_of(file):
    with zipfile.ZipFile(io.BytesIO(file)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_document_is_translated_as_by_the_command(server, tmp_path, name):
    status, answer = post_parts(server, "/translate_file", LANGUAGES, (name, EXAMPLES[name]))
    assert status == 200, answer
    assert answer["translatedFileUrl"].endswith(pathlib.Path(name).suffix.lower())
    path = tmp_path / name
    path.write_bytes(EXAMPLES[name])
    found, expected = content(server, answer), by_command(path)
    if name.endswith(".docx"):
        found, expected = parts_of(found), parts_of(expected)
    assert found == expected
    assert found != EXAMPLES[name]


def test_a_document_has_the_terms_and_the_memory(server):
    terms = json.dumps([{"source": "lumi", "target": "vesta"}])
    status, answer = post_parts(server, "/translate_file", {**LANGUAGES, "glossary": terms, "memory": "office"}, ("a.docx", EXAMPLES["a.docx"]))
    assert status == 200, answer
    texts = re.sub("<[^>]*>", " ", parts_of(content(server, answer))["word/document.xml"].decode()).split()
    assert "vesta" in texts and texts[-2:] == ["DREI", "VIER."]


def test_the_formats_are_listed(server):
    assert server.get("/frontend/settings")["supportedFilesFormat"] == PLAIN + DOCUMENTS
    package = pathlib.Path(__file__).parents[2] / "python/attend/documents/__init__.py"
    assert {".txt", *re.findall(r'^    "(\.\w+)": \("_', package.read_text(encoding="utf-8"), re.MULTILINE)} == {*PLAIN, *DOCUMENTS}
    for name in ("a.docx", "b.PO"):
        assert post_parts(server, "/v1/check_file", {}, (name, b"PK\x03\x04")) == (200, {})


def test_a_document_in_an_unknown_language_and_one_without_text(server):
    srt = (CUE.format(TEXT) + "\n" + CUE.format("Ann").replace("1\n", "2\n", 1)).encode()
    status, answer = post_parts(server, "/translate_file", {**LANGUAGES, "source": "auto"}, ("a.srt", srt))
    assert status == 200 and command_line(TEXT)[0].encode() in content(server, answer)
    status, answer = post_parts(server, "/translate_file", {**LANGUAGES, "source": "auto"}, ("a.tsv", b"\n\n"))
    assert status == 200 and content(server, answer) == b"\n\n"


def events_of(server, members, file):
    _, headers, text = server.request("POST", "/translate_file", *multipart(members, file))
    assert headers["Content-Type"] == "text/event-stream", text
    return events_in(text)


@pytest.mark.parametrize("file", [("a.tsv", (TEXT + "\n") * 20), ("a.txt", (TEXT + "\n") * 20)], ids=["document", "text"])
def test_progress_comes_as_events(server, file):
    events = events_of(server, {**LANGUAGES, "stream": "true"}, (file[0], file[1].encode()))
    assert [name for name, _ in events] == ["progress"] * 20 + ["done"]
    assert sorted(data["done"] for _, data in events[:-1]) == list(range(1, 21)) and {data["sentences"] for _, data in events[:-1]} == {20}
    assert content(server, events[-1][1]).count(command_line(TEXT)[0].encode()) == 20
    assert events[-1][1]["unfinished"] == (0 if server.translate(TEXT)[0]["finished"] else 20)
    assert post_parts(server, "/translate_file", {**LANGUAGES, "stream": "yes"}, ("a.txt", b"a"))[0] == 400


HOSTILE = {
    "a zip bomb": (("a.docx", word(["x"], zeros=bytes(40 << 20))), "times its size"),
    "no archive": (("a.docx", b"lumi"), "'a.docx' is no docx file: it is no ZIP archive"),
    "another format's parts": (("a.odt", word(["x"])), "content.xml"),
    "an old office file": (("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "old Office programs"),
    "an archive that is cut off": (("a.epub", word(["x"])[:-30]), "cut off"),
    "an entity bomb": (("a.xlf", ('<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>' + XLIFF.format("")).encode()), "entities"),
    "an entity of a file": (("a.tmx", b'<!DOCTYPE x [<!ENTITY a SYSTEM "/etc/passwd">]><tmx>&a;</tmx>'), "entities"),
    "deep formatting": (("a.xlf", XLIFF.format(UNIT.format('<g id="1">' * 230 + "x" + "</g>" * 230)).encode()), "200 deep"),
    "deep elements": (("a.xlf", XLIFF.format("<group>" * 300).encode()), "no XML that can be read"),
    "no text": (("a.srt", b"\xff\xfe\0"), "not UTF-8"),
    "other languages": (("a.xlf", XLIFF.format("").replace('"su"', '"de"').encode()), 'target-language="de"'),
    "more than a request may have": (("a.tsv", b"lumi\n" * 1100), "expected at most 1024"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_are_refused_by_name(server, name):
    file, words = HOSTILE[name]
    status, answer = post_parts(server, "/translate_file", LANGUAGES, file)
    assert status == 400 and words in answer["error"], answer
    assert "/attend-document" not in answer["error"]  # where it was


def test_what_is_wrong_with_the_request(server):
    file = ("a.srt", EXAMPLES["A.SRT"])
    assert post_parts(server, "/translate_file", {**LANGUAGES, "model": "none"}, file)[0] == 400
    assert post_parts(server, "/translate_file", {"source": "ka"}, file)[0] == 400
    status, answer = post_parts(server, "/translate_file", LANGUAGES, ("a.pdf", b"%PDF"))
    assert status == 400 and ".docx" in answer["error"]


# A reader of documents that does what the document says: the content is its program. It answers as attend.documents._serving does.
READER = """
import errno, json, os, resource, signal, sys, time
for line in sys.stdin:
    asked, answer = json.loads(line), {}
    if asked["ask"] == "formats":
        answer = {"formats": {".srt": "", ".po": "a .po file needs the package polib: pip install it"}}
    else:
        try:
            exec(open(asked["path"]).read())
        except MemoryError:
            answer = {"kind": "memory", "error": ""}
        except OSError as error:
            answer = {"kind": "size" if error.errno == errno.EFBIG else "runtime", "error": str(error)}
    print(json.dumps(answer), flush=True)
"""


@contextlib.contextmanager
def with_reader(folder, *arguments):
    """A server whose Python is that reader, and the folder of its temporary files."""
    program, files = folder / "python", folder / "tmp"
    files.mkdir()
    (folder / "reader.py").write_text(READER, encoding="utf-8")
    # As it is started: `python -c PROGRAM`; what the program does before it imports the package is done here too.
    program.write_text(f'#!{sys.executable}\nimport runpy, sys\nexec(sys.argv[2].split("; from ")[0])\nrunpy.run_path("{folder}/reader.py")\n',
                       encoding="utf-8")
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTEND_PYTHON", str(program))
        patch.setenv("TMPDIR", str(files))
        with serving(folder, *arguments) as server:
            yield server, files


def gone(folder, files):
    """Whether the process that wrote its number into `pid` has ended, and left nothing."""
    process = pathlib.Path("/proc") / (folder / "pid").read_text()
    return wait_until(lambda: not process.exists() and not list(files.iterdir()), "the end of the process")


def begun(folder):
    wait_until(lambda: (folder / "pid").exists() and (folder / "pid").read_text(), "the process")


ENDLESS = "open({!r}, 'w').write(str(os.getpid()))\nwhile True: time.sleep(1)"


@pytest.fixture(name="reader", scope="module")
def run_reader(tmp_path_factory):
    with with_reader(tmp_path_factory.mktemp("reader")) as served:
        yield served[0]


FAULTS = {
    "memory": ("bytearray(1 << 40)", 413, "more than 1024 MiB of memory"),
    "size": ("open(asked['texts'], 'wb').write(bytes(65 << 20))", 413, "larger than 64 MiB"),
    "time": ("os.kill(os.getpid(), signal.SIGXCPU)", 413, "more than 60 s"),
    "a crash": ("signal.signal(signal.SIGSEGV, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGSEGV)", 400, "signal 11"),
    "an end": ("sys.exit('no more')", 500, "no more"),
    "no answer": ("print('lumi')", 500, "makes no sense"),
    "an answer without end": ("print('lumi' * 100000)", 500, "makes no sense"),
    "another fault": ("answer = {'kind': 'runtime', 'error': 'a disk is full'}", 500, "'a.srt': a disk is full"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_reader_that_fails_is_told_of(reader, name):
    program, status, words = FAULTS[name]
    found = post_parts(reader, "/translate_file", LANGUAGES, ("a.srt", program.encode()))
    assert found[0] == status and words in found[1]["error"], found


def test_a_reader_has_limits_and_no_connections(reader):
    tell = """
limits = {name: resource.getrlimit(getattr(resource, name)) for name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_CORE")}
files = {each: os.readlink(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{each}")}
answer = {"kind": "input", "error": json.dumps([limits, files, os.nice(0), os.stat(os.path.dirname(asked["path"])).st_mode & 0o777])}
"""
    limits, files, nice, mode = json.loads(post_parts(reader, "/translate_file", LANGUAGES, ("a.srt", tell.encode()))[1]["error"])
    assert limits == {"RLIMIT_AS": [1 << 30] * 2, "RLIMIT_CPU": [60, 61], "RLIMIT_FSIZE": [64 << 20] * 2, "RLIMIT_CORE": [0, 0]}
    assert not any("socket" in name for name in files.values()), files
    assert nice >= 10 and mode == 0o700


def test_a_package_that_is_missing_is_named(reader):
    status, answer = post_parts(reader, "/translate_file", LANGUAGES, ("a.po", b"x"))
    assert status == 501 and "polib" in answer["error"]
    assert post_parts(reader, "/v1/check_file", {}, ("a.po", b"x")) == (status, answer)
    assert reader.get("/frontend/settings")["supportedFilesFormat"] == [*PLAIN, ".srt"]


def sent(server, file):
    """A connection on which a request for a file's translation was sent."""
    body, headers = multipart(LANGUAGES, ("a.srt", file))
    lines = ["POST /translate_file HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *map(": ".join, headers.items())]
    head = "\r\n".join(lines) + "\r\n\r\n"
    connection = server.connect()
    connection.sendall(head.encode() + body)
    return connection


def test_a_client_that_leaves_ends_the_process(tmp_path):
    with with_reader(tmp_path, "--document-count", 1) as (server, files):
        endless = ENDLESS.format(str(tmp_path / "pid")).encode()
        with sent(server, endless):
            begun(tmp_path)
            status, answer = post_parts(server, "/translate_file", LANGUAGES, ("a.srt", b""))
            assert status == 503, answer  # there is one at a time
        assert gone(tmp_path, files)
        assert post_parts(server, "/translate_file", LANGUAGES, ("a.srt", b"answer = {'kind': 'input', 'error': 'here'}")) == (400, {"error": "here"})


def test_a_deadline_ends_the_process(tmp_path):
    with with_reader(tmp_path, "--request-timeout", 4) as (server, files):  # time for the reader to begin
        server.get("/frontend/settings")
        assert post_parts(server, "/translate_file", LANGUAGES, ("a.srt", ENDLESS.format(str(tmp_path / "pid")).encode()))[0] == 504
        assert gone(tmp_path, files)


def test_the_end_of_the_server_ends_the_process(tmp_path):
    with with_reader(tmp_path, "--stop-timeout", 0) as (server, files):
        with sent(server, ENDLESS.format(str(tmp_path / "pid")).encode()):
            begun(tmp_path)
            assert server.stop() == 0
        assert gone(tmp_path, files)


def test_what_a_killed_server_left_goes_when_another_starts(tmp_path):
    with with_reader(tmp_path, "--stop-timeout", 0) as (server, files):
        others = files / "attend-document-other"  # of a process that lives
        others.mkdir()
        held = os.open(others, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        with sent(server, ENDLESS.format(str(tmp_path / "pid")).encode()):
            begun(tmp_path)
            server.process.kill()
            server.process.wait()
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
        assert len(list(files.glob("attend-document-*"))) == 2
        (tmp_path / "next").mkdir()
        with serving(tmp_path / "next"):
            wait_until(lambda: list(files.iterdir()) == [others], "the end of what was left")
        os.close(held)


def test_without_the_package_an_answer_says_what_to_install(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTEND_PYTHON", str(tmp_path / "none"))
        with serving(tmp_path) as server:
            status, answer = post_parts(server, "/translate_file", LANGUAGES, ("a.docx", EXAMPLES["a.docx"]))
            assert status == 501 and "pip install '.[documents]' in attend's source folder" in answer["error"] and "ATTEND_PYTHON" in answer["error"]
            assert server.get("/frontend/settings")["supportedFilesFormat"] == PLAIN
            assert post_parts(server, "/translate_file", LANGUAGES, ("a.txt", TEXT.encode()))[0] == 200


def test_not_too_many_wait_for_a_python_that_says_nothing(tmp_path):
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    silent.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTEND_PYTHON", str(silent))
        with serving(tmp_path) as server, contextlib.ExitStack() as stack:
            waiting = [stack.enter_context(sent(server, b"x")) for _ in range(80)]
            answered, _, _ = select.select(waiting, [], [], PATIENCE)
            assert answered[0].recv(1000).startswith(b"HTTP/1.1 503 ")
            assert server.get("/frontend/settings")["supportedFilesFormat"]
            assert server.stop() == 0


def test_documents_may_be_refused(tmp_path):
    with serving(tmp_path, "--documents", "off") as server:
        status, answer = post_parts(server, "/translate_file", LANGUAGES, ("a.docx", EXAMPLES["a.docx"]))
        assert status == 501 and "--documents off" in answer["error"]
        assert server.get("/frontend/settings")["supportedFilesFormat"] == PLAIN
