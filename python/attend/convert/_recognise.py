"""What a source is, and in a sentence why it is none that can be imported."""

from __future__ import annotations

import pathlib
import zipfile

from attend._errors import InputError
from attend.convert import _marian
from attend.convert._files import model_type, optional_keys, read_json, shown

PAGE = "docs/coming_from.md lists what can be"


def found(looks_like: str, folder: pathlib.Path) -> str:
    """The model in words: the class that transformers' config.json names, or what its files look like."""
    kind = model_type(folder)
    if kind is None:
        return looks_like
    names = read_json(folder / "config.json").get("architectures")
    name = names[0] if isinstance(names, list) and names else "a model"
    return f"{name} of transformers (config.json with model_type {kind})"


def refusal(path: pathlib.Path, model_types: list[str]) -> InputError:
    reason = _of_folder(path, model_types) if path.is_dir() else _of_file(path)
    return InputError(f"'{path}' is no model that can be imported: {reason}")


def _of_folder(folder: pathlib.Path, model_types: list[str]) -> str:
    config = optional_keys(folder / "config.json").values
    if "model_type" in config:
        return f"model_type of its config.json is {shown(config['model_type'])}, expected one of {', '.join(model_types)}"
    if "format_version" in config:
        return "it is attend's own model directory; use it as it is"
    marian = _marian.models(folder)
    if marian:
        return f"it has {len(marian)} models of Marian ({', '.join(file.name for file in marian)}); name one of the files"
    for file in sorted(folder.glob("*.npz")):
        return _of_file(file)
    if config:
        return f"its config.json has no model_type, by which transformers names a kind of model; {PAGE}"
    return f"it has no config.json, .npz, .bin or .pt file of a model; {PAGE}"


def _of_file(file: pathlib.Path) -> str:
    if file.suffix == ".npz":
        whole = file.is_file() and zipfile.is_zipfile(file)
        return f"{file.name} has no '{_marian.OPTIONS}', as Marian's models have" if whole else f"{file.name} is not a whole .npz file"
    if (file.parent / "config.json").exists():
        return f"it is a file of a model; name its folder, '{file.parent}'"
    if file.suffix == ".pt":
        return "it is neither a checkpoint of fairseq nor one of OpenNMT-py 3"
    return f"it is no .npz, .bin or .pt file of a model; {PAGE}"
