#!/usr/bin/env python3
"""Transcribes a recording with one of two programs and prints a JSON report: the best time of several, and the text.

usage: bench/whisper_transcribe.py attend|faster-whisper --model MODEL --recording FILE [--type int8|float32] [--beam-size N] [--repeats N]

One thread; no times, no search of other temperatures. attend is the package of build/python; faster-whisper is one of the packages of
tools/requirements_bench.txt.
"""

import argparse
import json
import pathlib
import sys
import time


def attend(options):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "build/python"))
    import attend as package

    kind = {"int8": "int8", "float32": "f32"}[options.type]
    transcriber = package.Transcriber(options.model, type=kind, threads=1)
    return lambda: transcriber.transcribe([options.recording], beam_size=options.beam_size)[0].hypotheses[0].text, f"attend {package.__version__}"


def faster_whisper(options):
    import faster_whisper as package

    model = package.WhisperModel(options.model, device="cpu", compute_type=options.type, cpu_threads=1)

    def transcribe():
        segments, _ = model.transcribe(
            options.recording, beam_size=options.beam_size, temperature=0.0, without_timestamps=True, condition_on_previous_text=False, language="en")
        return " ".join(segment.text.strip() for segment in segments)

    return transcribe, f"faster-whisper {package.__version__}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=["attend", "faster-whisper"])
    parser.add_argument("--model", required=True)
    parser.add_argument("--recording", required=True)
    parser.add_argument("--type", choices=["int8", "float32"], default="int8")
    parser.add_argument("--beam-size", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    transcribe, name = {"attend": attend, "faster-whisper": faster_whisper}[options.program](options)
    seconds, text = [], ""
    for _ in range(options.repeats):
        begin = time.perf_counter()
        text = transcribe()
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"program": name, "seconds": min(seconds), "text": text}))


if __name__ == "__main__":
    main()
