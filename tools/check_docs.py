#!/usr/bin/env python3
"""Fails where the documents say what is not so.

usage: tools/check_docs.py [ROOT]

Every relative link of every Markdown file leads to a file, and its #part to a heading. Every name in backticks in
ARCHITECTURE.md exists: paths as files or folders, identifiers as words of the sources, commands in src/cli, make targets in
the Makefile, options in some field list. ARCHITECTURE.md has at most 150 lines.
"""

import fnmatch
import functools
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
SOURCE_SUFFIXES = (".cc", ".h", ".inc", ".py", ".txt", ".cmake", ".toml", ".json", ".sh", ".js", ".html")
MADE_LATER = ("build", ".venv", ".deps", "DIR", "MODEL", "out")  # paths that building or running makes


def tracked(root):
    known = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=False
    )
    names = known.stdout.splitlines() if known.returncode == 0 else []
    return names or [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]


def without_fences(text):
    return re.sub(r"^```.*?^```", lambda match: "\n" * match.group(0).count("\n"), text, flags=re.M | re.S)


def anchors(text):
    """GitHub's names of a document's headings."""
    found = set()
    for heading in re.findall(r"^#+\s+(.*)$", without_fences(text), flags=re.M):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-"))
    return found


def check_links(root, name, text):
    problems = []
    for number, line in enumerate(without_fences(text).splitlines(), 1):
        for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            target = match.group(1) or match.group(2)
            if re.match(r"[a-z]+:", target):
                continue
            path, _, part = target.partition("#")
            file = (root / name).parent / path if path else root / name
            if not file.exists():
                problems.append(f"{name}:{number}: the link to {target} leads nowhere")
            elif part and part not in anchors(file.read_text(encoding="utf-8")):
                problems.append(f"{name}:{number}: {target}: no such heading")
    return problems


class Names:
    """What exists, to look up what a document names."""

    def __init__(self, root):
        self.root = root
        self.files = tracked(root)

    @functools.cached_property
    def words(self):
        found = set()
        for name in self.files:
            if name.endswith(SOURCE_SUFFIXES) and (self.root / name).is_file():
                found.update(re.findall(r"[A-Za-z_]\w*", (self.root / name).read_text(encoding="utf-8", errors="ignore")))
        return found

    @functools.cached_property
    def make_targets(self):
        return set(re.findall(r"^([\w-]+):", (self.root / "Makefile").read_text(encoding="utf-8"), flags=re.M))

    @functools.cached_property
    def commands(self):
        text = "".join(path.read_text(encoding="utf-8") for path in sorted((self.root / "src/cli").glob("*.cc")))
        return set(re.findall(r'\{"([a-z]+)",', text))

    def path_exists(self, token):
        token = token.rstrip("/")
        if token.split("/")[0] in MADE_LATER or (self.root / token).exists() or (self.root / "src" / token).exists():
            return True
        pattern = token if "/" in token else "*/" + token
        return any(fnmatch.fnmatch("/" + file, "*/" + pattern) for file in self.files)

    def complaint(self, token):
        """What is wrong with one token in backticks, or None."""
        if token.startswith("make "):
            return None if token.split()[1] in self.make_targets else "no such target in the Makefile"
        if re.match(r"attend [a-z]+", token):
            return None if token.split()[1] in self.commands else "no such command in src/cli"
        if token.startswith("--"):
            name = re.match(r"--([\w.-]*)", token).group(1).replace("-", "_").split(".")[0]
            return None if name in self.words else "no such option"
        if " " in token and "/" in token and all("/" in part for part in token.split()):
            return next(filter(None, map(self.complaint, token.split())), None)
        is_file = re.search(r"[\w*]\.(cc|h|md|jsonl?|toml|txt|py|safetensors|spm|html|svg)$", token)
        if re.fullmatch(r"[\w.*/+-]+", token) and ("/" in token or is_file):
            return None if self.path_exists(token) or token in self.file_words else "no such file or folder"
        identifiers = re.findall(r"[A-Za-z_]\w*", re.sub(r"\([^)]*\)", "", token))
        missing = [word for word in identifiers if word not in self.words]
        return f"no {missing[0]} in the sources" if missing else None

    @functools.cached_property
    def file_words(self):
        """File names that the sources write, such as model.safetensors."""
        found = set()
        for name in self.files:
            if name.endswith((".cc", ".h", ".py")) and (self.root / name).is_file():
                text = (self.root / name).read_text(encoding="utf-8", errors="ignore")
                found.update(re.findall(r'[\w-]+\.(?:json|jsonl|safetensors|spm|toml|html|svg)', text))
        return found


def check_names(root, text):
    problems, names = [], Names(root)
    for number, line in enumerate(without_fences(text).splitlines(), 1):
        for token in re.findall(r"`([^`]+)`", line):
            wrong = names.complaint(token)
            if wrong:
                problems.append(f"ARCHITECTURE.md:{number}: `{token}`: {wrong}")
    return problems


def check(root):
    problems = []
    for name in tracked(root):
        if name.endswith(".md") and (root / name).is_file():
            problems += check_links(root, name, (root / name).read_text(encoding="utf-8"))
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    if text.count("\n") > 150:
        problems.append(f"ARCHITECTURE.md: {text.count(chr(10))} lines, at most 150")
    return problems + check_names(root, text)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    problems = check(root)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
