"""Figures 3 to 5, and what the heads of a model do: statistics, brackets, importance, and a test of what weights explain."""

from __future__ import annotations

import json
import pathlib
import tempfile
from typing import Any

import numpy as np

import attend
from attend._errors import UsageError
from attend.paper import _permuted, _table2_rivals
from attend.paper._brackets import Array, Relations, read_words, trees
from attend.paper._cells import Result
from attend.paper._heads import KINDS, STEPS, Head, Importance, config_of, file_of, first_lines
from attend._plots import COLOURS, drawing
from attend._report import MISSING, Block, Heading, Plot, Points, Report, Table, Text
from attend.paper._sentences import ANAPHORA, DISTANCE, figure3, figure4, figure5, read
from attend.paper._work import Work

PERMUTED_PAIRS = 100
MOST_WORDS = 60  # of a treebank's sentence
COSTLIEST, CHEAPEST = 8, 4  # heads in the table of what each is worth


def statistics(work: Work, model: pathlib.Path) -> Result:
    """`attend attention --statistics` over the validation text."""
    with tempfile.TemporaryDirectory() as folder:
        texts = {}
        for option, language in (("input", "en"), ("references", "de")):
            texts[option] = pathlib.Path(folder) / language
            texts[option].write_text("\n".join(first_lines(work, f"multi30k/val.{language}")) + "\n", encoding="utf-8")
        found = {}
        for ending in ("json", "svg"):
            output = pathlib.Path(folder) / f"heads.{ending}"
            work.run("attention", "--model", model.resolve(), "--statistics", "--input", texts["input"], "--references", texts["references"],
                     "--output", output, "--threads", work.settings.threads, "--quiet")
            found[ending] = output.read_text(encoding="utf-8")
    return {"numbers": json.loads(found["json"]), "svg": found["svg"]}


def brackets(work: Work, model: pathlib.Path) -> Result:
    """The encoder's weights between the words of the treebank sample's test part."""
    translator = attend.Translator(model, threads=work.settings.threads)
    first = len(config_of(model)["source_begin"])
    relations, left_out = None, 0
    for name in work.text("treebank/test.list").read_text(encoding="utf-8").split():
        file = work.text(f"treebank/combined/{pathlib.Path(name).stem}.mrg")
        for tree in trees(file.read_text(encoding="utf-8")):
            if relations is not None and relations.sentences >= work.settings.sentences:
                break
            weights = read_words(translator, " ".join(tree.words), first) if len(tree.words) <= MOST_WORDS else None
            if weights is None:
                left_out += 1
                continue
            relations = relations or Relations(*weights.shape[:2])
            relations.add(weights, tree)
    if relations is None:
        return {"sentences": 0, "words": 0, "relations": [], "left_out": left_out}
    return relations.result() | {"left_out": left_out}


def gains_of(found: Result) -> Array | None:
    """How many times as much each head looks along brackets as its distances alone would give: a mean over NP, VP and PP."""
    rows = [np.array(row["share"]) / np.maximum(np.array(row["by_distance"]), 1e-9) for row in found["relations"] if row["label"] in ("NP", "VP", "PP")]
    return np.mean(rows, axis=0) if rows else None


def bracket_table(found: Result) -> Table:
    rows = []
    for row in found["relations"]:
        share, usual = np.array(row["share"]), np.array(row["by_distance"])
        gain = share / np.maximum(usual, 1e-9)
        layer, head = np.unravel_index(int(gain.argmax()), gain.shape)
        rows.append([row["label"], f"{row['pairs']:,}", f"{share.mean():.3f}", f"{usual.mean():.3f}", f"{layer + 1}.{head + 1}",
                     f"{share[layer, head]:.3f}", f"{usual[layer, head]:.3f}", f"{gain[layer, head]:.2f}"])
    return Table(["smallest common bracket", "pairs of words", "share, all heads", "by distance", "best head", "its share", "by distance", "times"], rows, words=(0,))


