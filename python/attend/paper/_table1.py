"""Table 1: complexity, sequential operations and path length of layer types, section 4, measured on this machine; and a task that
shows what path length does."""

from __future__ import annotations

from attend.paper import _table1_copy as copying
from attend.paper import _table1_layers as layers
from attend.paper._fit import PowerLaw
from attend._report import MISSING, Block, Heading, Points, Report, Table, Text
from attend.paper._table1_layers import Measured
from attend.paper._work import Work


def law_text(law: PowerLaw | None, exact: tuple[float, float] | None = None) -> str:
    if law is None:
        return MISSING
    off = exact is not None and max(abs(law.of_n - exact[0]), abs(law.of_d - exact[1])) > 0.3
    return f"n^{law.of_n:.2f}\u00a0d^{law.of_d:.2f}" + ("\u00a0*" if off else "")


def complexity_table(measured: list[Measured]) -> Table:
    rows = [[each.kind.title, each.kind.complexity, *(law_text(each.fit(figure), each.kind.exponents if figure != "peak_bytes" else None)
                                                     for figure in layers.FIGURES)] for each in measured if each.kind.timed]
    return Table(["layer", "complexity per layer, paper", "forward, fitted", "backward, fitted", "peak memory, fitted"], rows, words=(0, 1))


def graph_table(measured: list[Measured]) -> Table:
    lengths = [str(n) for n in layers.GRAPH_LENGTHS]
    rows = []
    for each in measured:
        paths = {point["length"]: str(point["path_length"]) for point in each.graph}
        rows.append([each.kind.title, each.kind.sequential, layers.sequential_text(each.graph) or MISSING, each.kind.path,
                     *(paths.get(n, MISSING) for n in layers.GRAPH_LENGTHS)])
    return Table(["layer", "sequential operations, paper", "counted", "maximum path length, paper", *(f"n = {n}" for n in lengths)], rows, words=(0, 1, 3))


def left_out(measured: list[Measured]) -> list[str]:
    """What was too much for this machine."""
    return [f"{each.kind.name}, d = {point['width']}, n = {point['length']}: left out, it would take too much {point['reason']}."
            for each in measured for point in each.left_out]


def notes() -> list[str]:
    return [
        "One sequence at a time, f32, on one thread. Times are the processor's, so what else runs on the machine matters little, though it shares the caches; each is "
        "the mean of all runs but the first. Memory is the most that tensors take at once, gradients of weights "
        "among them.",
        f"Exponents are fitted by least squares of logarithms over n ≥ {layers.FITTED_LENGTH} and d ≥ {layers.FITTED_WIDTH}; below, calls of functions "
        "take most of the time. * marks one that is more than 0.3 from the paper's. Caches do that: a matrix that no longer fits is read from "
        "memory again and again.",
        "† marks rows that the paper's table lacks. Its section 4 has the complexity of separable convolutions and the path of dilated ones; the rest of these "
        "rows is derived in the same way.",
        f"Self-attention is of given queries, keys and values, as the paper counts it, with heads {layers.HEAD_WIDTH} wide: d decides how many. The row with "
        "projections adds the four products with weights, O(n d²), which are more than the attention itself while n is less than 2 d.",
        f"Restricted self-attention sees r = {layers.WINDOW} positions to each side. Blocks of queries are multiplied with the keys around them alone; "
        "outputs and gradients are those of a mask.",
        f"Convolutions have k = {layers.KERNEL_WIDTH} and gated linear units, as ConvS2S. Their kernels are contiguous, and half of one reaches to each side: "
        "a stack needs 2 (n − 1) / (k − 1) layers. The paper's table has O(log_k n), which takes dilated kernels, each layer's k times as wide as the one "
        "below; its section 4 names both. The separable one has a kernel for each column and then one d × d product.",
        "Sequential operations are the longest chain in the graph that autograd records of a forward pass of unfused operations. The path is "
        "measured by gradients: from the last position's output down a stack of such layers, until the first position's input gets one. In an "
        "LSTM one layer is enough, but the gradient goes through every step, so steps are counted."]


def layer_blocks(measured: list[Measured]) -> list[Block]:
    blocks: list[Block] = [complexity_table(measured), Heading("Operations in a row, and paths"), graph_table(measured)]
    if any(each.points for each in measured):
        blocks.append(layers.overview(measured))
        blocks += [Heading("Each layer"), *(layers.plot_of(each) for each in measured if each.points)]
    missing = left_out(measured)
    return [*blocks, *([Points(missing)] if missing else [])]


def as_json(each: Measured) -> dict[str, object]:
    fits = {figure: law for figure in layers.FIGURES if (law := each.fit(figure)) is not None}
    return {
        "layer": each.kind.name, "kind": each.kind.bench,
        "paper": {"complexity": each.kind.complexity, "sequential_operations": each.kind.sequential, "maximum_path_length": each.kind.path,
                  "row_of_its_table": each.kind.in_paper},
        "fitted": {figure: {"n": law.of_n, "d": law.of_d, "error_of_log": law.error} for figure, law in fits.items()},
        "measured": each.points, "left_out": each.left_out, "graph": each.graph}


def plan(kinds: list[Measured], models: list[copying.Model]) -> list[str]:
    """What would be measured now."""
    widths = len(layers.WIDTHS)
    left = [each.kind.name for each in kinds if not each.graph or (each.kind.timed and len({point["width"] for point in each.points}) < widths)]
    return [f"layers, d = {', '.join(map(str, layers.WIDTHS))}, n = {', '.join(map(str, layers.LENGTHS))}: {'; '.join(left) or 'none'}",
            f"copy task: {'; '.join(model.title for model in models) or 'none'}"]


def make(work: Work) -> Report:
    names = [kind.bench for kind in layers.KINDS] + [f"copy-{model.name}" for model in copying.MODELS]
    work.check_rows(names)
    measured = [layers.measure(work, kind) for kind in layers.KINDS]
    copies = [copying.measure(work, model) for model in copying.MODELS]
    found = [(model, result) for model, result in zip(copying.MODELS, copies, strict=True) if result is not None]
    report = Report("Table 1: layers compared", {
        "layers": [as_json(each) for each in measured], **layers.shape_settings(),
        "copy": {model.name: result for model, result in found}, "notes": notes() + copying.notes(work)})
    report.blocks = [
        Text("The paper's Table 1 compares layer types that map a sequence of n positions to another one of the same width d. Here are its "
             "columns, and the same of attend's own layers as measured."),
        *([Heading("What would be measured"), Points(plan([each for each in measured if work.chosen(each.kind.bench)], [
            model for model, result in zip(copying.MODELS, copies, strict=True) if result is None and work.chosen(f"copy-{model.name}")]))]
          if work.settings.dry_run else []),
        *layer_blocks(measured),
        Heading("What path length does: a copy task"), Text(copying.INTRODUCTION),
        copying.table(found), *([copying.plot(found)] if found else []),
        Heading("How it was measured"), Points(notes() + copying.notes(work))]
    return report
