"""The checks of tools/ find what they are there to find. Each case plants one fault in a small tree."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = """# Architecture

| folder | what | may include |
|---|---|---|
| `include/attend/` | public | itself |
| `src/base/` | base | (every folder may include the public headers) |
| `src/text/` | text | base |
| `src/engine/` | engine | base text |
| `src/kernels/` | kernels | base |
| `src/nn/` | layers | all above |
| `src/train/` | train | all above |
| `src/cli/` | commands | all |
"""


@pytest.fixture(name="tree")
def small_tree(tmp_path):
    files = {
        "ARCHITECTURE.md": TABLE,
        "Makefile": "test:\n\ttrue\n",
        "include/attend/error.h": "#include <string>\nnamespace attend { class Error {}; }\n",
        "src/base/log.h": '#include "attend/error.h"\n',
        "src/text/pieces.h": '#include "base/log.h"\n#include <unicode/unistr.h>\n',
        "src/engine/engine.cc": '#include "text/pieces.h"\n#include <vector>\n',
        "src/train/loop/trainer.cc": '#include <torch/torch.h>\n#include "text/pieces.h"\n#include "base/log.h"\n',
        "src/cli/main.cc": '#include "engine/engine.h"\n{"translate", "help", Translate}\n',
        "src/engine/engine.h": "",
        "src/kernels/kernels.h": "",
        "src/nn/layers.h": "",
    }
    for name, text in files.items():
        write(tmp_path, name, text)
    return tmp_path


def write(tree, name, text):
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text, encoding="utf-8")


def run(check, tree):
    """Lines of complaint; the exit status must agree with them."""
    done = subprocess.run([sys.executable, ROOT / "tools" / check, tree], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == (1 if done.stdout else 0)
    return done.stdout.splitlines()


@pytest.mark.parametrize("check", ["check_includes.py", "check_budgets.py", "check_docs.py"])
def test_a_good_tree_passes(check, tree):
    assert run(check, tree) == []


@pytest.mark.parametrize("check", ["check_includes.py", "check_budgets.py", "check_docs.py"])
def test_this_project_passes(check):
    assert run(check, ROOT) == []


def test_the_speed_page_shows_the_newest_results(tree):
    assert subprocess.run([sys.executable, ROOT / "bench/show_results.py", "--check"], check=False).returncode == 0
    write(tree, "bench/README.md", "Before\n<!-- train -->\nold\n<!-- end -->\nafter\n")
    for date, speed in (("2026-01-02", 7), ("2026-01-10", 8)):
        write(tree, f"bench/results/train/{date}-a.md", f"A machine.\n\n| speed |\n|---|\n| {speed} |\n")
    command = [sys.executable, ROOT / "bench/show_results.py", tree]
    assert subprocess.run([*command, "--check"], capture_output=True, check=False).returncode == 1
    subprocess.run(command, check=True)
    shown = (tree / "bench/README.md").read_text(encoding="utf-8")
    older = "Older: [2026-01-02-a](results/train/2026-01-02-a.md)."
    assert shown == f"Before\n<!-- train -->\n| speed |\n|---|\n| 8 |\n\nA machine.\n{older}\n<!-- end -->\nafter\n"
    assert subprocess.run([*command, "--check"], check=False).returncode == 0


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        ("src/base/log.h", '#include "text/pieces.h"', "src/base may include nothing else"),
        ("src/text/pieces.h", '#include "engine/engine.h"', "src/text may include base"),
        ("src/engine/engine.cc", "#include <torch/torch.h>", "Torch is for"),
        ("src/engine/engine.cc", '#include "attend/nn/attention.h"', "the layers' headers bring in Torch"),
        ("src/engine/engine.cc", "#include <immintrin.h>", "src/kernels only"),
        ("src/engine/engine.cc", '#include "../text/pieces.h"', "no such file under src/"),
        ("include/attend/error.h", "#include <fmt/format.h>", "C++ standard library only"),
        ("include/attend/error.h", '#include "base/log.h"', "public headers only"),
        ("src/other/thing.cc", "#include <vector>", "not in the table"),
    ],
)
def test_a_forbidden_include_is_named(tree, file, line, reason):
    write(tree, file, line + "\n")
    problems = run("check_includes.py", tree)
    assert len(problems) == 1
    assert problems[0].startswith(file + ":1:")
    assert reason in problems[0]


def test_what_the_table_allows_passes(tree):
    write(tree, "src/kernels/inference/avx2.cc", "#include <immintrin.h>\n")
    write(tree, "include/attend/nn/attention.h", "#include <torch/torch.h>\n")
    write(tree, "src/nn/attention.cc", '#include "attend/nn/attention.h"\n')
    assert run("check_includes.py", tree) == []


def test_a_class_of_two_headers_is_named(tree):
    write(tree, "src/base/log.h", "namespace attend {\nclass Log {\n};\n}  // namespace attend\n")
    write(tree, "src/text/log.h", "namespace attend {\nnamespace {\nstruct Log {\n};\n}  // namespace\nclass Log;\nclass Log::Line {\n};\n}  // namespace attend\n")
    write(tree, "src/train/log.h", "namespace attend::nn {\nclass Log {\n};\n}  // namespace attend::nn\n")
    assert run("check_includes.py", tree) == []
    write(tree, "src/cli/log.h", "namespace attend {\nstruct Log : Base {\n};\n}  // namespace attend\n")
    assert run("check_includes.py", tree) == ["src/cli/log.h:2: src/base/log.h defines another attend::Log; give one of them another name"]


def test_a_thirteenth_public_header_is_refused(tree):
    for number in range(12):
        write(tree, f"include/attend/h{number}.h", "")
    assert "13 public headers" in run("check_includes.py", tree)[0]


def test_long_files_and_functions_are_named(tree):
    write(tree, "src/base/long.cc", "\n" * 501)
    body = "  Call();\n" * 49
    write(tree, "src/base/function.cc", f"namespace a {{\n\nvoid Good() {{\n{body[10:]}}}\n\nvoid Long(int x) {{\n{body}}}\n}}\n")
    write(tree, "src/base/constructor.cc", f'A::A(int x) : b_{{x}}, c_{{"{{"}} {{  // {{\n{body}}}\n')
    write(tree, "src/base/wide.cc", "int F(int a, int b, std::map<int, int> c, int d, int e, int f, int g) {\n}\n")
    write(tree, "tools/long.py", "def long():\n" + "    pass\n" * 50)
    problems = "\n".join(run("check_budgets.py", tree))
    assert "src/base/long.cc:1: 501 lines" in problems
    assert "src/base/function.cc:54: Long has 51 lines" in problems
    assert "Good" not in problems
    assert "src/base/constructor.cc:1: A::A has 51 lines" in problems
    assert "src/base/wide.cc:1: F has 7 parameters" in problems
    assert "tools/long.py:1: long has 51 lines" in problems
    assert problems.count("\n") == 4


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("`src/base/gone.h`", "no such file"),
        ("`NoSuchClass::Method(int)`", "no NoSuchClass"),
        ("`make coffee`", "no such target"),
        ("`attend dance`", "no such command"),
        ("`--no-such-option 3`", "no such option"),
        ("[text](docs/gone.md)", "leads nowhere"),
        ("[text](#no-such-part)", "no such heading"),
    ],
)
def test_a_name_that_does_not_exist_is_named(tree, line, reason):
    write(tree, "ARCHITECTURE.md", TABLE + line + "\n")
    problems = run("check_docs.py", tree)
    assert len(problems) == 1
    assert problems[0].startswith("ARCHITECTURE.md:13:")
    assert reason in problems[0]


def test_names_that_exist_pass(tree):
    good = "`src/base/log.h` `base/log.h` `*.cc` `Error` `make test` `attend translate` [a](#architecture) [b](Makefile)\n"
    write(tree, "ARCHITECTURE.md", TABLE + good)
    assert run("check_docs.py", tree) == []


def test_a_long_architecture_is_refused(tree):
    write(tree, "ARCHITECTURE.md", TABLE + "\n" * 150)
    assert "at most 150" in run("check_docs.py", tree)[0]


def test_skipped_tests_are_listed_with_their_reason(tmp_path):
    write(tmp_path, "Testing/Temporary/LastTest.log", """[ RUN      ] CorpusTest.ReadsIt
