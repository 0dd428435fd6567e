#!/usr/bin/env python3
"""Fails on files over 500 lines, functions over 50 lines and functions of more than 6 parameters.

usage: tools/check_budgets.py [ROOT]

Looks at the C++ and Python files that git knows (all files where ROOT is no repository). C++ is read by its braces, which
is exact for code that clang-format has laid out.
"""

import ast
import pathlib
import re
import subprocess
import sys

FILE_LINES, FUNCTION_LINES, PARAMETERS = 500, 50, 6
CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\\\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'""",
    re.S,
)


def blank(match):
    """The same text without its characters; line ends stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


def strip(text):
    """C++ text with comments, literals and preprocessor lines blanked out."""
    text = CODE.sub(blank, text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def parameter_count(head):
    """Number of parameters of the function whose declaration is `head`."""
    start = head.find("(")
    if re.search(r"\boperator\s*$", head[:start]):
        start = head.find("(", start + 1)
    depth, commas, used = 0, 0, False
    for character in head[start + 1 :]:
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            if depth == 0:
                break
            depth -= 1
        elif character == "," and depth == 0:
            commas += 1
        used = used or not character.isspace()
    given = 1 if "AutogradContext" in head else 0  # autograd's own parameter is not ours to leave out
    return commas + 1 - given if used else 0


def kind_of(head, enclosing):
    if re.search(r"\bnamespace\b|\bextern\b\s*$", head):
        return "scope"
    if enclosing == "scope" and "(" in re.sub(r"\b(alignas|requires|decltype|__attribute__)\b", "", head) and "=" not in (
        re.sub(r"operator\s*\S+|[<>=!]=", "", head.split("(")[0])
    ):
        return "function"
    if enclosing == "scope" and re.search(r"\b(class|struct|union|enum)\b", head):
        return "scope"
    return "block"


def cpp_functions(text):
    """(first line, last line, head) of each function body in C++ text."""
    text = strip(text)
    stack, head_start, found, line = [], 0, [], 1
    for position, character in enumerate(text):
        if character == "\n":
            line += 1
        elif character == "{":
            enclosing = stack[-1][0] if stack else "scope"
            braced_value = position > 0 and (text[position - 1].isalnum() or text[position - 1] in "_>")
            head = text[head_start:position]
            kind = "value" if enclosing == "scope" and braced_value else kind_of(head, enclosing)
            lead = len(head) - len(head.lstrip())
            first = text.count("\n", 0, head_start + lead) + 1
            stack.append((kind, first, head.strip()))
            if kind != "value":
                head_start = position + 1
        elif character == "}" and stack:
            kind, first, head = stack.pop()
            if kind == "function":
                found.append((first, line, head))
            if kind != "value":
                head_start = position + 1
        elif character == ";" and (not stack or stack[-1][0] == "scope"):
            head_start = position + 1
        elif character == ":" and re.search(r"\b(public|private|protected)\s*$", text[head_start:position]):
            head_start = position + 1
    return found


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = node.args
            count = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
            yield node.lineno, node.end_lineno, node.name, count


def check_file(path, text):
    problems = []
    lines = text.count("\n")
    if lines > FILE_LINES:
        problems.append(f"{path}:1: {lines} lines, at most {FILE_LINES}: split it by what it does")
    if path.endswith(".py"):
        functions = list(python_functions(text))
    else:
        functions = [
            (first, last, " ".join(head.split("(")[0].split()[-1:]), parameter_count(head))
            for first, last, head in cpp_functions(text)
        ]
    for first, last, name, parameters in functions:
        if last - first + 1 > FUNCTION_LINES:
            problems.append(f"{path}:{first}: {name} has {last - first + 1} lines, at most {FUNCTION_LINES}")
        if parameters > PARAMETERS:
            problems.append(f"{path}:{first}: {name} has {parameters} parameters, at most {PARAMETERS}")
    return problems


def files_of(root):
    known = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=False)
    names = known.stdout.splitlines() if known.returncode == 0 else []
    names = names or [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    return sorted(name for name in names if name.endswith((".cc", ".h", ".inc", ".py")) and (root / name).is_file())


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    problems = []
    for name in files_of(root):
        problems += check_file(name, (root / name).read_text(encoding="utf-8"))
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
