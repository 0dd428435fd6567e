#!/usr/bin/env python3
"""Counts the protected spans that a model copies exactly, in sentences like Multi30k's made for it.

bench/protected_spans.py --attend build/attend --model runs/en-de/model [--lines 500] [--options=--protect=false]

Each line has one to four spans: numbers, URLs, e-mail addresses, file names, placeholders, code and tags. A span is
intact where the translation has its text as often as the source, bounded by no letter or digit that would run into it.
"""

import argparse
import collections
import random
import re
import subprocess

NUMBERS = ["3", "17", "1,234.56", "2,500", "-5", "50%", "3.5 %", "12:30", "2024-05-01", "01/05/2024", "v2.3.1", "192.168.0.1",
           "$5.00", "1920x1080", "10MB", "5km", "+49 30 1234567", "24/7", "1e-5", "#42", "1990", "0x1F", "10-20"]
URLS = ["https://example.com", "http://example.com/a/b?x=1&y=2#top", "www.example.org", "example.com/dogs",
        "https://en.wikipedia.org/wiki/Dog_(animal)", "https://münchen.de/straße", "ftp://files.example.net/pub",
        "http://localhost:8080/x", "https://example.com/%7Euser/;v=1"]
MAILS = ["a@b.org", "first.last+tag@sub.example.co.uk", "info@example.com", "jörg.k@example.de"]
FILES = ["report_v2.final.pdf", "C:\\Users\\me\\photo.jpg", "/usr/local/bin", "~/notes.md", "src/main.cc", "archive.tar.gz",
         "config.yaml", "../data/train.en", "IMG_0042.png"]
PLACEHOLDERS = ["{name}", "{0}", "%s", "%(x)d", "${y}", "{{z}}", "%1$s", "%5.2f", "$HOME", "{user.name}", "{{ count }}", "%@"]
CODE = ["`ls -l`", "`x = 1`", "`attend train`"]
KINDS = {"number": NUMBERS, "url": URLS, "email": MAILS, "file": FILES, "placeholder": PLACEHOLDERS, "code": CODE}

WHO = ["A man", "A woman", "A little girl", "Two dogs", "A group of people", "Three children", "A young boy", "An old man"]
WHERE = ["in a red shirt", "on the street", "in front of a building", "near the water", "at a table", "in the snow"]
FRAMES = ["{who} {where} looks at {a} .", "{who} holds a sign with {a} .", "{who} {where} reads {a} and {b} .",
          "{who} writes to {a} .", "{a} is written on a wall .", "{who} opens {a} on a laptop {where} .",
          "{who} is standing {where} ( {a} ) .", "{who} {where} shows {a} , {b} and {c} .",
          "{who} plays with {a} while another man looks at {b} .", "See {a} : {who} is walking {where} .",
          "{who} in a shirt with the words \"{a}\" .", "{who} {where} is <b>jumping</b> over {a} .",
          "{who} sees <x id=\"1\"/> {where} .", "{a} people are sitting {where} ."]


def sentences(lines: int, seed: int) -> list[tuple[str, list[str]]]:
    """Lines and the spans of each, in order."""
    draw = random.Random(seed)
    made = []
    while len(made) < lines:
        frame = draw.choice(FRAMES)
        kinds = ["number"] if frame.startswith("{a} people") else list(KINDS)
        values = {slot: draw.choice(KINDS[draw.choice(kinds)]) for slot in "abc" if f"{{{slot}}}" in frame}
        spans = [values[slot] for slot in sorted(values)] + re.findall(r"<[^>]+>", frame)
        made.append((frame.format(who=draw.choice(WHO), where=draw.choice(WHERE), **values), spans))
    return made


def intact(span: str, output: str) -> int:
    """How often the span stands in the output by itself."""
    before = r"(?<![^\W_])" if span[0].isalnum() else ""
    after = r"(?![^\W_])" if span[-1].isalnum() else ""
    return len(re.findall(before + re.escape(span) + after, output))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--model", required=True)
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--options", default="", help="further options of attend translate")
    parser.add_argument("--show", type=int, default=10, help="lines with a span that is not intact to print")
    arguments = parser.parse_args()
    made = sentences(arguments.lines, arguments.seed)
    outputs = subprocess.run(
        [arguments.attend, "translate", "--model", arguments.model, *arguments.options.split()],
        input="".join(line + "\n" for line, _ in made), capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    total, kept, whole = collections.Counter(), collections.Counter(), 0
    for (line, spans), output in zip(made, outputs, strict=True):
        missing = 0
        for span in spans:
            kind = next((name for name, values in KINDS.items() if span in values), "tag")
            total[kind] += 1
            # A span may stand in another one, as 3 may in 3.5 %.
            right = intact(span, output) == intact(span, line)
            kept[kind] += right
            missing += not right
        whole += missing == 0
        if missing and arguments.show > 0:
            arguments.show -= 1
            print(f"{line}\n  {output}")
    for kind in total:
        print(f"{kind:12} {kept[kind]} of {total[kind]}")
    print(f"{'all':12} {kept.total()} of {total.total()} = {100 * kept.total() / total.total():.2f} %")
    print(f"{'lines':12} {whole} of {len(made)}")


if __name__ == "__main__":
    main()