def importance_plot(costs: dict[Head, float], points: list[Result], count: int) -> Plot:
    with drawing(2, 4.2) as (result, axes):
        order = sorted(costs, key=lambda head: -costs[head])
        colours = {kind: COLOURS[i] for i, kind in enumerate(KINDS)}
        axes[0].bar(range(len(order)), [costs[head] for head in order], color=[colours[head.kind] for head in order])
        for kind, colour in colours.items():
            axes[0].bar([0], [0], color=colour, label=KINDS[kind])
        axes[0].set(title="BLEU that masking one head costs", xlabel="heads, the costliest first")
        axes[0].legend(fontsize=8)
        axes[1].plot([100 * point["pruned"] / count for point in points], [point["bleu"] for point in points], marker="o", color=COLOURS[0])
        axes[1].set(title="BLEU after pruning the cheapest heads", xlabel="% of heads", ylim=(0, None))
    return Plot(result.svg, "Left: each head alone. Right: heads go in the order of what they cost, the cheapest first (Michel et al. 2019); none is trained again.")


def importance_blocks(work: Work, model: pathlib.Path, data: dict[str, Any]) -> list[Block]:
    importance = Importance(work, model)
    whole = importance.bleu("whole", [])
    if whole is None:
        return [Text("Not measured yet.")]
    costs = importance.costs(whole)
    points = importance.pruning(costs, whole)
    order = sorted(costs, key=lambda head: -costs[head])
    data["importance"] = {"bleu": whole, "costs": {head.name: costs[head] for head in order}, "pruning": points}
    rows = [[f"{head.layer}.{head.head}", KINDS[head.kind], f"{costs[head]:+.2f}"] for head in order]
    if len(rows) > COSTLIEST + CHEAPEST:
        between = len(rows) - COSTLIEST - CHEAPEST
        rows[COSTLIEST:-CHEAPEST] = [["…", f"{between} heads between these", "…"]]
    table = Table(["head", "kind", "BLEU it costs"], rows, words=(0, 1))
    left = f" {len(costs)} of {len(importance.heads)} heads are measured." if len(costs) < len(importance.heads) else ""
    return [
        Text(f"The whole model has {whole:.2f} BLEU on the first {len(importance.source)} pairs of Multi30k's validation text (greedy search). A head is masked in a copy of the "
             f"model: the columns of W^O that read it become zero.{left}"),
        *([table, importance_plot(costs, points, len(importance.heads))] if costs else [])]


def permuted_blocks(work: Work, model: pathlib.Path, data: dict[str, Any]) -> list[Block]:
    costs = data.get("importance", {}).get("costs", {})
    name = next((name for name in costs if name.startswith("cross")), None)
    if name is None:
        return [Text("Not measured yet: it takes the cross-attention head that costs most.")]
    kind, _, place = name.partition(" ")
    layer, number = place.split(".")
    head = Head(kind, int(layer), int(number))
    pairs = [first_lines(work, f"multi30k/val.{language}")[:PERMUTED_PAIRS] for language in ("en", "de")]
    try:
        found = work.cell("figures/permuted", {"model": digest(model), "head": head.name, "pairs": len(pairs[0])},
                          lambda: _permuted.measure(model, head, *pairs))
    except UsageError as error:  # the rest of the page needs no PyTorch
        return [Text(f"Not measured: {error}.")]
    if found is None:
        return [Text("Not measured yet.")]
    data["permuted"] = found | {"head": head.name}
    rows = [[each["change"], f"{each['distance']:.4f}", f"{100 * each['other_best_token']:.1f} %"] for each in found["changes"]]
    return [
        Text(f"The weights of one head ({head.name}, the one of cross-attention that costs most) change, and nothing else. The distance is the total variation between the next token's "
             f"probabilities before and after, 0 to 1, a mean over {found['tokens']:,} tokens of given translations; permutations are means of {_permuted.DRAWS}."),
        Table(["weights", "distance", "another best token"], rows)]


def digest(model: pathlib.Path) -> str:
    found: str = file_of(model)["sha256"]["model.safetensors"]
    return found


def sentence_blocks(work: Work, model: pathlib.Path, data: dict[str, Any], gains: Array | None) -> list[Block]:
    translator = attend.Translator(model, threads=work.settings.threads)
    first = len(config_of(model)["source_begin"])
    far, anaphora = read(translator, DISTANCE, first), read(translator, ANAPHORA, first)
    if far is None or anaphora is None:
        return [Text("The model's tokens do not tell words apart (no ▁ begins them), so its heads can't be drawn over words.")]
    drawn = {"figure3": figure3(far), "figure4": figure4(anaphora), "figure5": figure5(anaphora, gains)}
    data |= {name: numbers for name, (_, numbers) in drawn.items()}
    return [
        Text("The paper's sentences, read by this model's encoder. Tokens of a word are taken together; the strongest line of a drawing is its greatest weight. The paper looked for heads of its big "
             "model that show a behaviour; here the head is the one that shows it most, whatever else it does."),
        *(plot for plot, _ in drawn.values())]


