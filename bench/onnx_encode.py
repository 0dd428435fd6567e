#!/usr/bin/env python3
"""The peer of `attend bench encode`: ONNX Runtime with the same option names, one JSON line.

usage: bench/onnx_encode.py [--preset bert-base | --model DIR] [--type int8] [--length 128] [--batch-size 32] ...

transformers' BertModel, with random weights or those of the folder DIR, as ONNX Runtime's own tools make it fast: attention, gelu and
norms fused, then dynamic int8 for --type int8. Needs the packages of tools/requirements_bench.txt.
"""

import pathlib
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
import torch
import transformers
from ct2_encode import parser_of, report
from ct2_translate import apart
from onnxruntime import quantization
from onnxruntime.transformers import optimizer
from shapes import ENCODERS


class Vectors(torch.nn.Module):
    """The mean of the tokens' vectors."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state.mean(dim=1)


def bert(options):
    if options.model:
        return transformers.BertModel.from_pretrained(options.model, add_pooling_layer=False, attn_implementation="eager")
    shape = ENCODERS[options.preset]
    config = transformers.BertConfig(
        vocab_size=options.vocab_size, hidden_size=shape.d_model, num_hidden_layers=shape.layers, num_attention_heads=shape.heads,
        intermediate_size=shape.d_ff, attn_implementation="eager")
    return transformers.BertModel(config, add_pooling_layer=False)


def make_fast(path, kind, config, int8, **quantizing):
    """path/plain.onnx with fused operators, and as int8.onnx where that is asked for, by ONNX Runtime's own tools."""
    fused = path / "fused.onnx"
    made = optimizer.optimize_model(str(path / "plain.onnx"), kind, num_heads=config.num_attention_heads, hidden_size=config.hidden_size)
    made.save_model_to_file(str(fused))
    (path / "fused.txt").write_text(str({name: count for name, count in made.get_fused_operator_statistics().items() if count}))
    if int8:
        # Shapes behind the fused operators are not inferred: their outputs are floats.
        quantization.quantize_dynamic(fused, path / "int8.onnx", weight_type=quantization.QuantType.QInt8,
                                      extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT}, **quantizing)


def load(path, options):
    """The session, and the peer's name with what was fused."""
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    file = path / ("int8.onnx" if options.type == "int8" else "fused.onnx")
    session = onnxruntime.InferenceSession(file, settings, providers=["CPUExecutionProvider"])
    return session, f"onnxruntime {onnxruntime.__version__} ({(path / 'fused.txt').read_text()})"


def write_model(path, options):
    encoder = bert(options)
    model = Vectors(encoder).eval()
    ids = torch.ones(2, options.length, dtype=torch.int64)
    names = ["input_ids", "attention_mask"]  # with eager attention, a mask and this exporter all of the optimizer's patterns are found
    torch.onnx.export(model, (ids, ids), path / "plain.onnx", input_names=names, dynamic_axes={name: {0: "batch"} for name in names}, dynamo=False)
    make_fast(path, "bert", encoder.config, options.type == "int8")


def main():
    options = parser_of(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        apart(write_model, path, options)
        begin = time.perf_counter()
        session, peer = load(path, options)
        seconds = time.perf_counter() - begin

        def run(ids):
            return session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]

        report(options, peer, seconds, run)


if __name__ == "__main__":
    main()
