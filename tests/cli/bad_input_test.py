"""Bad input for every command: a clear error each, with the status that design promises, and nothing lost."""

import pytest
from programs import attend, commands, refused

HERE = commands()


@pytest.fixture(name="files", scope="module")
def make_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "empty").write_bytes(b"")
    (folder / "binary").write_bytes(bytes(range(256)) * 64)
    (folder / "text").write_text("one line\nanother line\n" * 50, encoding="utf-8")
    (folder / "folder").mkdir()
    return folder


# command, arguments ({F} is the folder of files), exit status, what the message names
CASES = [
    ("vocab", "--input {F}/gone --output {F}/v.spm", 3, "{F}/gone"),
    ("vocab", "--input {F}/folder --output {F}/v.spm", 3, "{F}/folder"),
    ("vocab", "--input {F}/empty --output {F}/v.spm", 3, "no text"),
    ("vocab", "--input {F}/text --size 15 --output {F}/gone/v.spm", 1, "{F}/gone"),
    ("vocab", "--input {F}/text --size 1 --output {F}/v.spm", 2, "--size"),
    ("vocab", "--input {F}/text --type wordpiece --output {F}/v.spm", 2, "unigram, bpe"),
    ("vocab", "--input {F}/text", 2, "--output"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case[:2]))
def test_bad_input_is_refused(case, files):
    command, arguments, status, part = case
    if command not in HERE:
        pytest.skip(f"this build has no attend {command}")
    before = sorted(files.rglob("*"))
    done = attend(command, *arguments.format(F=files).split())
    refused(done, status, part.format(F=files))
    assert sorted(files.rglob("*")) == before
