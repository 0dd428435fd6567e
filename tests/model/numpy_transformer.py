"""The model of a model directory in NumPy f64, written from the paper's formulas alone.

Slow and plain: no cache, no batch. What attend's engine and its LibTorch model are compared with.
"""
import json
import math
import pathlib

import numpy as np

TYPES = {"F32": np.float32, "I8": np.int8, "I32": np.int32, "I64": np.int64, "U8": np.uint8}


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def gelu(x):
    return np.vectorize(lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2))))(x)


class Stack:
    """Encoder or decoder: `weights` under names that start with `prefix`."""

    def __init__(self, prefix, config, weights, embedding_VD):
        self.prefix, self.config, self.weights, self.embedding_VD = prefix, config, weights, embedding_VD

    def parameter(self, name):
        value = self.weights.get(f"{self.prefix}.{name}")
        return None if value is None else value.astype(np.float64)

    def linear(self, name, x):
        bias = self.parameter(name + ".bias")
        return x @ self.parameter(name + ".weight").T + (0 if bias is None else bias)

    def norm(self, name, x):
        variance = x.var(-1, keepdims=True)
        normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(variance + self.config["norm_epsilon"])
        return normal * self.parameter(name + ".weight") + self.parameter(name + ".bias")

    def attention(self, name, queries_TD, memory_SD, causal):
        heads = self.config["heads"]
        split = lambda x: x.reshape(x.shape[0], heads, -1).transpose(1, 0, 2)
        query_HTK = split(self.linear(name + ".query", queries_TD))
        key_HSK = split(self.linear(name + ".key", memory_SD))
        value_HSK = split(self.linear(name + ".value", memory_SD))
        scores_HTS = query_HTK @ key_HSK.transpose(0, 2, 1) / math.sqrt(query_HTK.shape[-1])
        if causal:
            scores_HTS = np.where(np.tri(len(queries_TD), dtype=bool), scores_HTS, -np.inf)
        weights_HTS = np.exp(log_softmax(scores_HTS))
        self.attention_weights.append((name, weights_HTS))
        joined_TV = (weights_HTS @ value_HSK).transpose(1, 0, 2).reshape(len(queries_TD), -1)
        return self.linear(name + ".output", joined_TV)

    def feed_forward(self, name, x):
        inner = self.linear(name + ".inner", x)
        if self.config["activation"] == "relu":
            inner = np.maximum(inner, 0)
        elif self.config["activation"] == "gelu":
            inner = gelu(inner)
        else:
            gate = self.linear(name + ".gate", x)
            inner = gate / (1 + np.exp(-gate)) * inner
        return self.linear(name + ".outer", inner)

    def positions(self, length):
        config = self.config
        first, width = config["position_offset"], config["d_model"]
        if config["positions"] == "none":
            return np.zeros((length, width))
        if config["positions"] == "learned":
            return self.parameter("positions.weight")[first:first + length]
        angle = np.arange(first, first + length)[:, None] / 10000.0 ** (np.arange(0, width, 2) / width)
        table = np.concatenate([np.sin(angle), np.cos(angle)], 1)
        if config["position_convention"] == "interleaved":
            table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
        return table

    def residual(self, name, x, sublayer):
        if self.config["norm_place"] == "pre":
            return x + sublayer(self.norm(name + "_norm", x))
        return self.norm(name + "_norm", x + sublayer(x))

    def forward(self, ids, memory_SD=None, causal=False):
        self.attention_weights = []
        scale = math.sqrt(self.config["d_model"]) if self.config["scale_embedding"] else 1
        x = self.embedding_VD.astype(np.float64)[ids] * scale + self.positions(len(ids))
        for layer in range(self.config["layers"]):
            name = f"layers.{layer}."
            x = self.residual(name + "self_attention", x,
                              lambda y: self.attention(name + "self_attention", y, y, causal))
            if memory_SD is not None:
                x = self.residual(name + "cross_attention", x,
                                  lambda y: self.attention(name + "cross_attention", y, memory_SD, False))
            x = self.residual(name + "feed_forward", x, lambda y: self.feed_forward(name + "feed_forward", y))
        return self.norm("norm", x) if self.config["norm_place"] == "pre" else x


class Model:
    def __init__(self, directory):
        directory = pathlib.Path(directory)
        self.config = json.loads((directory / "config.json").read_text())["model"]
        self.weights = read_safetensors(directory / "model.safetensors")
        source = self.weights["encoder.embedding.weight"]
        target = source if self.config["tie_source_target"] else self.weights["decoder.embedding.weight"]
        self.output_VD = target if self.config["tie_target_output"] else self.weights["head.weight"]
        self.encoder = Stack("encoder", self.config["encoder"], self.weights, source)
        self.decoder = Stack("decoder", self.config["decoder"], self.weights, target)

    def logits(self, source_ids, target_ids):
        """[T, V]: row t chooses target_ids[t]."""
        memory_SD = self.encoder.forward(source_ids)
        shifted = [self.config["special_ids"]["bos"]] + list(target_ids[:-1])
        hidden_TD = self.decoder.forward(shifted, memory_SD, causal=True)
        bias = self.weights.get("head.bias", np.zeros(1)).astype(np.float64)
        return hidden_TD @ self.output_VD.astype(np.float64).T + bias

    def draw(self, source_ids, steps, generator):
        """At most `steps` ids drawn from the model, ended by eos."""
        special = self.config["special_ids"]
        ids = []
        while len(ids) < steps - 1 and special["eos"] not in ids:
            last = self.logits(source_ids, ids + [special["eos"]])[-1]
            last[[special["pad"], special["bos"], special["unk"]]] = -np.inf
            ids.append(int(generator.choice(len(last), p=np.exp(log_softmax(last)))))
        return ids if special["eos"] in ids else ids + [special["eos"]]

    def sample(self, source, source_ids, target, target_ids, top=5):
        """One entry of samples.json."""
        logits_TV = self.logits(source_ids, target_ids)
        log_probabilities = log_softmax(logits_TV)[np.arange(len(target_ids)), target_ids]
        top_logits = []
        for position in sorted({0, len(target_ids) // 2, len(target_ids) - 1}):
            ids = np.argsort(-logits_TV[position], kind="stable")[:top]
            top_logits.append({"position": position, "ids": ids.tolist(),
                               "logits": logits_TV[position][ids].tolist()})
        return {"source": source, "source_ids": list(source_ids), "target": target,
                "target_ids": list(target_ids), "score": float(log_probabilities.sum()),
                "token_log_probabilities": log_probabilities.tolist(), "top_logits": top_logits}
