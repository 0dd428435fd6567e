"""`attend paper`: the tables and figures of "Attention Is All You Need" on this machine, with the paper's numbers beside them.

A table is a module with a function `make`, which measures what is not measured yet and returns a Report. What was measured is kept in
`cells.jsonl` of the output folder, a line each, so a run that is stopped goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable

from attend.paper import _figures, _table1, _table2, _table3, _table4
from attend._report import Report
from attend.paper._work import Work

TABLES: dict[str, Callable[[Work], Report]] = {
    "table1": _table1.make, "table2": _table2.make, "table3": _table3.make, "table4": _table4.make,
    "figures": _figures.make}
