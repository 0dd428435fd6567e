"""A page: as JSON, as text for a terminal, as Markdown and as one HTML file that needs no other."""

from __future__ import annotations

import html
import json
import pathlib
from dataclasses import dataclass, field
from typing import Any

from attend._whole import whole

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
td b { background: #e3f1e5; border-radius: 3px; padding: 0 .25em; }
figure { margin: 1.5rem 0; }
@media (max-width: 40rem) { td.text:first-child { white-space: normal; } th, td { padding: .3rem .4rem; } }
.key { position: sticky; top: 0; background: #fff; padding: .35rem 0; display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; }
.key i { display: inline-block; width: 1.75rem; margin-right: .45rem; vertical-align: middle; }
.side { display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
.side figure { flex: 1 1 19rem; min-width: 0; margin: .5rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption { font-size: .875rem; color: #51606f; max-width: 52rem; }
code { font-size: .9em; background: #f3f6fa; padding: 0 .25em; border-radius: 3px; }
"""
MISSING = "–"


@dataclass
class Text:
    text: str

    def plain(self) -> str:
        return self.markdown()

    def markdown(self) -> str:
        return self.text + "\n"

    def html(self) -> str:
        return f"<p>{_inline(self.text)}</p>"


@dataclass
class Heading:
    text: str

    def plain(self) -> str:
        return f"{self.text}\n{'-' * len(self.text)}\n"

    def markdown(self) -> str:
        return f"## {self.text}\n"

    def html(self) -> str:
        return f"<h2>{_inline(self.text)}</h2>"


@dataclass
class Points:
    points: list[str]

    def plain(self) -> str:
        return self.markdown()

    def markdown(self) -> str:
        return "".join(f"- {point}\n" for point in self.points)

    def html(self) -> str:
        return "<ul>" + "".join(f"<li>{_inline(point)}</li>" for point in self.points) + "</ul>"


@dataclass
class Table:
    """Columns of words are named in `words`; rows in `strong` stand out, and so do cells in `best`, (row, column) each."""

    header: list[str]
    rows: list[list[str]]
    words: tuple[int, ...] = (0,)
    strong: tuple[int, ...] = ()
    best: frozenset[tuple[int, int]] = frozenset()

    def plain(self) -> str:
        """Columns in line; a star stands behind the best cells."""
        star = " " if self.best else ""
        rows = ([cell + ("*" if (r, c) in self.best else star) for c, cell in enumerate(row)] for r, row in enumerate(self.rows))
        lines = [[cell + star for cell in self.header], *rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

        def put(line: list[str]) -> str:
            cells = (cell.ljust(widths[c]) if c in self.words else cell.rjust(widths[c]) for c, cell in enumerate(line))
            return "  ".join(cells).rstrip() + "\n"

        return "".join(map(put, lines))

    def markdown(self) -> str:
        rule = ["---" if column in self.words else "---:" for column in range(len(self.header))]
        lines = [self.header, rule]
        for r, row in enumerate(self.rows):
            lines.append([f"**{cell}**" if cell and (r in self.strong or (r, c) in self.best) else cell for c, cell in enumerate(row)])
        return "".join("| " + " | ".join(line) + " |\n" for line in lines)

    def html(self) -> str:
        def cell(r: int, c: int, text: str) -> str:
            return f"<b>{_inline(text)}</b>" if (r, c) in self.best else _inline(text)

        def cells(tag: str, r: int, line: list[str]) -> str:
            return "".join(f'<{tag}{" class=text" if c in self.words else ""}>{cell(r, c, text)}</{tag}>' for c, text in enumerate(line))

        rows = "".join(f'<tr{" class=strong" if r in self.strong else ""}>{cells("td", r, row)}</tr>\n' for r, row in enumerate(self.rows))
        return f"<div class=wide><table><thead><tr>{cells('th', -1, self.header)}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>"


@dataclass
class Plot:
    """A picture, which Markdown leaves to the HTML page."""

    svg: str
    caption: str

    def plain(self) -> str:
        return ""

    def markdown(self) -> str:
        return f"*Plot in the HTML page: {self.caption}*\n"

    def html(self) -> str:
        caption = f"<figcaption>{_inline(self.caption)}</figcaption>" if self.caption else ""
        return f"<figure>{self.svg}{caption}</figure>"


@dataclass
class Curves:
    """Plots side by side, on narrow screens one below the other; text has a table of their numbers, and so has a page without plots."""

    plots: list[Plot]
    table: Table

    def plain(self) -> str:
        return self.table.plain()

    def markdown(self) -> str:
        return self.table.markdown()

    def html(self) -> str:
        return "<div class=side>" + "".join(plot.html() for plot in self.plots) + "</div>" if self.plots else self.table.html()


@dataclass
class Key:
    """Which line of the page's plots is whose: (name, colour, style), as CSS has them."""

    entries: list[tuple[str, str, str]]

    def plain(self) -> str:
        return ""

    def markdown(self) -> str:
        return ""

    def html(self) -> str:
        spans = (f'<span><i style="border-top: 3px {style} {colour}"></i>{html.escape(name)}</span>' for name, colour, style in self.entries)
        return "<p class=key>" + "".join(spans) + "</p>"


Block = Text | Heading | Points | Table | Plot | Curves | Key


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

    def plain(self) -> str:
        return "\n".join([f"{self.title}\n{'=' * len(self.title)}\n", *filter(None, (block.plain() for block in self.blocks))])

    def markdown(self) -> str:
        return "\n".join([f"# {self.title}\n", *(block.markdown() for block in self.blocks)])

    def html(self) -> str:
        body = "\n".join(block.html() for block in self.blocks)
        title = html.escape(self.title)
        return (f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
                f"<title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n{body}\n</html>\n")

    def write(self, stem: pathlib.Path) -> list[pathlib.Path]:
        texts = {".json": json.dumps(self.data, indent=1) + "\n", ".md": self.markdown(), ".html": self.html()}
        return [write_whole(stem.with_suffix(ending), text) for ending, text in texts.items()]


def write_whole(path: pathlib.Path, text: str) -> pathlib.Path:
    """The file appears whole or not at all."""
    with whole(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return path
