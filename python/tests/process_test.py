"""The package in a process with others: beside torch and sentencepiece, between threads, under Ctrl-C."""

import signal
import threading
import time

import pytest
from package import GOLDEN, run, start

TORCH = "import torch\nassert float((torch.ones(3, 3) @ torch.ones(3, 3)).sum()) == 27"
SENTENCEPIECE = """
import sentencepiece
peer = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1] + "/vocab.spm")
assert peer.decode(peer.encode("lumi tavo")) == "lumi tavo"
"""
ATTEND = """
import attend
translator = attend.Translator(sys.argv[1], threads=2)
assert attend.Vocabulary(sys.argv[1] + "/vocab.spm").encode("lumi") == translator.source_vocabulary.encode("lumi")
print(translator.translate("lumi tavo keri"))
"""


@pytest.mark.parametrize("order", [(TORCH, SENTENCEPIECE, ATTEND), (ATTEND, SENTENCEPIECE, TORCH)], ids=["last", "first"])
def test_import_order_does_not_matter(order, translator):
    code = "\n".join(["import sys", *order, *order])
    assert run(code, GOLDEN) == (translator.translate("lumi tavo keri") + "\n") * 2


def test_other_threads_run_during_work(translator):
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    translator.translate("sona mipa, rudu vesta!", beam_size=64, min_length=300, max_length=300)
    end = time.monotonic()
    done.set()
    thread.join()
    assert end - begin > 0.1, "too quick to tell"
    assert sum(begin < at < end for at in ticks) >= 20


def test_threads_share_a_translator(translator):
    texts = ["lumi tavo keri", "neri dosa", "olin", "sona mipa"]
    expected = [translator.translate(text) for text in texts]
    results = {}

    def work(i):
        results[i] = [translator.translate(texts[i]) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[i] for i in range(len(texts))] == [[text] * 20 for text in expected]


@pytest.mark.parametrize("call", [
    "translator.translate(big)",
    "translator.translate('olin', beam_size=64, min_length=10**5, max_length=10**5)",  # hours
    "list(translator.translate_lines(itertools.repeat('olin')))",
    "translator.score(big, big)",
])
def test_ctrl_c_ends_the_work(call):
    process = start(f"""
import itertools, sys
import attend
translator = attend.Translator(sys.argv[1], threads=1)
big = ["sona mipa, rudu vesta!"] * 10**6
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
""", GOLDEN)
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    output, errors = process.communicate(timeout=60)
    assert time.monotonic() - sent < 5
    assert (process.returncode, output) == (0, "interrupted\n"), errors
