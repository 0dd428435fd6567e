"""What the commands that run in Python share: `attend import` and `attend export`, and `attend paper` and `attend compare` what it says of errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from attend._errors import Error, InputError
from attend.convert._source import Tensors
from attend.convert._whole import interruptible


def describe(model: dict[str, Any], tensors: Tensors) -> str:
    stacks = [stack for stack in (model["encoder"], model["decoder"]) if stack]
    layers = " + ".join(str(stack["layers"]) for stack in stacks)
    size = model["target_vocab_size"] or model["source_vocab_size"]
    count = sum(tensor.size for tensor in tensors.values())
    return f"{layers} layers, {stacks[0]['d_model']} wide, {size:,} tokens, {count / 1e6:.1f} million weights"


def run(name: str, subject: str, work: Callable[[], None]) -> int:
    """Does the work on the model `subject`, which Ctrl-C ends at once; returns the exit status, after one line that tells an error."""
    return status_of(name, subject, lambda: interruptible(name, work))


def status_of(name: str, subject: str, work: Callable[[], None]) -> int:
    """The exit status of the work, after one line that tells an error; `subject` is what it is about."""
    try:
        work()
    except (Error, ModuleNotFoundError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 3 if isinstance(error, InputError) else 2 if isinstance(error, ValueError) else 1
    except Exception as error:  # such as a disk that is full, which packages tell in ways of their own
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, OSError) and error.strerror:
            subject, reason = str(error.filename or subject), error.strerror
        print(f"{name}: '{subject}': {' '.join(reason.split())}", file=sys.stderr)
        return 1
    return 0
