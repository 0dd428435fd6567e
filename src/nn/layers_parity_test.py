"""Compares the Torch layers with the paper's formulas in NumPy f64 and with PyTorch.

`nn_cases` writes weights, ids and all that the layers computed from them; here the same is computed again.
"""
import functools
import json
import math
import os
import subprocess

import numpy as np
import pytest
import torch
import torch.nn.functional as F

NAMES = [
    "decoder_only", "decoder_output_tied", "encoder_only", "geglu_tanh", "post_norm", "pre_norm_gelu_biases", "rms_post_norm",
    "silu_timing_signal", "source_target_tied", "ssru", "swiglu_learned_untied", "t5", "tiny", "window",
]
TRANSLATORS = [name for name in NAMES if name != "encoder_only"]
PAD = 0


def smooth(x, activation):
    """silu, or gelu as tanh approximates it."""
    u = x if activation == "silu" else 2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)
    return x / (1 + np.exp(-u))


def bucket(distance, both_ways, stack):
    """T5's of a key that stands so far after its query."""
    count = stack["relative_buckets"] // (2 if both_ways else 1)
    first = count if both_ways and distance > 0 else 0
    apart = abs(distance) if both_ways else max(-distance, 0)
    exact = count // 2
    if apart < exact:
        return first + apart
    share = math.log(apart / exact) / math.log(stack["relative_max_distance"] / exact)
    return first + min(exact + int(share * (count - exact)), count - 1)


def relative_bias(weights, name, stack, length):
    """[T, T, H] for self-attention with relative positions, or none."""
    side = name.split(".")[0]
    if stack["positions"] != "relative" or not name.endswith("self_attention"):
        return None
    places = range(length)
    buckets = np.array([[bucket(key - query, side == "encoder", stack) for key in places] for query in places])
    return weights[side + ".relative_bias.weight"][buckets]


def near(stack, length):
    """[1, T, T]: the keys that a window of self-attention leaves."""
    places = np.arange(length)
    return (np.abs(places - places[:, None]) <= (stack["attention_window"] or length))[None]


