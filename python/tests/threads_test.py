"""Calls of one Translator from several threads, and what children of a process do with it."""

import multiprocessing
import os
import signal
import threading
import traceback

import attend
import pytest
from package import GOLDEN, LINES, run

ENDLESS = {"min_length": 10**5, "max_length": 10**5}


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_short_call_does_not_wait_for_a_long_one(threads):
    run(f"""
import sys, threading, time
import attend

translator = attend.Translator(sys.argv[1], threads={threads})
expected = translator.translate("lumi tavo keri")
score = translator.score("lumi tavo", expected)
attention = translator.attention("lumi tavo keri")
begun = threading.Barrier(4)

def work(texts):
    begun.wait()
    translator.translate(texts, **{ENDLESS})

for texts in ("olin", ["neri dosa"] * 16, ["sona"] * 16):
    threading.Thread(target=work, args=(texts,), daemon=True).start()
begun.wait()
time.sleep(0.1)
for _ in range(3):
    assert translator.translate("lumi tavo keri") == expected
    assert translator.translate(["lumi tavo keri"] * 20) == [expected] * 20
    assert list(translator.translate_lines(["lumi tavo keri"] * 20)) == [expected] * 20
    assert translator.score("lumi tavo", expected) == score
    assert (translator.attention("lumi tavo keri").cross == attention.cross).all()
""", GOLDEN)


def test_calls_of_all_kinds_at_once_give_what_they_give_alone(translator):
    calls = [
        lambda: [t.hypotheses for t in translator.translate(LINES, n_best=2, beam_size=3)],
        lambda: [t.hypotheses for t in translator.translate(LINES, beam_size=1, max_length=7)],
        lambda: [t.hypotheses for t in translator.translate_lines(LINES, alignments=True)],
        lambda: translator.score(LINES, LINES),
        lambda: translator.translate("sona mipa").hypotheses,
        lambda: translator.attention("sona mipa").cross.tolist(),
    ]
    expected = [call() for call in calls]
    wrong = []

    def work(call, want):
        try:
            for _ in range(5):
                assert call() == want
        except BaseException:  # pylint: disable=broad-except
            wrong.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=pair) for pair in zip(calls, expected, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]


def in_child(work):
    """Whether work() is true in a child of this process that ends as children do."""
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        try:
            os._exit(0 if work() else 1)
        except BaseException:  # pylint: disable=broad-except
            traceback.print_exc()
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


def test_a_child_translates_with_its_parent_s_model(translator):
    expected = translator.translate(LINES)
    scores = translator.score(LINES, expected)

    def work():
        grandchild = in_child(lambda: translator.translate(LINES) == expected)
        return grandchild and translator.translate(LINES) == expected and translator.score(LINES, expected) == scores

    assert in_child(work)
    assert translator.translate(LINES) == expected
    untouched = attend.Translator(GOLDEN, threads=3)  # no thread of it ran anything yet
    assert in_child(lambda: untouched.translate(LINES) == expected)


def test_a_child_of_a_process_in_the_midst_of_calls(translator):
    expected = translator.translate(LINES)
    done = threading.Event()

    def work():
        while not done.is_set():
            translator.translate(LINES, max_length=8)
            translator.score("sona", "mipa")

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            assert in_child(lambda: translator.translate(LINES) == expected)
    finally:
        done.set()
        for thread in threads:
            thread.join()


def translated(lines):
    return list(map(str, SHARED.translate(lines)))


SHARED = None


def test_a_pool_of_forked_processes(translator):
    global SHARED  # pylint: disable=global-statement
    SHARED = translator
    expected = list(map(str, translator.translate(LINES)))
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map(translated, [LINES] * 6) == [expected] * 6


def test_children_that_fork_and_end_as_programs_do():
    # A server that loads first and forks its workers, each of which ends by sys.exit.
    output = run("""
import os, sys
import attend
translator = attend.Translator(sys.argv[1], threads=2)
if len(sys.argv) > 1: translator.translate("olin")
children = []
for worker in range(3):
    child = os.fork()
    if child == 0:
        if worker > 0: os.write(1, f"{translator.translate('lumi tavo keri')}\\n".encode())  # at once
        sys.exit(worker)
    children.append(child)
assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 1, 2]
print(translator.translate("lumi tavo keri"))
""", GOLDEN)
    assert len(output.splitlines()) == 3 and len(set(output.splitlines())) == 1


def test_workers_of_a_data_loader():
    pytest.importorskip("torch")
    output = run("""
import sys
import attend, torch.utils.data
translator = attend.Translator(sys.argv[1], threads=2)

class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return str(translator.translate("lumi tavo keri " * (1 + i % 2)))

expected = [Texts()[i] for i in range(8)]
for _ in range(2):
    loader = torch.utils.data.DataLoader(Texts(), batch_size=2, num_workers=2, multiprocessing_context="fork")
    assert [text for batch in loader for text in batch] == expected
print("same")
""", GOLDEN)
    assert output == "same\n"
