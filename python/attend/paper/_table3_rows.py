"""The rows of Table 3, section 6.2: what each changes in the paper, its numbers there, and the same change of the small model here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FULL_SIZE = {"layers": 6, "d_model": 512, "heads": 8, "d_ff": 2048}
SMALL = {"layers": 4, "d_model": 128, "heads": 4, "d_ff": 256}


@dataclass(frozen=True)
class Row:
    name: str
    change: str  # as the paper writes it
    here: str
    full_size: dict[str, Any]  # members of both stacks in the paper
    small: dict[str, Any]  # of both stacks here
    perplexity: float
    bleu: float
    millions: float | None = None  # parameters, where the paper has them
    training: dict[str, float] = field(default_factory=dict)  # options, in the paper and here

    @property
    def block(self) -> str:
        return self.name if self.name in ("base", "big") else self.name[0]


ROWS = (
    Row("base", "base", "base", {}, {}, 4.92, 25.8, 65),
    Row("A1", "h = 1, d_k = d_v = 512", "h = 1, d_k = d_v = 128", {"heads": 1}, {"heads": 1}, 5.29, 24.9),
    Row("A2", "h = 4, d_k = d_v = 128", "h = 2, d_k = d_v = 64", {"heads": 4}, {"heads": 2}, 5.00, 25.5),
    Row("A3", "h = 16, d_k = d_v = 32", "h = 8, d_k = d_v = 16", {"heads": 16}, {"heads": 8}, 4.91, 25.8),
    Row("A4", "h = 32, d_k = d_v = 16", "h = 16, d_k = d_v = 8", {"heads": 32}, {"heads": 16}, 5.01, 25.4),
    Row("B1", "d_k = 16", "d_k = 8", {"d_k": 16}, {"d_k": 8}, 5.16, 25.1, 58),
    Row("B2", "d_k = 32", "d_k = 16", {"d_k": 32}, {"d_k": 16}, 5.01, 25.4, 60),
    Row("C1", "N = 2", "N = 1", {"layers": 2}, {"layers": 1}, 6.11, 23.7, 36),
    Row("C2", "N = 4", "N = 3", {"layers": 4}, {"layers": 3}, 5.19, 25.3, 50),
    Row("C3", "N = 8", "N = 5", {"layers": 8}, {"layers": 5}, 4.88, 25.5, 80),
    Row("C4", "d_model = 256, d_k = d_v = 32", "d_model = 64, d_k = d_v = 16", {"d_model": 256}, {"d_model": 64}, 5.75, 24.5, 28),
    Row("C5", "d_model = 1024, d_k = d_v = 128", "d_model = 256, d_k = d_v = 64", {"d_model": 1024}, {"d_model": 256}, 4.66, 26.0, 168),
    Row("C6", "d_ff = 1024", "d_ff = 128", {"d_ff": 1024}, {"d_ff": 128}, 5.12, 25.4, 53),
    Row("C7", "d_ff = 4096", "d_ff = 512", {"d_ff": 4096}, {"d_ff": 512}, 4.75, 26.2, 90),
    Row("D1", "P_drop = 0.0", "P_drop = 0.0", {}, {}, 5.77, 24.6, training={"dropout": 0.0}),
    Row("D2", "P_drop = 0.2", "P_drop = 0.2", {}, {}, 4.95, 25.5, training={"dropout": 0.2}),
    Row("D3", "ε_ls = 0.0", "ε_ls = 0.0", {}, {}, 4.67, 25.3, training={"label_smoothing": 0.0}),
    Row("D4", "ε_ls = 0.2", "ε_ls = 0.2", {}, {}, 5.47, 25.7, training={"label_smoothing": 0.2}),
    Row("E", "learned positions", "learned positions", {"positions": "learned"}, {"positions": "learned", "max_positions": 257}, 4.92, 25.7),
    Row("big", "d_model = 1024, d_ff = 4096, h = 16, P_drop = 0.3", "d_model = 256, d_ff = 512, h = 8, P_drop = 0.3",
        {"d_model": 1024, "d_ff": 4096, "heads": 16}, {"d_model": 256, "d_ff": 512, "heads": 8}, 4.33, 26.4, 213, {"dropout": 0.3}),
)
NAMES = [row.name for row in ROWS]


def with_stacks(model: dict[str, Any], stack: dict[str, Any]) -> dict[str, Any]:
    """`model` of config.json with these members in both stacks."""
    return model | {side: model[side] | stack for side in ("encoder", "decoder")}
