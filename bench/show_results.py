#!/usr/bin/env python3
"""Puts the newest measured table of each kind into bench/README.md.

usage: bench/show_results.py [--check] [ROOT]     --check fails where the README shows something else

bench/results/KIND/ holds one file a measurement, named so that the newest sorts last: its first line says machine, commit and
command; a Markdown table follows. The README shows the last of them between `<!-- KIND -->` and `<!-- end -->`.
"""

import argparse
import pathlib
import re
import sys

PLACE = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", flags=re.S)


def shown(folder):
    """The newest measurement, table first, and links to the older ones."""
    *older, newest = sorted(folder.glob("*.md"))
    heading, table = newest.read_text("utf-8").strip().split("\n\n", 1)
    links = ", ".join(f"[{path.stem}](results/{folder.name}/{path.name})" for path in reversed(older))
    return f"{table}\n\n{heading}\n" + (f"Older: {links}.\n" if older else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    options = parser.parse_args()
    readme = options.root / "bench/README.md"
    present = readme.read_text("utf-8")
    wanted = PLACE.sub(lambda match: match[1] + shown(options.root / "bench/results" / match[2]) + match[3], present)
    if not options.check:
        readme.write_text(wanted, "utf-8")
    elif wanted != present:
        sys.exit("bench/README.md does not show the newest of bench/results/; run bench/show_results.py")


if __name__ == "__main__":
    main()
