"""attend attention: numbers, the SVG and the page, with tokens that are hostile to markup."""

import html.parser
import json
import math
import pathlib
import re
import xml.etree.ElementTree

import pytest
from programs import attend, refused

MODEL = pathlib.Path(__file__).resolve().parents[1] / "data" / "golden_v1"
LANGUAGE_MODEL = MODEL.with_name("golden_language_model")
SVG = "{http://www.w3.org/2000/svg}"
SOURCE, TARGET = "paku neri dosa, ilvo.", "brant fisk."


def draw(path, *arguments, source=SOURCE, target=TARGET):
    done = attend("attention", "--model", MODEL, "--source", source, "--target", target, "--output", path, *arguments)
    assert done.returncode == 0, done.stderr
    return path.read_text(encoding="utf-8")


def test_json_holds_rows_that_sum_to_one(tmp_path):
    result = json.loads(draw(tmp_path / "a.json"))
    assert (result["source"], result["target"]) == (SOURCE, TARGET)
    assert list(result["kinds"]) == ["encoder", "decoder", "cross"]
    for name, kind in result["kinds"].items():
        assert len(kind["weights"]) == 2
        for layer in kind["weights"]:
            assert len(layer) == 4
            for head in layer:
                assert [len(row) for row in head] == [len(kind["keys"])] * len(kind["queries"])
                for position, row in enumerate(head):
                    assert abs(sum(row) - 1) < 1e-5 and min(row) >= 0
                    if name == "decoder":
                        assert not any(row[position + 1:])  # nothing looks ahead
    cross, decoder = result["kinds"]["cross"], result["kinds"]["decoder"]
    assert cross["queries"][-1] == cross["keys"][-1] == "</s>"
    assert decoder["queries"][0] == "<s>" and decoder["queries"][1:] == cross["queries"][:-1]


@pytest.mark.parametrize("name", ["a.json", "a.html", "a.svg"])
def test_malformed_utf8_is_repaired(tmp_path, name):
    text = draw(tmp_path / name, source="paku \udcff", target="brant \udcff\udce2")  # the bytes FF and E2
    assert name == "a.svg" or "brant \ufffd\ufffd" in text


def test_json_is_what_the_formulas_give(tmp_path):
    numpy, transformer = pytest.importorskip("numpy"), pytest.importorskip("numpy_transformer")
    result = json.loads(draw(tmp_path / "a.json"))
    spm = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_file=str(MODEL / "vocab.spm"))
    model = transformer.Model(MODEL)
    model.logits(spm.encode(SOURCE) + [3], spm.encode(TARGET) + [3])
    for stack, kinds in ((model.encoder, {"self": "encoder"}), (model.decoder, {"self": "decoder", "cross": "cross"})):
        for name, weights_HTS in stack.attention_weights:
            _, layer, part = name.split(".")
            found = result["kinds"][kinds[part.split("_")[0]]]["weights"][int(layer)]
            numpy.testing.assert_allclose(found, weights_HTS, atol=1e-5)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("layer", [1, 2])
def test_svg_has_every_head_and_token(tmp_path, kind, layer):
    numbers = json.loads(draw(tmp_path / "a.json"))["kinds"][kind]
    root = xml.etree.ElementTree.fromstring(draw(tmp_path / "a.svg", "--kind", kind, "--layer", layer))
    heads = [group for group in root.iter(SVG + "g") if group.get("class") == "head"]
    assert [group.get("id") for group in heads] == ["head-1", "head-2", "head-3", "head-4"]
    for head, weights in zip(heads, numbers["weights"][layer - 1], strict=True):
        texts = {axis: [text.find(SVG + "title").text for text in head.iter(SVG + "text") if text.get("class") == axis]
                 for axis in ("query", "key")}
        assert texts == {"query": numbers["queries"], "key": numbers["keys"]}
        cells = [cell for cell in head.findall(SVG + "rect") if cell.find(SVG + "title") is not None]
        assert len(cells) == sum(weight >= 0.002 for row in weights for weight in row)
    assert f"layer {layer} of 2" in "".join(root.itertext())