def read_safetensors(path):
    data = open(path, "rb").read()
    length = int.from_bytes(data[:8], "little")
    types = {"F32": np.float32, "I64": np.int64}
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        flat = np.frombuffer(data[8 + length:][first:last], types[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


class Case:
    def __init__(self, folder, name):
        self.config = json.load(open(folder / f"{name}.json"))
        self.tensors = read_safetensors(folder / f"{name}.safetensors")

    def under(self, prefix):
        return {k[len(prefix):]: v for k, v in self.tensors.items() if k.startswith(prefix)}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cases")
    subprocess.run([os.path.join(os.environ["BUILD_DIR"], "tests", "nn_cases"), str(path)], check=True)
    return path


def assert_close(found, expected, what, tolerance=1e-5):
    """Norm-wise relative error, with an absolute floor for what is zero."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert found.shape == expected.shape, what
    assert np.isfinite(found).all(), what
    bound = tolerance * np.linalg.norm(expected) + 1e-7 * math.sqrt(expected.size)
    error = np.linalg.norm(found - expected)
    assert error <= bound, f"{what}: error {error:.3g}, norm {np.linalg.norm(expected):.3g}"


class NumpyModel:
    """The formulas of the paper, section 3, in f64."""

    def __init__(self, config, weights):
        self.config = config
        self.weights = {name: weight.astype(np.float64) for name, weight in weights.items()}
        self.seen = {}

    def linear(self, x, name):
        y = x @ self.weights[name + ".weight"].T
        return y + self.weights[name + ".bias"] if name + ".bias" in self.weights else y

    def norm(self, x, name, stack):
        rms = stack["norm"] == "rms_norm"
        centred = x if rms else x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + stack["norm_epsilon"])
        return scaled * self.weights[name + ".weight"] + (0 if rms else self.weights[name + ".bias"])

    def attention(self, x, memory, allowed, name, stack):
        """One head at a time; softmax by its definition; no key, no output."""
        bias = relative_bias(self.weights, name, stack, x.shape[1])
        width_k, width_v = stack["d_k"] or x.shape[-1] // stack["heads"], stack["d_v"] or x.shape[-1] // stack["heads"]
        q, k, v = self.linear(x, name + ".query"), self.linear(memory, name + ".key"), self.linear(memory, name + ".value")
        heads, weights = [], []
        for h in range(stack["heads"]):
            query, key = (t[..., h * width_k:(h + 1) * width_k] for t in (q, k))
            exponent = query @ key.transpose(0, 2, 1) / np.sqrt(width_k) + (0 if bias is None else bias[:, :, h])
            e = np.where(allowed, np.exp(exponent), 0.0)
            total = e.sum(-1, keepdims=True)
            weights.append(np.divide(e, total, out=np.zeros_like(e), where=total > 0))
            heads.append(weights[-1] @ v[..., h * width_v:(h + 1) * width_v])
        return self.linear(np.concatenate(heads, -1), name + ".output"), np.stack(weights, 1)

    def feed_forward(self, x, name, activation):
        inner = self.linear(x, name + ".inner")
        if activation == "relu":
            hidden = np.maximum(0, inner)
        elif activation == "gelu":
            hidden = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        elif activation in ("silu", "gelu_tanh"):
            hidden = smooth(inner, activation)
        else:
            hidden = smooth(self.linear(x, name + ".gate"), {"swiglu": "silu", "geglu_tanh": "gelu_tanh"}[activation]) * inner
        return self.linear(hidden, name + ".outer")

    def recurrence(self, x, name):
        keep = 1 / (1 + np.exp(-self.linear(x, name + ".forget")))
        states = (1 - keep) * self.linear(x, name + ".input")
        for t in range(1, x.shape[1]):
            states[:, t] += keep[:, t] * states[:, t - 1]
        return np.maximum(states, 0)

    def sublayer(self, x, name, stack, function):
        norm = lambda y: self.norm(y, name + "_norm", stack)
        return x + function(norm(x)) if stack["norm_place"] == "pre" else norm(x + function(x))

    def embed(self, ids, stack, name, table):
        d = stack["d_model"]
        x = table[ids] * (ids >= 0)[..., None] * (math.sqrt(d) if stack["scale_embedding"] else 1)
        positions = np.arange(ids.shape[1]) + stack["position_offset"]
        if stack["positions"] == "learned":
            x = x + self.weights[name + ".positions.weight"][positions]
        elif stack["positions"] == "sinusoidal":
            pe = np.zeros((len(positions), d))
            for i in range(d // 2):
                angle = positions / 10000 ** (i / (d / 2 - 1) if stack["position_convention"] == "timing_signal" else 2 * i / d)
                sine, cosine = (2 * i, 2 * i + 1) if stack["position_convention"] == "interleaved" else (i, d // 2 + i)
                pe[:, sine], pe[:, cosine] = np.sin(angle), np.cos(angle)
            x = x + pe
        return x

    def stack(self, name, x, self_allowed, memory=None, memory_allowed=None):
        stack = self.config[name]
        self_allowed = self_allowed & near(stack, x.shape[1])
        self.seen[f"{name}.embedded"] = x
        for i in range(stack["layers"]):
            layer = f"{name}.layers.{i}"
            if recurs := stack["recurrence"] == "ssru":
                x = self.sublayer(x, f"{layer}.recurrence", stack, lambda y: self.recurrence(y, f"{layer}.recurrence"))
                self.seen[f"{name}.{i}.self_attention"] = x
            attended = ([] if recurs else [("self", None, self_allowed)]) + ([("cross", memory, memory_allowed)] if memory is not None else [])
            for kind, keys, allowed in attended:
                def attend(y, kind=kind, keys=keys, allowed=allowed):
                    output, weights = self.attention(y, y if keys is None else keys, allowed,
                                                     f"{layer}.{kind}_attention", stack)
                    self.seen[f"{name}.{i}.{kind}_weights"] = weights
                    return output
                x = self.sublayer(x, f"{layer}.{kind}_attention", stack, attend)
                self.seen[f"{name}.{i}.{kind}_attention"] = x
            x = self.sublayer(x, f"{layer}.feed_forward", stack,
                              lambda y: self.feed_forward(y, f"{layer}.feed_forward", stack["activation"]))
            self.seen[f"{name}.{i}.feed_forward"] = x
        if stack["norm_place"] == "pre":
            x = self.norm(x, name + ".norm", stack)
        self.seen[f"{name}.output"] = x
        return x

    def forward(self, source, target):
        memory, keys = None, (source != PAD)[:, None, :]
        if "encoder" in self.config:
            table = self.weights["encoder.embedding.weight"]
            memory = self.stack("encoder", self.embed(source, self.config["encoder"], "encoder", table), keys)
        if "decoder" not in self.config:
            return None
        table = self.weights.get("decoder.embedding.weight", self.weights.get("encoder.embedding.weight"))
        causal = np.tril(np.ones((target.shape[1],) * 2, bool))[None]  # which hides what is padded on the right from all else
        hidden = self.stack("decoder", self.embed(target, self.config["decoder"], "decoder", table), causal, memory, keys)
        return hidden @ self.weights.get("head.weight", table).T + self.weights.get("head.bias", 0)


@pytest.mark.parametrize("name", NAMES)
def test_every_activation_is_the_formula(folder, name):
    case = Case(folder, name)
    model = NumpyModel(case.config, case.under("weights."))
    logits = model.forward(case.tensors["source"], case.tensors["target"][:, :-1])
    assert model.seen
    for what, expected in model.seen.items():
        assert_close(case.tensors[what], expected, f"{name} {what}")
    stored = [k for k in case.tensors if k.startswith(("encoder.", "decoder."))]
    assert sorted(stored) == sorted(model.seen), "nothing traced goes unchecked"
    if logits is not None:
        assert_close(case.tensors["logits"], logits, f"{name} logits")


class TorchModel:
    """PyTorch's own operations, for autograd."""

    def __init__(self, config, weights):
        self.config = config
        self.weights = {k: torch.tensor(v, dtype=torch.float64, requires_grad=True) for k, v in weights.items()}

    def linear(self, x, name):
        return F.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias"))

    def attention(self, x, memory, allowed, name, stack):
        heads, bias = stack["heads"], relative_bias(self.weights, name, stack, x.shape[1])
        q, k, v = (self.linear(y, f"{name}.{part}").unflatten(-1, (heads, -1)).transpose(1, 2)
                   for y, part in ((x, "query"), (memory, "key"), (memory, "value")))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if bias is not None:
            scores = scores + bias.permute(2, 0, 1)
        scores = scores.masked_fill(~allowed[:, None], -1e30)
        weights = scores.softmax(-1) * allowed.any(-1)[:, None, :, None]
        return self.linear((weights @ v).transpose(1, 2).flatten(2), name + ".output")

    def feed_forward(self, x, name, activation):
        inner = self.linear(x, name + ".inner")
        gelu_tanh = functools.partial(F.gelu, approximate="tanh")
        if activation in ("swiglu", "geglu_tanh"):
            inner = inner * (F.silu if activation == "swiglu" else gelu_tanh)(self.linear(x, name + ".gate"))
        else:
            inner = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "gelu_tanh": gelu_tanh}[activation](inner)
        return self.linear(inner, name + ".outer")

    def recurrence(self, x, name):
        keep = torch.sigmoid(self.linear(x, name + ".forget"))
        states = [torch.zeros_like(x[:, 0])]
        for t in range(x.shape[1]):
            states.append(keep[:, t] * states[-1] + (1 - keep[:, t]) * self.linear(x[:, t], name + ".input"))
        return F.relu(torch.stack(states[1:], 1))

    def norm(self, x, name, stack):
        if stack["norm"] == "rms_norm":
            return x * (x.square().mean(-1, keepdim=True) + stack["norm_epsilon"]).rsqrt() * self.weights[name + ".weight"]
        return F.layer_norm(x, x.shape[-1:], self.weights[name + ".weight"], self.weights[name + ".bias"],
                            stack["norm_epsilon"])

    def stack(self, name, ids, table, self_allowed, memory=(None, None)):
        stack = self.config[name]
        memory, memory_allowed = memory
        self_allowed = self_allowed & torch.from_numpy(near(stack, ids.shape[1]))
        reference = NumpyModel(self.config, {})
        x = F.embedding(ids.clamp(min=0), table) * (ids >= 0)[..., None] * (math.sqrt(stack["d_model"]) if stack["scale_embedding"] else 1)
        if stack["positions"] == "learned":
            x = x + self.weights[name + ".positions.weight"][stack["position_offset"]:][: ids.shape[1]]
        else:
            x = x + torch.from_numpy(reference.embed(np.zeros(ids.shape, int), stack, name, np.zeros((1, stack["d_model"]))))
        for i in range(stack["layers"]):
            layer = f"{name}.layers.{i}"
            parts = [("recurrence", lambda y: self.recurrence(y, layer + ".recurrence"))] if stack["recurrence"] == "ssru" else [("self_attention", lambda y: self.attention(y, y, self_allowed, layer + ".self_attention", stack))]
            if memory is not None:
                parts.append(("cross_attention", lambda y: self.attention(y, memory, memory_allowed,
                                                                          layer + ".cross_attention", stack)))
            parts.append(("feed_forward", lambda y: self.feed_forward(y, layer + ".feed_forward", stack["activation"])))
            for part, function in parts:
                norm = f"{layer}.{part}_norm"
                if stack["norm_place"] == "pre":
                    x = x + function(self.norm(x, norm, stack))
                else:
                    x = self.norm(x + function(x), norm, stack)
        return self.norm(x, name + ".norm", stack) if stack["norm_place"] == "pre" else x

    def loss(self, source, target):
        memory, keys = None, (source != PAD)[:, None, :]
        if "encoder" in self.config:
            memory = self.stack("encoder", source, self.weights["encoder.embedding.weight"], keys)
        read, wanted = target[:, :-1], target[:, 1:]
        table = self.weights.get("decoder.embedding.weight", self.weights.get("encoder.embedding.weight"))
        causal = torch.ones(read.shape[1], read.shape[1], dtype=torch.bool).tril()[None]
        hidden = self.stack("decoder", read, table, causal, (memory, keys))
        logits = F.linear(hidden, self.weights.get("head.weight", table), self.weights.get("head.bias"))
        return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD, label_smoothing=0.1)


