"""A table's page: as JSON, as Markdown and as one HTML file that needs no other."""

from __future__ import annotations

import html
import json
import pathlib
from dataclasses import dataclass, field
from typing import Any

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2530; background: #fff; max-width: 68rem; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin-bottom: .5rem; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; }
p, li { max-width: 52rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: .3rem .65rem; border-bottom: 1px solid #dde3ea; text-align: right; vertical-align: top; }
th { border-bottom: 2px solid #8795a6; vertical-align: bottom; font-weight: 600; }
th.text, td.text { text-align: left; }
td.text:first-child { white-space: nowrap; }
tr.strong td { font-weight: 600; background: #f3f6fa; }
figure { margin: 1.5rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption { font-size: .875rem; color: #51606f; max-width: 52rem; }
code { font-size: .9em; background: #f3f6fa; padding: 0 .25em; border-radius: 3px; }
"""
MISSING = "–"


@dataclass
class Text:
    text: str

    def markdown(self) -> str:
        return self.text + "\n"

    def html(self) -> str:
        return f"<p>{_inline(self.text)}</p>"


@dataclass
class Heading:
    text: str

    def markdown(self) -> str:
        return f"## {self.text}\n"

    def html(self) -> str:
        return f"<h2>{_inline(self.text)}</h2>"


@dataclass
class Points:
    points: list[str]

    def markdown(self) -> str:
        return "".join(f"- {point}\n" for point in self.points)

    def html(self) -> str:
        return "<ul>" + "".join(f"<li>{_inline(point)}</li>" for point in self.points) + "</ul>"


@dataclass
class Table:
    """Columns of words are named in `words`; rows in `strong` stand out."""

    header: list[str]
    rows: list[list[str]]
    words: tuple[int, ...] = (0,)
    strong: tuple[int, ...] = ()

    def markdown(self) -> str:
        rule = ["---" if column in self.words else "---:" for column in range(len(self.header))]
        lines = [self.header, rule, *([f"**{cell}**" if r in self.strong and cell else cell for cell in row] for r, row in enumerate(self.rows))]
        return "".join("| " + " | ".join(line) + " |\n" for line in lines)

    def html(self) -> str:
        def cells(tag: str, line: list[str]) -> str:
            return "".join(f'<{tag}{" class=text" if c in self.words else ""}>{_inline(cell)}</{tag}>' for c, cell in enumerate(line))

        rows = "".join(f'<tr{" class=strong" if r in self.strong else ""}>{cells("td", row)}</tr>\n' for r, row in enumerate(self.rows))
        return f"<div class=wide><table><thead><tr>{cells('th', self.header)}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>"


@dataclass
class Plot:
    """A picture, which Markdown leaves to the HTML page."""

    svg: str
    caption: str

    def markdown(self) -> str:
        return f"*Plot in the HTML page: {self.caption}*\n"

    def html(self) -> str:
        return f"<figure>{self.svg}<figcaption>{_inline(self.caption)}</figcaption></figure>"


Block = Text | Heading | Points | Table | Plot


def _inline(text: str) -> str:
    """`code` alone is marked up."""
    parts = html.escape(text, quote=False).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


@dataclass
class Report:
    title: str
    data: dict[str, Any]  # the numbers, for programs
    blocks: list[Block] = field(default_factory=list)

    def add_processors(self, processors: list[str]) -> None:
        """What the figures were measured on."""
        if processors:
            self.data["processors"] = processors
            self.blocks.append(Text(f"Measured on: {', '.join(processors)}."))

    def markdown(self) -> str:
        return "\n".join([f"# {self.title}\n", *(block.markdown() for block in self.blocks)])

    def html(self) -> str:
        body = "\n".join(block.html() for block in self.blocks)
        title = html.escape(self.title)
        return (f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
                f"<title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n{body}\n</html>\n")

    def write(self, stem: pathlib.Path) -> list[pathlib.Path]:
        """Each file appears whole or not at all."""
        texts = {".json": json.dumps(self.data, indent=1) + "\n", ".md": self.markdown(), ".html": self.html()}
        paths = []
        for ending, text in texts.items():
            path = stem.with_suffix(ending)
            part = path.with_suffix(ending + ".part")
            part.write_text(text, encoding="utf-8")
            part.replace(path)
            paths.append(path)
        return paths