def test_labels_of_long_sentences_do_not_overlap(tmp_path):
    text = draw(tmp_path / "a.svg", source="paku neri dosa lumi tavo keri sona mipa " * 8)
    places = [(float(x), float(size)) for x, size in
              re.findall(r'class="key" transform="translate\(([\d.]+) [\d.]+\) rotate\(-45\)" font-size="([\d.]+)"', text)]
    assert len(places) > 4 * 60
    per_head = places[:len(places) // 4]
    for (first, size), (second, _) in zip(per_head, per_head[1:]):
        assert (second - first) * 0.5 ** 0.5 >= size


def test_the_last_layer_and_cross_attention_are_the_default(tmp_path):
    assert draw(tmp_path / "a.svg") == draw(tmp_path / "b.svg", "--kind", "cross", "--layer", 2)
    assert draw(tmp_path / "a.svg") != draw(tmp_path / "b.svg", "--layer", 1)


def test_more_weight_is_darker(tmp_path):
    root = xml.etree.ElementTree.fromstring(draw(tmp_path / "a.svg"))
    cells = [(float(cell.find(SVG + "title").text.rpartition(": ")[2]), cell.get("fill"))
             for cell in root.iter(SVG + "rect") if cell.find(SVG + "title") is not None]
    shades = [(weight, sum(int(fill[i:i + 2], 16) for i in (1, 3, 5))) for weight, fill in sorted(cells)]
    assert shades[-1][0] - shades[0][0] > 0.1
    assert all(light > dark for less, light in shades for more, dark in shades if more - less > 0.02)


def flat(nested):
    return [number for each in nested for number in flat(each)] if isinstance(nested, list) else [nested]


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.data, self.inside = [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = dict(attrs).get("id") if tag == "script" else None

    def handle_data(self, data):
        if self.inside == "data":
            self.data += data


def test_page_is_whole_and_needs_no_network(tmp_path):
    text = draw(tmp_path / "a.html")
    page = Page(text)
    data = json.loads(page.data)
    assert [(kind["name"], len(kind["weights"]), len(kind["weights"][0])) for kind in data["kinds"]] == \
        [("encoder", 2, 4), ("decoder", 2, 4), ("cross", 2, 4)]
    assert (data["kind"], data["layer"]) == ("cross", 1)
    numbers = json.loads(draw(tmp_path / "a.json"))["kinds"]
    for kind in data["kinds"]:
        assert [kind[axis] for axis in ("queries", "keys")] == [numbers[kind["name"]][axis] for axis in ("queries", "keys")]
        for found, wanted in zip(flat(kind["weights"]), flat(numbers[kind["name"]]["weights"]), strict=True):
            assert abs(found - 1000 * wanted) <= 0.501
    assert not [attributes for _, attributes in page.tags if "src" in attributes or "href" in attributes]
    assert "https://" not in text and set(re.findall(r"http://[^\"]*", text)) == {"http://www.w3.org/2000/svg"}


HOSTILE = ["</script><script>alert(1)</script>", "<!-- <b>&amp;\"'", "]]> \u0001 \x7f \u2028", "@DATA@", ""]


@pytest.mark.parametrize("source", HOSTILE)
def test_hostile_text_stays_text(tmp_path, source):
    page = Page(draw(tmp_path / "a.html", source=source, target=source))
    assert [tag for tag, _ in page.tags].count("script") == 2 and not [tag for tag, _ in page.tags if tag == "b" and _]
    json.loads(page.data)
    root = xml.etree.ElementTree.fromstring(draw(tmp_path / "a.svg", source=source, target=source))
    assert not [node.tag for node in root.iter() if node.tag.removeprefix(SVG) not in
                ("svg", "title", "rect", "text", "tspan", "g")]


def test_without_a_target_the_model_translates(tmp_path):
    done = attend("attention", "--model", MODEL, "--source", "olin", "--output", tmp_path / "a.json", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert result["target"] == attend("translate", "--model", MODEL, "--quiet", stdin="olin\n").stdout.rstrip("\n")


def test_bad_options(tmp_path):
    given = ["attention", "--model", MODEL, "--source", "olin"]
    refused(attend(*given), 2, "--output is missing")
    refused(attend(*given, "--output", tmp_path / "a.png"), 2, "a.png", ".svg, .html or .json")
    refused(attend(*given, "--output", tmp_path / "a.svg", "--layer", 3), 2, "layer is 3, expected 1 to 2")
    refused(attend(*given, "--output", tmp_path / "a.svg", "--kind", "crss"), 2, "encoder, decoder, cross")
    refused(attend(*given, "--output", tmp_path / "gone" / "a.svg"), 1, "gone")
    # These did nothing in silence.
    refused(attend(*given, "--output", tmp_path / "a.svg", "--item", 5), 2, "--item is for models of fusion")
    refused(attend(*given, "--output", tmp_path / "a.svg", "--segment", 1), 2, "--segment is for models of transcription")
    refused(attend(*given, "--output", tmp_path / "a.json", "--layer", 1), 2, "--layer is not for .json")
    refused(attend(*given, "--output", tmp_path / "a.json", "--kind", "cross"), 2, "--kind is not for .json")
    refused(attend("attention", "--model", tmp_path / "none", "--source", "x", "--output", tmp_path / "a.svg"), 3, "none")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", [(), ("--target", "brant")])
def test_what_learned_positions_do_not_reach_is_named(target, tmp_path):
    model, source = MODEL.with_name("golden_v1_variant"), "lumi " * 40
    done = attend("attention", "--model", model, "--source", source, *target, "--output", tmp_path / "a.svg")
    refused(done, 3, "source line 1 has ", "expected at most 37, the model's learned positions; shorten it")


def test_a_language_model_has_one_kind(tmp_path):
    text = "The cat sees\na red house."

    def drawn(name, *arguments):
        done = attend("attention", "--model", LANGUAGE_MODEL, "--source", text, "--output", tmp_path / name, *arguments)
        assert done.returncode == 0, done.stderr
        return (tmp_path / name).read_text(encoding="utf-8")

    result = json.loads(drawn("a.json"))
    assert (list(result["kinds"]), result["source"], result["target"]) == (["decoder"], text, "")
    kind = result["kinds"]["decoder"]
    assert kind["queries"] == kind["keys"] and len(kind["keys"]) == len(text) + 1 and kind["keys"][0] == "<s>"
    for layer in kind["weights"]:
        for head in layer:
            for position, row in enumerate(head):
                assert len(row) == len(head) and abs(sum(row) - 1) < 1e-5 and not any(row[position + 1:])
    assert "Self-attention, layer 2 of 2" in drawn("a.svg")
    assert "Self-attention" in drawn("a.html", "--layer", 1)


def test_a_language_model_has_no_target(tmp_path):
    common = ("attention", "--model", LANGUAGE_MODEL, "--source", "a", "--output", tmp_path / "a.svg")
    refused(attend(*common, "--target", "b"), 2, "leave out --target")
    refused(attend(*common, "--kind", "cross"), 2, "decoder")


def figures_of(rows, causal):
    """Entropy, distance, and the share on the token before, after, at, first and last, of each query; by the definitions."""
    found = []
    for place, row in enumerate(rows):
        seen = row[: place + 1] if causal else row
        found.append((
            -sum(weight * math.log(weight) for weight in seen if weight > 0), sum(weight * abs(key - place) for key, weight in enumerate(seen)),
            seen[place - 1] if 0 < place <= len(seen) else 0, seen[place + 1] if place + 1 < len(seen) else 0,
            seen[place] if place < len(seen) else 0, seen[0], seen[-1]))
    return found


NAMES = ("entropy", "distance", "previous", "next", "same", "first", "last")
PAIRS = [("paku neri dosa, ilvo.", "brant fisk."), ("olin", "fisk brant fisk brant, olt"), ("ilvo neri", "")]


def test_statistics_are_means_of_what_each_text_gives(tmp_path):
    queries = {}
    for number, (source, target) in enumerate(PAIRS):
        one = json.loads(draw(tmp_path / f"{number}.json", source=source, target=target))
        for name, kind in one["kinds"].items():
            for layer, heads in enumerate(kind["weights"]):
                for head, rows in enumerate(heads):
                    queries.setdefault((name, layer, head), []).extend(figures_of(rows, name == "decoder"))
    for side, name in enumerate(("source", "target")):
        (tmp_path / name).write_text("".join(pair[side] + "\n" for pair in PAIRS), encoding="utf-8")
    given = ["attention", "--model", MODEL, "--statistics", "--input", tmp_path / "source", "--references", tmp_path / "target", "--output"]
    done = attend(*given, tmp_path / "all.json")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert found["texts"] == 3 and list(found["kinds"]) == ["encoder", "decoder", "cross"]
    for (name, layer, head), figures in queries.items():
        kind = found["kinds"][name]
        assert kind["queries"] == len(figures)
        for place, figure in enumerate(NAMES):
            mean = sum(each[place] for each in figures) / len(figures)
            assert kind["layers"][layer][head][figure] == pytest.approx(mean, abs=1e-5), (name, layer, head, figure)
    # Even weights over n keys have the entropy ln n; a decoder's query t sees t + 1.
    rows = sum(len(json.loads((tmp_path / f"{i}.json").read_text(encoding="utf-8"))["kinds"]["decoder"]["queries"]) for i in range(3))
    even = [math.log(t + 1) for i in range(3) for t in range(len(json.loads((tmp_path / f"{i}.json").read_text(encoding="utf-8"))["kinds"]["decoder"]["queries"]))]
    assert found["kinds"]["decoder"]["even"]["entropy"] == pytest.approx(sum(even) / rows, abs=1e-6)
    table = done.stdout.splitlines()
    assert table[0].startswith("Encoder self-attention: ") and table[1].split()[1:] == list(NAMES)
    assert [float(cell) for cell in table[2].split()[1:]] == pytest.approx([found["kinds"]["encoder"]["layers"][0][0][name] for name in NAMES], abs=6e-4)

    assert attend(*given, tmp_path / "all.svg").returncode == 0
    picture = xml.etree.ElementTree.fromstring((tmp_path / "all.svg").read_text(encoding="utf-8"))
    assert len(picture.findall(f".//{SVG}rect/{SVG}title")) == len(queries) * len(NAMES)


def test_statistics_without_references_are_of_translations(tmp_path):
    (tmp_path / "source").write_text("olin\npaku neri\n", encoding="utf-8")
    done = attend("attention", "--model", MODEL, "--statistics", "--input", tmp_path / "source", "--output", tmp_path / "a.json")
    assert done.returncode == 0, done.stderr
    written = 0
    for source in ("olin", "paku neri"):
        attend("attention", "--model", MODEL, "--source", source, "--output", tmp_path / "one.json")
        written += len(json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))["kinds"]["cross"]["queries"])
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["kinds"]["cross"]["queries"] == written > 2


def test_statistics_of_a_language_model(tmp_path):
    (tmp_path / "text").write_text("The cat sees.\nA red house.\n", encoding="utf-8")
    done = attend("attention", "--model", LANGUAGE_MODEL, "--statistics", "--input", tmp_path / "text", "--output", tmp_path / "a.json")
    assert done.returncode == 0, done.stderr
    assert list(json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["kinds"]) == ["decoder"]


def test_bad_statistics(tmp_path):
    (tmp_path / "text").write_text("olin\n", encoding="utf-8")
    (tmp_path / "two").write_text("olin\nolin\n", encoding="utf-8")
    (tmp_path / "empty").write_text("", encoding="utf-8")
    model, output = ["attention", "--model", MODEL], ["--output", tmp_path / "a.json"]
    text = ["--input", tmp_path / "text"]
    refused(attend(*model, "--statistics", *output), 2, "--statistics needs --input")
    refused(attend(*model, *text, "--source", "olin", *output), 2, "--input is for --statistics")
    refused(attend(*model, "--statistics", *text, "--source", "olin", *output), 2, "--source is not for --statistics")
    refused(attend(*model, "--statistics", *text, "--output", tmp_path / "a.html"), 2, "a.html", ".svg or .json")
    refused(attend(*model, *output), 2, "--source is missing")
    refused(attend(*model, "--statistics", *text, "--layer", 1, *output), 2, "--layer is not for --statistics")
    refused(attend(*model, "--statistics", "--input", tmp_path / "empty", *output), 3, "empty", "no line")
    refused(attend(*model, "--statistics", *text, "--references", tmp_path / "two", *output), 3, "two")
    refused(attend(*model, "--statistics", "--input", tmp_path / "gone", *output), 3, "gone")
    assert not (tmp_path / "a.json").exists()
