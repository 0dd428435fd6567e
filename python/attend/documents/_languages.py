"""Codes of languages, such as en, en-US and eng."""

from __future__ import annotations

import re


def same_language(one: str, other: str) -> bool:
    """de and de-AT are the same, de-AT and de-CH are not."""
    a, b = one.lower().replace("_", "-"), other.lower().replace("_", "-")
    return a == b or a.startswith(f"{b}-") or b.startswith(f"{a}-")


def without_variant(code: str) -> str:
    """en of en-US."""
    return re.split("[-_]", code.lower())[0]


def other_language(one: str, other: str) -> bool:
    """Whether they are of two languages for certain: variants of one are not, and de and deu may be the same."""
    a, b = without_variant(one), without_variant(other)
    return len(a) == len(b) and a != b