CAVEAT = (
    "A weight says where a head reads, not why the model answers as it does. Other weights can give the same answer (Jain and Wallace 2019), a weight on a token "
    "counts only with its value vector, and a deeper layer's token holds what other tokens passed to it. Of many heads one always looks like a rule: the figures are chosen to show it.")


def plan(importance: Importance, data: dict[str, Any]) -> list[str]:
    """What would be measured now."""
    found = data.get("importance", {"costs": {}, "pruning": []})
    heads, known = len(importance.heads), len(found["costs"])
    parts = [
        ("statistics" in data, "attend attention --statistics over Multi30k's validation text"),
        ("brackets" in data, "what the heads look at along the brackets of the treebank sample's test part"),
        (known == heads and len(found["pruning"]) == STEPS + 1, f"BLEU without each of {heads - known} heads, and as the cheapest go"),
        ("permuted" in data, "outputs with the weights of one head permuted")]
    return [text for done, text in parts if not done] or ["nothing"]


def model_of(work: Work) -> pathlib.Path:
    """That of --model; else Table 2's Transformer, where its training in the same folder is done."""
    if work.settings.model is not None:
        return work.settings.model
    found = _table2_rivals.folder_of(work, _table2_rivals.RIVALS[0], _table2_rivals.updates_of(work), _table2_rivals.SEEDS[0]) / "model"
    if not found.exists():
        raise UsageError("figures needs --model, the directory of a model that translates English to German. Without it, Table 2's Transformer is taken, and "
                         f"'{found}' is missing: `attend paper table2 --rows transformer` makes it in the same --output")
    return found


def make(work: Work) -> Report:
    model = model_of(work)
    importance = Importance(work, model)  # refuses what is no such model
    key: Result = {"model": digest(model), "sentences": work.settings.sentences}
    data: dict[str, Any] = {"model": key["model"], "sentences": key["sentences"]}
    heads = work.cell("figures/statistics", key, lambda: statistics(work, model))
    syntax = work.cell("figures/brackets", key, lambda: brackets(work, model))
    if heads is not None:
        data["statistics"] = heads["numbers"]
    if syntax is not None:
        data["brackets"] = syntax
    missing = Text("Not measured yet.")
    report = Report("Figures 3 to 5, and what heads look at", data)
    stacks = importance.config
    shape = f"{stacks['encoder']['layers']} and {stacks['decoder']['layers']} layers of {stacks['encoder']['heads']} heads, {stacks['encoder']['d_model']} wide"
    report.blocks = [
        Text(f"The model {'' if work.settings.model else 'is the Transformer of Table 2. It '}has {shape}."), Text(CAVEAT),
        Heading("The paper's figures 3 to 5"), *sentence_blocks(work, model, data, None if syntax is None else gains_of(syntax)),
        Heading("Every head over the validation text"), *([missing] if heads is None else [Plot(heads["svg"], "Means over all queries, `attend attention --statistics`.")]),
        Heading("Along the brackets of trees"),
        *([missing] if syntax is None else [
            Text(f"{syntax['sentences']} sentences of the Penn Treebank sample's test part, {syntax['words']:,} words. A pair of words belongs to the smallest bracket that holds both. "
                 "The share is of the weight of an average word; by distance is what the head would give if its weights in each sentence depended on the distance alone."),
            bracket_table(syntax)]),
        Heading("What each head is worth"), *importance_blocks(work, model, data),
        Heading("Is attention an explanation?"), *permuted_blocks(work, model, data),
        Heading("How it was measured"),
        Points([f"Texts: Multi30k's validation text and the treebank sample, {work.settings.sentences} sentences of each at most.",
                f"{MISSING if syntax is None else syntax['left_out']} sentences of the treebank are left out: longer than {MOST_WORDS} words, or cut so that their words can't be told.",
                "A change of a few tenths of BLEU on so few sentences is chance."])]
    if work.settings.dry_run:
        report.blocks[1:1] = [Heading("What would be measured"), Points(plan(importance, data))]
    return report