/src/corpus_test.cc:12: Skipped
ATTEND_DATA is not set

[  SKIPPED ] CorpusTest.ReadsIt (0 ms)
[ RUN      ] CorpusTest.Other
[       OK ] CorpusTest.Other (0 ms)
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] CorpusTest.ReadsIt
SKIPPED [2] tests/peer_test.py:7: no peer here
""")
    done = subprocess.run([ROOT / "tools/list_skipped", tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "skipped: 2", "  CorpusTest.ReadsIt: ATTEND_DATA is not set", "  tests/peer_test.py: no peer here"]


def forgotten_tests(root):
    """Test files under src/ and tests/ that no CMakeLists.txt names."""
    lists = [path for folder in ("src", "tests") for path in (root / folder).rglob("CMakeLists.txt")]
    named = {(path.parent / name).resolve() for path in lists for name in re.findall(r"[\w./-]+_test\.(?:py|cc)", path.read_text("utf-8"))}
    files = [path for folder in ("src", "tests") for kind in ("py", "cc") for path in (root / folder).rglob("*_test." + kind)]
    return sorted(str(path.relative_to(root)) for path in files if path.resolve() not in named)


def test_every_test_is_run():
    assert forgotten_tests(ROOT) == []


def test_a_forgotten_test_is_found(tree):
    write(tree, "tests/CMakeLists.txt", "attend_python_test(good_test cli/good_test.py)\n")
    write(tree, "src/base/CMakeLists.txt", "attend_test(base_test SOURCES log_test.cc\n  sub/more_test.cc)\n")
    for name in ("tests/cli/good_test.py", "src/base/log_test.cc", "src/base/sub/more_test.cc", "tests/good_test.py", "src/text/log_test.cc"):
        write(tree, name, "")
    assert forgotten_tests(tree) == ["src/text/log_test.cc", "tests/good_test.py"]