def torch_case(folder, name):
    case = Case(folder, name)
    ids = [torch.from_numpy(case.tensors[k].copy()) for k in ("source", "target")]
    return case, TorchModel(case.config, case.under("weights.")), ids


# What is computed in f64 is kept in f32.
PRECISIONS = [("", 1e-5, 2e-7), ("f64.", 2e-7, 1e-12)]


@pytest.mark.parametrize("name", TRANSLATORS)
@pytest.mark.parametrize(("prefix", "tolerance", "share"), PRECISIONS)
def test_gradients_are_pytorchs(folder, name, prefix, tolerance, share):
    case, model, ids = torch_case(folder, name)
    loss = model.loss(*ids)
    loss.backward()
    assert_close(case.tensors[prefix + "loss"], loss.item(), "loss", tolerance)
    gradients = case.under(prefix + "gradients.")
    assert sorted(gradients) == sorted(model.weights)
    # Some gradients are sums that nearly cancel (a key's bias has none at all): the floor is set by the largest one.
    largest = max(np.abs(g).max() for g in gradients.values())
    for what, found in gradients.items():
        expected = model.weights[what].grad.numpy()
        floor = share * largest * math.sqrt(found.size)
        assert np.linalg.norm(found - expected) <= tolerance * np.linalg.norm(expected) + floor, f"{name} {what}"


