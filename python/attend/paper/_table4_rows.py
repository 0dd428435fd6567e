"""The rows of Table 4, section 6.3: the paper's, and what is trained here."""

from __future__ import annotations

from dataclasses import dataclass

WSJ, MORE, OTHER = "WSJ only", "semi-supervised", "other"
PAPER = (  # parser, training, F1 on section 23 of WSJ
    ("Vinyals et al. (2014)", WSJ, 88.3), ("Petrov et al. (2006)", WSJ, 90.4), ("Zhu et al. (2013)", WSJ, 90.4), ("Dyer et al. (2016)", WSJ, 91.7),
    ("Transformer (4 layers)", WSJ, 91.3), ("Zhu et al. (2013)", MORE, 91.3), ("Huang and Harper (2009)", MORE, 91.3),
    ("McClosky et al. (2006)", MORE, 92.1), ("Vinyals et al. (2014)", MORE, 92.1), ("Transformer (4 layers)", MORE, 92.7),
    ("Luong et al. (2015)", "multi-task", 93.0), ("Dyer et al. (2016)", "generative", 93.3))


@dataclass(frozen=True)
class Bank:
    """A treebank, as attend.paper._treebanks and its recipe call it."""

    name: str
    title: str
    files: tuple[str, ...]  # of DATA
    raw_texts: tuple[str, ...] = ()  # of the semi-supervised row; none: there is no such row
    raw_files: tuple[str, ...] = ()
    older_raw_texts: tuple[str, ...] = ()  # that cells may have in place of raw_texts

    @property
    def rows(self) -> tuple[str, ...]:
        """The parser, the grammar beside it, and the parser with its own trees of raw text."""
        return (self.name, f"{self.name}-pcfg", *([f"{self.name}-silver"] if self.raw_texts else []))


WIKITEXT = "lm/wikitext2.train.txt.gz"
BANKS = (
    Bank("treebank", "Penn Treebank sample", ("treebank/train.list", "treebank/dev.list", "treebank/test.list"), ("wikitext2-penn",), (WIKITEXT,),
         ("wikitext2",)),
    Bank("craft", "CRAFT", tuple(f"craft-treebank/{part}.mrg.gz" for part in ("train", "dev", "test")), ("wikitext2", "craft-dev"),
         (WIKITEXT, "craft-treebank/dev.mrg.gz")),
    Bank("icepahc", "IcePaHC", ("icepahc/finished.psd.xz",)),
)
ROWS = [row for bank in BANKS for row in bank.rows]
