"""attend.recipes: whole ways to a better or a smaller model, as `attend distill` and `attend back-translate` take them.

    from attend.recipes import Distillation

    Distillation(teacher="big/model", config="student.toml", output="student", sources=["train.en"], targets=["train.de"]).run()
"""

from attend.recipes._back_translate import BackTranslation
from attend.recipes._distill import Distillation

__all__ = ["BackTranslation", "Distillation"]