def assert_first_losses(case, parameters, d_model, loss_of):
    """Ten updates of Adam give the losses that ours gave in f64."""
    adam, warmup = torch.optim.Adam(parameters, lr=0, betas=(0.9, 0.98), eps=1e-9), 40
    for step, found in enumerate(case.tensors["first_losses"], start=1):
        adam.param_groups[0]["lr"] = d_model ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)
        adam.zero_grad()
        loss = loss_of()
        loss.backward()
        adam.step()
        assert abs(found - loss.item()) <= 2e-7 * loss.item(), f"update {step}"
    assert case.tensors["first_losses"][-1] < 0.8 * case.tensors["first_losses"][0], "it learns"


@pytest.mark.parametrize("name", TRANSLATORS)
def test_first_ten_losses_are_pytorchs(folder, name):
    case, model, ids = torch_case(folder, name)
    assert_first_losses(case, model.weights.values(), case.config["decoder"]["d_model"], lambda: model.loss(*ids))


def load_attention(module, weights, name):
    parts = [weights[f"{name}.{part}.weight"] for part in ("query", "key", "value")]
    module.in_proj_weight.copy_(torch.cat(parts))
    module.out_proj.weight.copy_(weights[name + ".output.weight"])
    for bias, sources in ((module.in_proj_bias, ("query", "key", "value")), (module.out_proj.bias, ("output",))):
        found = [weights[f"{name}.{part}.bias"] for part in sources if f"{name}.{part}.bias" in weights]
        bias.copy_(torch.cat(found)) if found else bias.zero_()


