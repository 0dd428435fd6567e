#!/usr/bin/env python3
"""Makes recordings of the ten digits by synthetic voices, and DIRECTORY/train.tsv (`path<TAB>text`) of them.

usage: voices.py DIRECTORY [COUNT]     needs NumPy

COUNT (4,000) recordings of espeak-ng, flite and festival, of those that are installed: Debian's packages espeak-ng, flite, festival,
festvox-kallpc16k, festvox-kdlpc16k and festvox-us-slt-hts. espeak-ng has by far the most voices, so it makes eight of ten. Each
recording draws its voice, its pitch and its speed. As in the corpus of spoken digits there are 8,000 samples a second, and no silence
before and after the word.
"""

import pathlib
import random
import re
import shutil
import subprocess
import sys
import wave

import numpy
from tables import RATE, WORDS, without_quiet_ends

ESPEAK_VOICES = "en-gb en-us en-gb-scotland en-gb-x-gbclan en-gb-x-rp en-gb-x-gbcwmd en-029".split()
FLITE_VOICES = "kal awb kal16 rms slt".split()
FESTIVAL_VOICES = "kal_diphone ked_diphone cmu_us_slt_arctic_hts".split()


def variants():
    """Names of espeak-ng's ways to speak with a voice, without those that nobody has."""
    listed = subprocess.run(["espeak-ng", "--voices=variant"], capture_output=True, text=True, check=True).stdout
    odd = re.compile("robo|whisper|croak|demon|fast", re.IGNORECASE)
    return sorted(name for name in re.findall(r"!v/(\S+)", listed) if not odd.search(name))


def espeak(word, path, draw, names):
    voice = f"{draw.choice(ESPEAK_VOICES)}+{draw.choice(names)}"
    subprocess.run(["espeak-ng", "-v", voice, "-p", str(draw.randint(20, 80)), "-s", str(draw.randint(110, 210)), "-w", path, word],
                   capture_output=True, check=True)


def flite(word, path, draw):
    voice = draw.choice(FLITE_VOICES)
    pitch = draw.randint(150, 230) if voice == "slt" else draw.randint(80, 150)
    subprocess.run(["flite", "-voice", voice, "--setf", f"duration_stretch={draw.uniform(0.75, 1.35):.2f}", "--setf",
                    f"int_f0_target_mean={pitch}", "-t", word, "-o", path], capture_output=True, check=True)


def festival(word, path, draw):
    stretch = f"(Parameter.set 'Duration_Stretch {draw.uniform(0.75, 1.35):.2f})"
    subprocess.run(["text2wave", "-eval", f"(voice_{draw.choice(FESTIVAL_VOICES)})", "-eval", stretch, "-o", path], input=word, text=True,
                   capture_output=True, check=True)


def at_rate(samples, rate):
    """Without the frequencies that RATE can't have."""
    count = len(samples) * RATE // rate
    return numpy.fft.irfft(numpy.fft.rfft(samples)[: count // 2 + 1], count) * count / len(samples)


def finish(path):
    """Leaves what is louder than a fiftieth of the loudest sample, and a hundredth of a second around it. False: nothing is."""
    with wave.open(str(path)) as file:
        rate, samples = file.getframerate(), numpy.frombuffer(file.readframes(file.getnframes()), "<i2")
    if not samples.any():
        return False
    samples = at_rate(samples, rate)
    samples = without_quiet_ends(samples)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", None))
        file.writeframes(samples.round().clip(-32768, 32767).astype("<i2").tobytes())
    return True


def main():
    if "--help" in sys.argv[1:]:
        return print(__doc__)
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    directory, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 4000
    speakers = []
    if shutil.which("espeak-ng"):
        names = variants()
        speakers += 8 * [("espeak", lambda word, path, draw: espeak(word, path, draw, names))]
    if shutil.which("flite"):
        speakers.append(("flite", flite))
    if shutil.which("text2wave"):
        speakers.append(("festival", festival))
    if not speakers:
        sys.exit("there is no espeak-ng, flite or festival; install Debian's packages of these names")
    draw, lines = random.Random(1), []
    (directory / "voices").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        word, (kind, speak) = WORDS[number % 10], draw.choice(speakers)
        path = directory / "voices" / f"{number}_{word}_{kind}.wav"
        speak(word, str(path), draw)
        if finish(path):
            lines.append(f"{path.relative_to(directory)}\t{word}\n")
    (directory / "train.tsv").write_text("".join(lines), encoding="utf-8")
    print(f"{len(lines)} recordings")


if __name__ == "__main__":
    main()
