#!/usr/bin/env python3
"""Fails on an include against the folder table of ARCHITECTURE.md, and on a class that two headers define.

usage: tools/check_includes.py [ROOT]

The table's first column names folders, its last one what a folder may include besides itself and the public headers:
folders of src/, "all above", "all", "itself" or nothing. Three rules stand beside it: Torch only in include/attend/nn,
src/nn and src/train, instruction-set headers only in src/kernels, and no third-party header in include/attend.

Two classes of one name in one namespace are against C++'s rule of one definition: the linker keeps the functions of one
of them for both, and says nothing.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SIMD = re.compile(r"^(\w*intrin|arm_neon|arm_sve|cpuid)\.h$")
NAMESPACE = re.compile(r"^namespace\s*([\w:]*)")
CLASS = re.compile(r"^(?:class|struct) (\w+)(?!\w|::)[^;]*$")
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
GENERATED = {"attend_version.h"}
PUBLIC, LAYERS = "include/attend", "include/attend/nn"


def read_table(text):
    """Folder -> set of folders of src it may include, or None where the table sets no bound."""
    rules, above, inside = {}, set(), False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0] == "folder" and cells[-1] == "may include":
            inside = True
        elif inside and not line.startswith("|"):
            break
        elif inside and not set(line) <= set("|-: "):
            folder = re.match(r"`([^`]+)`", cells[0]).group(1).split()[0].rstrip("/")
            bound = re.sub(r"\(.*\)", "", cells[-1])
            names = set(re.findall(r"[a-z_]+", bound))
            if "above" in names:
                rules[folder] = set(above)
            else:
                rules[folder] = None if "all" in names or (not names and "src/" not in folder) else names - {"itself"}
            if folder.startswith("src/"):
                above.add(folder[4:])
    return rules


def folder_of(path, rules):
    """The row of the table that a file belongs to, as the longest folder that holds it."""
    held = [folder for folder in rules if path.startswith(folder + "/")]
    return max(held, key=len, default=None)


def complaint(root, path, kind, target, rules):
    """What is wrong with one include, or None."""
    in_layers = path.startswith(LAYERS + "/")
    with_torch = in_layers or path.startswith(("src/nn/", "src/train/", "tests/"))
    if TORCH.match(target) and not with_torch:
        return "Torch is for include/attend/nn, src/nn and src/train only"
    if SIMD.match(target) and not path.startswith("src/kernels/"):
        return "instruction-set headers are for src/kernels only"
    free = target == "attend/nn/dropout.h" and path.startswith("src/kernels/training/")  # plain C++
    if target.startswith("attend/nn/") and not (with_torch or free or path.startswith("src/cli/")):
        return "the layers' headers bring in Torch; they are for src/nn and src/train only"
    public = path.startswith(PUBLIC + "/") and not in_layers
    if kind == "<":
        if public and ("/" in target or target.endswith(".h")):
            return "a public header includes the C++ standard library only"
        return None
    if target in GENERATED or target.startswith("attend/"):
        return None if target in GENERATED or (root / "include" / target).is_file() else "no such file under include/"
    if public or in_layers:
        return "a public header includes public headers only"
    beside_src = ("fuzz/", "python/", "tests/")
    if target.startswith(beside_src) and path.startswith(beside_src) and (root / target).is_file():
        return None
    if not (root / "src" / target).is_file():
        return 'no such file under src/; quotes are for the project\'s own headers, by their path from src/ or include/'
    folder, own = target.split("/")[0], path.split("/")[1]
    allowed = rules[folder_of(path, rules)]
    if allowed is None or folder == own or folder in allowed:
        return None
    return f"src/{own} may include {', '.join(sorted(allowed)) or 'nothing else'} (ARCHITECTURE.md)"


def defined_twice(root):
    """Classes outside of functions, classes and nameless namespaces that several headers of src/ and include/ define."""
    headers, problems = {}, []
    for file in sorted([*(root / "include").rglob("*.h"), *(root / "src").rglob("*.h")]):
        inside = []
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("}  // namespace") and inside:
                inside.pop()
            elif space := NAMESPACE.match(line):
                inside.append(space.group(1))
            elif (found := CLASS.match(line)) and all(inside):
                name, path = "::".join([*inside, found.group(1)]), file.relative_to(root).as_posix()
                if name in headers and headers[name] != path:
                    problems.append(f"{path}:{number}: {headers[name]} defines another {name}; give one of them another name")
                headers.setdefault(name, path)
    return problems


def check(root):
    rules = read_table((root / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    if "src/base" not in rules:
        return ["ARCHITECTURE.md: no folder table with columns `folder | what | may include`"]
    problems = []
    for top in ("include", "src", "tests", "bench", "fuzz", "python"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".h", ".cc", ".cpp", ".inc"):
                continue
            path = file.relative_to(root).as_posix()
            if folder_of(path, rules) is None:
                problems.append(f"{path}:1: its folder is not in the table of ARCHITECTURE.md")
                continue
            if path.startswith("tests/consumer/"):
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                wrong = match and complaint(root, path, match.group(1), match.group(2), rules)
                if wrong:
                    problems.append(f"{path}:{number}: {line.strip()}: {wrong}")
    problems += defined_twice(root)
    count = len(list((root / PUBLIC).glob("*.h")))
    if count > 12:
        problems.append(f"{PUBLIC}: {count} public headers, at most 12 (the layers of nn/ do not count)")
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    problems = check(root)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
