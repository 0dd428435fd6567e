"""Prints what zsh lists for a line when it is asked for its completions.

usage: python zsh_completions.py FOLDER LINE      FOLDER holds _attend
"""

import os
import pathlib
import pty
import re
import select
import sys
import tempfile

SETUP = """PROMPT='RE''ADY>'; fpath=({folder} $fpath); autoload -Uz compinit; compinit -D -u; LISTMAX=9999
PROMPT="READY>"; bindkey -e; setopt no_beep no_list_packed
"""


def read_until(terminal, mark):
    seen = b""
    while mark not in seen and select.select([terminal], [], [], 10)[0]:
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            break
    return seen.decode("utf-8", errors="replace")


def main():
    folder, line = sys.argv[1:]
    home = tempfile.TemporaryDirectory()
    pathlib.Path(home.name, ".zshrc").write_text(SETUP.format(folder=folder), encoding="utf-8")
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe("zsh", ["zsh", "-d", "-i"], {**os.environ, "TERM": "xterm", "COLUMNS": "500", "ZDOTDIR": home.name})
    read_until(terminal, b"READY>")
    os.write(terminal, line.encode() + b"\x04\x15print DO''NE\r")
    shown = read_until(terminal, b"DONE")
    os.write(terminal, b"exit\r")
    print(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "\n", shown))
    home.cleanup()


if __name__ == "__main__":
    main()
