"""Starts the training program of attend, which is in this package, with the LibTorch of the torch that is installed."""

import importlib.metadata
import importlib.util
import os
import pathlib
import sys

from attend_train._built_for import TORCH


def refuse(reason):
    print(f"attend-train: {reason}; pip install 'torch=={TORCH}.*'", file=sys.stderr)
    sys.exit(2)


def main():
    """Becomes the program; ends with status 2 where the torch that it was built for is not installed."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        refuse(f"torch is not installed in {sys.prefix}; expected torch {TORCH}")
    version = importlib.metadata.version("torch")
    if not version.startswith(f"{TORCH}."):
        refuse(f"torch {version} is installed in {sys.prefix}; this attend-train is built for torch {TORCH}")
    # Libraries are looked for there before any other place; what the user has set stays behind it.
    folders = [str(pathlib.Path(found.origin).parent / "lib"), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    program = pathlib.Path(__file__).parent / "attend-train"
    os.execve(program, [str(program), *sys.argv[1:]], {**os.environ, "LD_LIBRARY_PATH": ":".join(folders)})