def load_linear(module, weights, name):
    module.weight.copy_(weights[name + ".weight"])
    module.bias.copy_(weights[name + ".bias"])


@pytest.mark.parametrize("name", ["post_norm", "pre_norm_gelu_biases", "tiny"])
@torch.no_grad()
def test_layers_are_those_of_nn_transformer(folder, name):
    case = Case(folder, name)
    weights = {k: torch.tensor(v) for k, v in case.under("weights.").items()}
    full = torch.tensor([0, 2])  # nn.Transformer gives NaN for the empty sentence
    seen = {k: torch.tensor(v)[full] for k, v in case.tensors.items() if k.startswith(("encoder.", "decoder."))}
    source, target = (torch.tensor(case.tensors[k])[full] for k in ("source", "target"))
    target = target[:, :-1]
    for stack in ("encoder", "decoder"):
        c = case.config[stack]
        kind = torch.nn.TransformerEncoderLayer if stack == "encoder" else torch.nn.TransformerDecoderLayer
        before = seen[stack + ".embedded"]
        for i in range(c["layers"]):
            layer = kind(c["d_model"], c["heads"], c["d_ff"], 0.0, c["activation"], c["norm_epsilon"], batch_first=True,
                         norm_first=c["norm_place"] == "pre").train()
            prefix = f"{stack}.layers.{i}"
            load_attention(layer.self_attn, weights, prefix + ".self_attention")
            if stack == "decoder":
                load_attention(layer.multihead_attn, weights, prefix + ".cross_attention")
            load_linear(layer.linear1, weights, prefix + ".feed_forward.inner")
            load_linear(layer.linear2, weights, prefix + ".feed_forward.outer")
            parts = ["self_attention", "cross_attention", "feed_forward"] if stack == "decoder" else ["self_attention", "feed_forward"]
            for number, part in enumerate(parts, start=1):
                load_linear(getattr(layer, f"norm{number}"), weights, f"{prefix}.{part}_norm")
            if stack == "encoder":
                after = layer(before, src_key_padding_mask=source == PAD)
            else:
                future = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
                after = layer(before, seen["encoder.output"], tgt_mask=future, memory_key_padding_mask=source == PAD)
            assert_close(seen[f"{stack}.{i}.feed_forward"], after, f"{name} {prefix}")
            before = after
