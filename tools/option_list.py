"""Reads docs/options.md, the option lists of all commands as tools/options_doc writes them."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"(?<!\\)\|")


@dataclasses.dataclass
class Option:
    name: str  # with its dashes
    takes: str  # FILE, TEXT, N and X with their range, or names with | between
    default: str  # "required", or what it is where it is not given
    what: str

    @property
    def choices(self):
        """The values to choose from; none where any text or number may stand."""
        return self.takes.split("|") if "|" in self.takes else []

    @property
    def is_switch(self):
        """The name alone turns it on; a value follows after = only."""
        return self.choices == ["true", "false"]

    @property
    def takes_file(self):
        return self.takes.startswith(("FILE", "TEXT"))


@dataclasses.dataclass
class Command:
    name: str  # "translate", "bench encode"
    summary: str
    examples: list[str]
    positionals: list[tuple[str, str]]
    groups: list[tuple[str, list[Option]]]  # under their headings; "" first

    @property
    def options(self):
        """Each option once, in order."""
        return list({option.name: option for _, group in reversed(self.groups) for option in reversed(group)}.values())[::-1]


def _option(line):
    cells = [cell.strip().replace("\\|", "|") for cell in ROW.split(line)[1:-1]]
    name, takes, default, what = cells
    return Option(name.strip("`"), takes, default.strip("`"), what)


def _command(name, part):
    head, examples, body = re.match(r"(.*?)```bash\n(.*?)```(.*)", part, flags=re.S).groups()
    pieces = re.split(r"^### (.*)$", body, flags=re.M)
    groups = [(heading, [_option(line) for line in text.splitlines() if line.startswith("| `--")])
              for heading, text in zip(["", *pieces[1::2]], pieces[::2])]
    positionals = re.findall(r"^`([A-Z]+)`: (.*)$", pieces[0], flags=re.M)
    return Command(name, head.strip().removesuffix("."), examples.splitlines(), positionals, groups)


def read(path=ROOT / "docs/options.md"):
    """The commands, in their order."""
    pieces = re.split(r"^## attend (.*)$", path.read_text(encoding="utf-8"), flags=re.M)
    return [_command(name, part) for name, part in zip(pieces[1::2], pieces[2::2])]


def version():
    return re.search(r"project\(attend VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
