"""attend.recipes: whole ways to a better or a smaller model, as `attend distill` and `attend back-translate` take them.

    from attend.recipes import distill

    distill("big/model", "student.toml", "student", sources=["train.en"], targets=["train.de"])
"""

from attend.recipes._back_translate import back_translate
from attend.recipes._distill import distill

__all__ = ["back_translate", "distill"]
