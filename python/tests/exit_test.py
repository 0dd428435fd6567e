"""A program that ends while a thread translates ends at once and quietly, with its own exit status. So does a command that signals stop."""

import signal
import time

import pytest
from package import GOLDEN, run, start

SETUP = """
import itertools, os, sys, threading, time
import attend

translator = attend.Translator(sys.argv[1], threads=2)
big = ["sona mipa, rudu vesta!"] * 10**6
begun = threading.Event()

def forever(work):
    def repeat():
        while True:
            begun.set()
            work()
    threading.Thread(target=repeat, daemon=True).start()

def dawdling():
    while True:
        time.sleep(0.001)
        yield "olin"
"""
WORK = {
    "many short calls": "forever(lambda: translator.translate('olin', max_length=2))",
    "a long call": "forever(lambda: translator.translate('olin', beam_size=64, min_length=10**5, max_length=10**5))",
    "a large call": "forever(lambda: translator.translate(big))",
    "a stream": "forever(lambda: list(translator.translate_lines(itertools.repeat('olin'))))",
    "a slow stream": "forever(lambda: list(translator.translate_lines(dawdling(), max_length=2)))",
    "a list that dawdles": "forever(lambda: translator.translate(dawdling()))",
    "scores": "forever(lambda: translator.score(big, big))",
    "attention": "forever(lambda: translator.attention('sona mipa', 'olin'))",
    "metrics": "forever(lambda: attend.bleu(big[:1000], big[:1000]))",
    "loading": "forever(lambda: attend.Translator(sys.argv[1], threads=2))",
    "many threads": "for _ in range(8): forever(lambda: translator.translate('olin', max_length=3))",
}


def end(code, repeats=5, stop=None):
    """The exit status, equal each time, of programs that say nothing but `ready`."""
    found = set()
    for _ in range(repeats):
        process = start(SETUP + code, GOLDEN)
        if stop:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
            process.send_signal(stop)
        output, errors = process.communicate(timeout=120)
        found.add((process.returncode, output.replace("ready\n", ""), errors))
    return found


@pytest.mark.parametrize("work", WORK)
def test_the_main_thread_ends(work):
    assert end(WORK[work] + "\nbegun.wait(); time.sleep(0.05)") == {(0, "", "")}


@pytest.mark.parametrize("ending, status", [("sys.exit(3)", 3), ("os._exit(4)", 4), ("sys.exit()", 0)])
@pytest.mark.parametrize("work", ["many short calls", "a long call", "scores"])
def test_the_exit_status_is_the_program_s(work, ending, status):
    assert end(f"{WORK[work]}\nbegun.wait(); time.sleep(0.02); {ending}") == {(status, "", "")}


def test_a_mistake_elsewhere_is_told_as_ever():
    for status, _, errors in end(f"{WORK['a long call']}\nbegun.wait(); raise KeyError('mine')", 2):
        assert status == 1 and errors.splitlines()[-1] == "KeyError: 'mine'"


@pytest.mark.parametrize("work", ["many short calls", "a long call"])
def test_ctrl_c_in_the_main_thread(work):
    # Short sleeps: Python may miss a signal that comes just before a sleep begins.
    code = WORK[work] + """
begun.wait()
try:
    print("ready", flush=True)
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    sys.exit(5)
"""
    assert end(code, 3, signal.SIGINT) == {(5, "", "")}


def test_threads_that_are_waited_for_finish_their_work():
    assert run(SETUP + """
def work():
    time.sleep(0.2)
    sys.stdout.write(translator.translate(["lumi tavo keri"] * 3000)[2999] + "\\n")   # one write: threads do not mix their lines
for _ in range(3):
    threading.Thread(target=work).start()
""", GOLDEN).splitlines() == run("""
import attend, sys
print(attend.Translator(sys.argv[1]).translate("lumi tavo keri"))
""", GOLDEN).splitlines() * 3


def test_a_call_from_an_exit_handler_runs():
    assert end("""
import atexit
forever(lambda: translator.translate('olin', max_length=2))
begun.wait()
atexit.register(lambda: print(translator.translate('olin', max_length=2) != ''))
""", 2) == {(0, "True\n", "")}


SLOW_TO_STOP = """
import pathlib, shutil, sys, time
from attend import _whole

remove = shutil.rmtree

def slowly(path, **options):
    print("removing", flush=True)
    time.sleep(1)
    remove(path, **options)

_whole.shutil.rmtree = slowly

def work():
    with _whole.whole(pathlib.Path(sys.argv[1])) as unfinished:
        unfinished.write_text("begun")
        print("ready", flush=True)
        time.sleep(60)

_whole.interruptible("a command", work)
"""


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_leaves_the_work_of_the_first(second, tmp_path):
    process = start(SLOW_TO_STOP, tmp_path / "made")
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "removing\n"
    for _ in range(3):
        process.send_signal(second)
        time.sleep(0.05)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (143, "a command: interrupted; nothing was written\n")
    assert not list(tmp_path.iterdir())
