"""recipes/fusion/graph_from_text.py on a few items, with a tagger that knows their words."""

import importlib.util
import json
import types

import attend
from package import ROOT

LABELS = {"Varuma": "CLUSTER", "cotton": "MATERIAL", "Silk": "MATERIAL", "ikat": "TECHNIQUE"}
TEXTS = {"train": ["Varuma cotton ikat", "Varuma cotton", "Silk Varuma"], "valid": ["Varuma Silk"], "test": ["cotton of nowhere"]}


class Tagger:
    def tag(self, texts):
        entities = [[types.SimpleNamespace(text=word, label=LABELS[word]) for word in text.split() if word in LABELS] for text in texts]
        return [types.SimpleNamespace(entities=each) for each in entities]


def test_what_descriptions_tell_twice_is_the_graph(tmp_path, monkeypatch, capsys):
    data, made = tmp_path / "data", tmp_path / "made"
    data.mkdir()
    (data / "graph.tsv").write_text("Varuma\tlies in\tnorth\nVaruma\tweaves\twool\n", encoding="utf-8")
    for name, texts in TEXTS.items():
        items = [{"id": str(number), "text": text, "picture": f"{number}.png", "links": ["Varuma", "cotton"], "label": "a"}
                 for number, text in enumerate(texts)]
        (data / f"{name}.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("graph_from_text", ROOT / "recipes/fusion/graph_from_text.py")
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    monkeypatch.setattr(attend, "load", lambda _: Tagger())
    monkeypatch.setattr("sys.argv", ["graph_from_text.py", "tagger", str(data), str(made)])
    program.main()
    assert (made / "graph.tsv").read_text(encoding="utf-8") == "Varuma\tlies in\tnorth\nVaruma\tweaves\tcotton\n"  # silk and ikat stand once
    items = {name: [json.loads(line) for line in (made / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()] for name in TEXTS}
    assert [item["links"] for item in items["train"]] == [["Varuma", "cotton"], ["Varuma", "cotton"], ["Varuma"]]
    assert items["test"][0] == {"id": "0", "text": TEXTS["test"][0], "picture": "../data/0.png", "links": ["cotton"], "label": "a"}
    assert capsys.readouterr().out.splitlines() == [
        "train: 5 of 6 links found, 0 others", "valid: 1 of 2 links found, 0 others", "test: 1 of 2 links found, 0 others"]
