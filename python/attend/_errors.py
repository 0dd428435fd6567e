"""What the package raises: one class for each kind of error, with a message of one line."""


class Error(Exception):
    """What was wrong, the value found, the value expected, the cure."""


class UsageError(Error, ValueError):
    """A call that makes no sense."""


class ConfigurationError(Error, ValueError):
    """An option with an unknown name, a wrong type or a wrong value."""


class InputError(Error, OSError):
    """A file that is missing, unreadable, damaged or not what it claims to be; a text too long for the model."""


class RunError(Error, RuntimeError):
    """Anything else: no room for threads, a disk that is full."""


class ScoreWarning(UserWarning):
    """A score that may say little: of tokenised text, or of text that the metric's tokenizer does not suit."""


class CutTextWarning(UserWarning):
    """Texts that are longer than the model can read, of which the beginning was used."""


class MalformedTextWarning(UserWarning):
    """Text that is no Unicode, such as lone surrogates, of which each became U+FFFD."""
