"""What commands that run in Python share: how they end, and what they say of errors."""

from __future__ import annotations

from collections.abc import Callable

from attend._errors import Error, InputError
from attend._say import complain
from attend._whole import interruptible


def run(name: str, subject: str, work: Callable[[], None]) -> int:
    """Does the work on `subject`, a model or a document, which Ctrl-C ends at once; returns the exit status, after one line that tells an error."""
    return status_of(name, subject, lambda: interruptible(name, work))


def status_of(name: str, subject: str, work: Callable[[], None]) -> int:
    """The exit status of the work, after one line that tells an error; `subject` is what it is about."""
    try:
        work()
    except (Error, ModuleNotFoundError) as error:
        complain(f"{name}: {error}")
        return 3 if isinstance(error, InputError) else 2 if isinstance(error, ValueError) else 1
    except Exception as error:  # such as a disk that is full, which packages tell in ways of their own
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, OSError) and error.strerror:
            subject, reason = str(error.filename or subject), error.strerror
        complain(f"{name}: '{subject}': {' '.join(reason.split())}")
        return 1
    return 0
