"""attend bench train: what it counts and reports. Speeds themselves are nobody's business here."""

import json
import os
import pathlib
import re
import subprocess
import time

import pytest
import tiny_run
from shapes import PRESETS, once_weights, step_weights

ATTEND = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"


@pytest.fixture(name="text", scope="module")
def prepare(tmp_path_factory):
    options = tiny_run.prepare(tmp_path_factory.mktemp("text"))
    return ["--vocab", options["vocab"], "--source", options["train_source"], "--target", options["train_target"]]


def bench(*arguments):
    command = [ATTEND, "bench", "train", *arguments, "--preset", "tiny", "--updates", 3]
    return subprocess.run(list(map(str, command)), env=tiny_run.environment(), capture_output=True, text=True, check=False)


def test_one_line_of_json_has_the_speed(text):
    done = bench(*text, "--batch-tokens", 200, "--threads", 2, "--json")
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    report = json.loads(done.stdout)
    assert {"preset": "tiny", "batch_tokens": 200, "threads": 2, "updates": 3}.items() <= report.items()
    assert 3 < report["target_tokens"] <= 3 * 200
    assert report["target_tokens_per_s"] == pytest.approx(report["target_tokens"] / report["seconds"])
    assert report["ms_per_update"] == pytest.approx(1000 * report["seconds"] / 3)
    assert report["peak_rss_mb"] > 1 and 0 < report["share_of_waiting_for_data"] < 1


def test_products_are_counted_forward_and_twice_backward(text):
    report = json.loads(bench(*text, "--json").stdout)
    each_source, each_target = once_weights(PRESETS["tiny"]), step_weights(PRESETS["tiny"], report["vocab_size"])
    multiply_adds = report["input_tokens"] * each_source + report["target_tokens"] * each_target
    operations = report["share_of_products"] * report["machine"]["f32_products_per_s"] * report["seconds"]
    assert operations == pytest.approx(6 * multiply_adds)
    assert report["flops"] * report["seconds"] == pytest.approx(6 * multiply_adds)


def test_people_get_a_table(text):
    done = bench(*text)
    assert done.returncode == 0
    for line in ("target tokens a second", "an update", "of the products' rate", "peak memory", "GFLOP/s f32"):
        assert line in done.stdout
    assert "of the peak" not in done.stdout  # a processor's is not known


def test_layers_are_measured_and_too_long_ones_left_out():
    command = [ATTEND, "bench", "layers", "--kind", "windowed_attention", "--widths", 64, "--lengths", 16, 32]
    done = subprocess.run([*map(str, command), "--longest", "0"], env=tiny_run.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0 and re.fullmatch(r"width +64 +length +16 +forward +\S+ ms .* memory +\S+ MB\nwidth +64 +length +32 +left out: too much time\n",
                                                 done.stdout), done.stdout + done.stderr
    done = subprocess.run([*map(str, command), "--graph", "--json"], env=tiny_run.environment(), capture_output=True, text=True, check=False)
    assert [point["path_length"] for point in json.loads(done.stdout)["graph"]] == [1, 2]


def test_the_share_of_a_given_peak_and_bf16(text):
    report = json.loads(bench(*text, "--batch-tokens", 20, "--precision", "bf16", "--peak-flops", "1e12", "--json").stdout)
    assert (report["precision"], report["machine"]["bf16_products_per_s"] > 0) == ("bf16", True)
    assert report["utilisation"] == pytest.approx(report["flops"] / 1e12)
    assert report["share_of_products"] == pytest.approx(report["flops"] / report["machine"]["bf16_products_per_s"])
    assert "of the peak" in bench(*text, "--batch-tokens", 20, "--peak-flops", "1e12").stdout


def test_what_is_missing_is_named(text):
    done = bench(*text[:4])
    assert done.returncode == 2 and done.stderr.startswith("attend bench train: --target is missing; ")
    help_text = subprocess.run([ATTEND, "bench", "train", "--help"], capture_output=True, text=True, check=True).stdout
    assert "required" not in help_text


def setting(path):
    path = pathlib.Path(path)
    return path.read_text(encoding="ascii").strip() if path.exists() else ""


@pytest.mark.skipif("[madvise]" not in setting("/sys/kernel/mm/transparent_hugepage/enabled"), reason="all or none have large pages")
@pytest.mark.skipif(setting("/proc/sys/vm/nr_hugepages") != "0", reason="large pages are reserved")
def test_large_pages_are_asked_for(text):
    command = list(map(str, [ATTEND, "bench", "train", *text, "--preset", "tiny", "--updates", 100000]))
    with subprocess.Popen(command, env=tiny_run.environment()) as process:
        deadline = time.monotonic() + 60
        asked = False
        while process.poll() is None and not asked and time.monotonic() < deadline:
            # Whether the kernel has any at hand is its own business.
            asked = re.search(r"VmFlags:.* hg\b", setting(f"/proc/{process.pid}/smaps")) is not None
            time.sleep(0.05)
        process.kill()
    assert asked


def test_memory_is_mimallocs():
    """The loader tells where LibTorch finds malloc."""
    environment = tiny_run.environment(LD_BIND_NOW=1, LD_DEBUG="bindings")
    done = subprocess.run([tiny_run.TRAIN, "--version"], env=environment, capture_output=True, text=True, check=True)
    bindings = [line for line in done.stderr.splitlines() if "libc10.so" in line and "`posix_memalign'" in line]
    assert bindings and all("libmimalloc" in line.split(" to ")[1] for line in bindings)
