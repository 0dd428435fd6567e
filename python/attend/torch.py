"""A model directory as a plain torch.nn.Module, to read and to change: "Attention Is All You Need", section 3, and its family.

    import attend.torch

    model = attend.torch.load("my-model/model")
    logits_BTV = model(source_ids_BS, target_ids_BT)

The engine and the training program have code of their own; this file gives their numbers to 1e-5 and is written to be read. Modules and
parameters are named as the tensors of model.safetensors (docs/model_file.md). A tensor's name ends in its shape: B batch, S source,
T target, D model (d_model), H heads, K and V width of a head's keys and values, F feed-forward (d_ff); V of logits is the vocabulary.
"""

from __future__ import annotations

import json
import math
import os
import pathlib
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

try:
    import torch
    from safetensors.torch import load_file
    from torch import Tensor, nn
    from torch.nn import functional
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"attend.torch needs the package {error.name}, which is not installed: pip install torch safetensors", name=error.name) from error

from attend._attend import model_config
from attend._errors import InputError, UsageError

__all__ = ["FeedForward", "Head", "Layer", "MultiHeadAttention", "Patches", "Recurrence", "RelativeBias", "Stack", "Transformer", "load"]

Config = SimpleNamespace  # `model` of config.json, or one of its stacks, with the keys as attributes


def gelu_tanh(x: Tensor) -> Tensor:
    return functional.gelu(x, approximate="tanh")


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu, "gelu": functional.gelu, "gelu_tanh": gelu_tanh, "silu": functional.silu}
POOLER_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"tanh": torch.tanh, "relu": functional.relu}
GATES: dict[str, Callable[[Tensor], Tensor]] = {"swiglu": functional.silu, "geglu_tanh": gelu_tanh}


def norm_of(stack: Config) -> nn.Module:
    if stack.norm == "rms_norm":  # T5's: without mean and bias
        return nn.RMSNorm(stack.d_model, eps=stack.norm_epsilon)
    return nn.LayerNorm(stack.d_model, eps=stack.norm_epsilon)


class MultiHeadAttention(nn.Module):
    """Section 3.2: softmax(Q K^T / sqrt(d_k)) V, in each head with projections of its own."""

    def __init__(self, stack: Config) -> None:
        super().__init__()
        self.heads = stack.heads
        keys = stack.heads * (stack.d_k or stack.d_model // stack.heads)
        values = stack.heads * (stack.d_v or stack.d_model // stack.heads)
        self.query = nn.Linear(stack.d_model, keys, bias=stack.attention_bias)
        self.key = nn.Linear(stack.d_model, keys, bias=stack.attention_bias)
        self.value = nn.Linear(stack.d_model, values, bias=stack.attention_bias)
        self.output = nn.Linear(values, stack.d_model, bias=stack.attention_bias)

    def forward(self, x_BTD: Tensor, memory_BSD: Tensor, visible: Tensor, bias_HTS: Tensor | None = None) -> Tensor:
        """`visible` is true where a query may look at a key, and has a shape that widens to [B, H, T, S]."""
        heads_BHTV = self.weights(x_BTD, memory_BSD, visible, bias_HTS) @ self.split(self.value(memory_BSD))
        output_BTD: Tensor = self.output(heads_BHTV.transpose(1, 2).flatten(2))
        return output_BTD

    def weights(self, x_BTD: Tensor, memory_BSD: Tensor, visible: Tensor, bias_HTS: Tensor | None = None) -> Tensor:
        """How much each query looks at each key, [B, H, T, S]."""
        query_BHTK = self.split(self.query(x_BTD))
        key_BHSK = self.split(self.key(memory_BSD))
        scores_BHTS = query_BHTK @ key_BHSK.transpose(-2, -1) / math.sqrt(query_BHTK.size(-1))
        if bias_HTS is not None:
            scores_BHTS = scores_BHTS + bias_HTS
        scores_BHTS = scores_BHTS.masked_fill(~visible, torch.finfo(scores_BHTS.dtype).min)
        # The product makes zeros where a query sees nothing at all.
        weights_BHTS: Tensor = scores_BHTS.softmax(-1) * visible
        return weights_BHTS

    def split(self, x: Tensor) -> Tensor:
        """[B, T, H K] to [B, H, T, K]: a head owns K neighbouring columns."""
        return x.reshape(*x.shape[:-1], self.heads, -1).transpose(1, 2)


class RelativeBias(nn.Module):
    """T5's relative positions (Raffel et al. 2020): what a key's distance from its query adds to the scores of each head."""

    def __init__(self, stack: Config, both_ways: bool) -> None:
        super().__init__()
        self.both_ways, self.max_distance = both_ways, stack.relative_max_distance
        self.weight = nn.Parameter(torch.zeros(stack.relative_buckets, stack.heads))

    def forward(self, length: int) -> Tensor:
        places_T = torch.arange(length, device=self.weight.device)
        bias_TTH: Tensor = self.weight[self.buckets(places_T - places_T.unsqueeze(1))]
        return bias_TTH.permute(2, 0, 1)

    def buckets(self, distance: Tensor) -> Tensor:
        """Small distances have a bucket each, larger ones share the others by their logarithms; after the query stands a second half."""
        count = len(self.weight) // 2 if self.both_ways else len(self.weight)
        first = count * (distance > 0) if self.both_ways else 0
        apart = distance.abs() if self.both_ways else (-distance).clamp(min=0)
        exact = count // 2
        share = (apart / exact).clamp(min=1).log() / math.log(self.max_distance / exact)
        return first + torch.where(apart < exact, apart, (exact + (share * (count - exact)).long()).clamp(max=count - 1))


class FeedForward(nn.Module):
    """Section 3.3: max(0, x W1 + b1) W2 + b2, or with another activation between."""

    def __init__(self, stack: Config) -> None:
        super().__init__()
        self.activation = stack.activation
        self.inner = nn.Linear(stack.d_model, stack.d_ff, bias=stack.feed_forward_bias)
        if self.activation in GATES:
            self.gate = nn.Linear(stack.d_model, stack.d_ff, bias=stack.feed_forward_bias)
        self.outer = nn.Linear(stack.d_ff, stack.d_model, bias=stack.feed_forward_bias)

    def forward(self, x_BTD: Tensor) -> Tensor:
        if self.activation in GATES:
            hidden_BTF = GATES[self.activation](self.gate(x_BTD)) * self.inner(x_BTD)
        else:
            hidden_BTF = ACTIVATIONS[self.activation](self.inner(x_BTD))
        output_BTD: Tensor = self.outer(hidden_BTF)
        return output_BTD


class Recurrence(nn.Module):
    """A simpler simple recurrent unit (Kim et al. 2019), which Marian's students have in place of a decoder's self-attention."""

    def __init__(self, stack: Config) -> None:
        super().__init__()
        self.input = nn.Linear(stack.d_model, stack.d_model, bias=False)
        self.forget = nn.Linear(stack.d_model, stack.d_model)

    def forward(self, x_BTD: Tensor) -> Tensor:
        keep_BTD = torch.sigmoid(self.forget(x_BTD))
        input_BTD = (1 - keep_BTD) * self.input(x_BTD)
        states = [input_BTD[:, 0]]
        for t in range(1, x_BTD.size(1)):
            states.append(keep_BTD[:, t] * states[-1] + input_BTD[:, t])
        return functional.relu(torch.stack(states, 1))


class Layer(nn.Module):
    """Section 3.1, figure 1: self-attention (or a recurrence in its place), attention over the encoder's output where there is one, feed-forward."""

    def __init__(self, stack: Config, cross_attention: bool) -> None:
        super().__init__()
        self.norm_place = stack.norm_place
        self.recurs = stack.recurrence == "ssru"
        if self.recurs:
            self.recurrence = Recurrence(stack)
            self.recurrence_norm = norm_of(stack)
        else:
            self.self_attention = MultiHeadAttention(stack)
            self.self_attention_norm = norm_of(stack)
        if cross_attention:
            self.cross_attention = MultiHeadAttention(stack)
            self.cross_attention_norm = norm_of(stack)
        self.feed_forward = FeedForward(stack)
        self.feed_forward_norm = norm_of(stack)

    def forward(
        self, x_BTD: Tensor, visible: Tensor, bias_HTT: Tensor | None, memory_BSD: Tensor | None, memory_visible: Tensor | None,
    ) -> Tensor:
        if self.recurs:
            x_BTD = self.residual(x_BTD, self.recurrence_norm, self.recurrence)
        else:
            x_BTD = self.residual(x_BTD, self.self_attention_norm, lambda x: self.self_attention(x, x, visible, bias_HTT))
        if memory_BSD is not None:
            x_BTD = self.residual(x_BTD, self.cross_attention_norm, lambda x: self.cross_attention(x, memory_BSD, memory_visible))
        return self.residual(x_BTD, self.feed_forward_norm, self.feed_forward)

    def residual(self, x_BTD: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.norm_place == "pre":
            return x_BTD + sublayer(norm(x_BTD))
        x_BTD = norm(x_BTD + sublayer(x_BTD))  # the paper's
        return x_BTD


class Patches(nn.Linear):
    """Patches of a picture times a matrix, after a learned vector (the Vision Transformer, Dosovitskiy et al. 2021)."""

    def __init__(self, patches: Config, d_model: int) -> None:
        super().__init__(patches.patch * patches.patch * patches.channels, d_model)
        self.class_token = nn.Parameter(torch.zeros(d_model)) if patches.class_token else None

    def forward(self, patches_BPE: Tensor) -> Tensor:
        x_BPD = super().forward(patches_BPE)
        if self.class_token is None:
            return x_BPD
        return torch.cat([self.class_token.expand(len(x_BPD), 1, -1), x_BPD], 1)


class Convolutions(nn.ModuleList):
    """Log-mel frames of a recording [B, T, mels], shortened by convolutions over time (Whisper), [B, rows, D]."""

    def __init__(self, frames: Config, d_model: int) -> None:
        widths = [frames.mels] + [d_model] * (len(frames.kernels) - 1)
        super().__init__(nn.Linear(kernel * width, d_model) for kernel, width in zip(frames.kernels, widths, strict=True))
        self.config = frames

    def forward(self, x_BTE: Tensor) -> Tensor:
        layer: Any  # a Linear
        for layer, kernel, stride in zip(self, self.config.kernels, self.config.strides, strict=True):
            kernel_DEK = layer.weight.unflatten(1, (kernel, -1)).transpose(1, 2)
            x_BTE = functional.gelu(functional.conv1d(x_BTE.transpose(1, 2), kernel_DEK, layer.bias, stride, kernel // 2)).transpose(1, 2)
        return x_BTE


class Stack(nn.Module):
    """An encoder or a decoder: embeddings (or patches of pictures, or frames of sound) plus positions, then N layers."""

    def __init__(
        self, stack: Config, vocab_size: int, cross_attention: bool = False, both_ways: bool = True, reads: Config | None = None,
    ) -> None:
        """`reads` is the whole model's configuration, of a stack that may read numbers in place of ids."""
        super().__init__()
        self.config = stack
        self.patches = None if reads is None or reads.patches is None else Patches(reads.patches, stack.d_model)
        self.convolutions = None if reads is None or reads.frames is None else Convolutions(reads.frames, stack.d_model)
        # None: it reads the encoder's (section 3.4 shares them).
        self.embedding: Any = nn.Embedding(vocab_size, stack.d_model) if vocab_size else None
        self.projection: Any = None  # of a Fusion's: to the space that texts and pictures share
        self.positions = nn.Embedding(stack.max_positions, stack.d_model) if stack.positions == "learned" else None
        self.relative_bias = RelativeBias(stack, both_ways) if stack.positions == "relative" else None
        self.embedding_norm = norm_of(stack) if stack.embedding_norm else None
        self.layers = nn.ModuleList(Layer(stack, cross_attention) for _ in range(stack.layers))
        self.norm = norm_of(stack) if stack.norm_place == "pre" else None

    def forward(
        self, ids_BT: Tensor, embedding_VD: Tensor | None, visible: Tensor, memory: tuple[Tensor, Tensor | None] | None = None,
        added_BTD: Tensor | None = None,
    ) -> Tensor:
        memory_BSD, memory_visible = memory or (None, None)
        x_BTD = self.embed(ids_BT, embedding_VD)
        if self.config.positions in ("sinusoidal", "learned"):
            x_BTD = x_BTD + self.position_table(x_BTD.size(1)).to(x_BTD)
        if self.embedding_norm is not None:
            x_BTD = self.embedding_norm(x_BTD)
        if added_BTD is not None:
            x_BTD = x_BTD + added_BTD
        bias_HTT = None if self.relative_bias is None else self.relative_bias(x_BTD.size(1))
        if self.config.attention_window:  # restricted self-attention, section 4: keys at most so far away
            places_T = torch.arange(x_BTD.size(1), device=ids_BT.device)
            visible = visible & ((places_T - places_T.unsqueeze(1)).abs() <= self.config.attention_window)
        for layer in self.layers:
            x_BTD = layer(x_BTD, visible, bias_HTT, memory_BSD, memory_visible)
        if self.norm is not None:
            x_BTD = self.norm(x_BTD)
        return x_BTD

    def embed(self, ids_BT: Tensor, embedding_VD: Tensor | None) -> Tensor:
        """Of ids, of patches of pictures [B, P, E] or of frames [B, T, mels], before positions."""
        numbers = self.patches or self.convolutions
        if numbers is not None:
            x_BPD: Tensor = numbers(ids_BT)
            return x_BPD
        assert embedding_VD is not None
        # A decoder without bos starts from -1, a vector of zeros, as Marian's.
        x_BTD = functional.embedding(ids_BT.clamp(min=0), embedding_VD) * (ids_BT >= 0).unsqueeze(-1)
        return x_BTD * math.sqrt(self.config.d_model) if self.config.scale_embedding else x_BTD

    def position_table(self, length: int) -> Tensor:
        """Section 3.5: what is added to the embeddings, [T, D]."""
        first, last = self.config.position_offset, self.config.position_offset + length
        if self.positions is None:
            return sinusoids(torch.arange(first, last), self.config.d_model, self.config.position_convention)
        if last > self.config.max_positions:
            raise InputError(
                f"{length} tokens from position {first} need {last} learned positions, the model has {self.config.max_positions}; cut them")
        return self.positions.weight[first:last]


def sinusoids(positions_T: Tensor, d_model: int, convention: str) -> Tensor:
    """Sines and cosines of position / 10000^(2i / d_model), or tensor2tensor's timing signal, [T, D] in f64."""
    pairs = d_model // 2
    exponents = torch.arange(pairs, dtype=torch.float64) / (pairs - 1 if convention == "timing_signal" else pairs)
    angles = positions_T.unsqueeze(1) / torch.pow(10000.0, exponents)  # [T, D / 2]
    if convention != "interleaved":
        return torch.cat([angles.sin(), angles.cos()], 1)
    return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)  # the paper's: in turn


class Head(nn.Module):
    """Logits of tokens or of labels. Before the projection BERT's models have a transform or, of texts, a pooler."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        stack = config.decoder or config.encoder
        labels = config.head == "labels"
        width = len(config.labels) if labels else config.target_vocab_size
        self.activation = stack.activation
        # None: the projection is the last stack's embedding (section 3.4).
        self.weight = nn.Parameter(torch.zeros(width, stack.d_model)) if labels or not config.tie_target_output else None
        self.bias = nn.Parameter(torch.zeros(width)) if labels or config.head_bias else None
        if config.head_transform:
            self.transform = nn.Linear(stack.d_model, stack.d_model)
            self.norm = norm_of(stack)
        if config.head_pooler:
            self.pooler = nn.Linear(stack.d_model, stack.d_model)
        if config.crf:  # a conditional random field's scores, which stand beside the logits of each word's label
            self.begin = nn.Parameter(torch.zeros(width))  # of the first word's label
            self.end = nn.Parameter(torch.zeros(width))  # of the last word's
            self.transitions = nn.Parameter(torch.zeros(width, width))  # of a label (row) and the next word's (column)
        self.config = config

    def forward(self, x: Tensor, tied_weight_VD: Tensor | None) -> Tensor:
        """[..., D] to [..., V]."""
        if self.config.head_transform:
            x = self.norm(ACTIVATIONS[self.activation](self.transform(x)))
        if self.config.head_pooler:
            x = POOLER_ACTIVATIONS[self.config.pooler_activation](self.pooler(x))
        weight_VD = tied_weight_VD if self.weight is None else self.weight
        assert weight_VD is not None  # where nothing is tied, the head has its own
        return functional.linear(x, weight_VD, self.bias)


class Transformer(nn.Module):
    """An encoder, a decoder or both, and what stands on the last of them. `config` is `model` of config.json."""

    encoder: Any  # a Stack, or None
    decoder: Any  # a Stack, or None
    head: Any  # a Head, or None

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        share = config.encoder is not None and config.decoder is not None and config.tie_source_target
        self.encoder = self.decoder = self.head = None
        if config.encoder is not None:
            self.encoder = Stack(config.encoder, config.source_vocab_size, reads=config)
        if config.decoder is not None:
            self.decoder = Stack(
                config.decoder, 0 if share else config.target_vocab_size, cross_attention=config.encoder is not None, both_ways=False)
        if config.head != "none":
            self.head = Head(config)

    def forward(self, source: Tensor, target: Tensor | None = None, next_words: Tensor | None = None) -> Tensor:
        """Logits [B, T, V] of tokens, [B, S, labels] of each token's label, or [B, labels] of a text's or a picture's.

        A model that reads pictures takes their patches [B, P, E], which patches() makes of pixels, in place of ids. One that reads
        sound takes log-mel frames [B, T, mels] of recordings of one length as `source`.
        `source` and `target` are ids [B, S] and [B, T]; of a decoder alone, or an encoder alone, `source` is all. What a decoder
        reads begins with bos, and logits [:, t] are of the token after the ids up to t. encoder_ids and decoder_start give what stands
        around a translation's tokens. `next_words` [B, T] is for a parser with next_word_input: for each id of `target` the place
        in `source` of the word that comes next, whose encoding is added to what the decoder reads.
        """
        if self.head is None:
            raise UsageError("the model has no head and gives no logits; model.hidden(...) gives its states")
        hidden = self.hidden(source, target, next_words)
        if self.config.pooling == "first":
            hidden = hidden[:, 0]
        elif self.config.pooling == "mean":
            words_BS1 = self.not_pad(source).unsqueeze(-1).expand(*hidden.shape[:2], 1)
            hidden = (hidden * words_BS1).sum(1) / words_BS1.sum(1)
        logits: Tensor = self.head(hidden, self.embedding(self.decoder or self.encoder))
        return logits

    def hidden(self, source: Tensor, target: Tensor | None = None, next_words: Tensor | None = None) -> Tensor:
        """The last stack's states, below the head: [B, S, D], or with two stacks [B, T, D]."""
        if self.encoder is None or self.decoder is None:
            if target is not None:
                raise UsageError("two tensors of ids are given, expected one: the model is an encoder or a decoder alone")
        elif target is None:
            raise UsageError("one tensor of ids is given, expected two, source and target: the model has an encoder and a decoder")
        if (next_words is not None) != (self.config.next_word_input and target is not None):
            raise UsageError("next_words goes with the target of a parser with next_word_input, and with no other")
        if self.encoder is None:
            return self.decode(source)
        visible_B11S = self.not_pad(source)[:, None, None]  # nothing looks at a pad
        memory_BSD: Tensor = self.encoder(source, self.embedding(self.encoder), visible_B11S)
        return memory_BSD if target is None else self.decode(target, memory_BSD, visible_B11S, next_words)

    def decode(
        self, target_BT: Tensor, memory_BSD: Tensor | None = None, memory_visible: Tensor | None = None, next_words_BT: Tensor | None = None,
    ) -> Tensor:
        length = target_BT.size(1)
        causal_TT = torch.ones(length, length, dtype=torch.bool, device=target_BT.device).tril()  # nothing looks ahead
        memory = None if memory_BSD is None else (memory_BSD, memory_visible)
        added_BTD = None  # of a parser, the encodings of the next words
        if memory_BSD is not None and next_words_BT is not None:
            added_BTD = memory_BSD.gather(1, next_words_BT.unsqueeze(-1).expand(-1, -1, memory_BSD.size(-1)))
        hidden_BTD: Tensor = self.decoder(target_BT, self.embedding(self.decoder), causal_TT, memory, added_BTD)
        return hidden_BTD

    def encoder_ids(self, tokens: Sequence[int]) -> list[int]:
        """What the encoder of a translation model reads of a source's tokens: eos after them, tags of languages, BART's <s>."""
        eos = [self.config.special_ids.eos] if self.config.source_eos or not tokens else []
        return [*self.config.source_begin, *tokens, *eos, *self.config.source_end]

    def decoder_start(self) -> list[int]:
        """What the decoder reads before a target's tokens: bos, and what every target begins with."""
        return [self.config.special_ids.bos, *self.config.target_begin]

    def patches(self, pixels_BHWC: Tensor) -> Tensor:
        """What a model of pictures reads of pixels from 0 to 255, a picture of its size each: [B, P, E] (docs/model_file.md)."""
        return patches_of(pixels_BHWC, self.config.patches)

    def not_pad(self, ids_BS: Tensor) -> Tensor:
        if self.config.patches is not None or self.config.frames is not None:  # all have as many patches, or frames
            return torch.ones(len(ids_BS), 1, dtype=torch.bool, device=ids_BS.device)
        return ids_BS.ne(self.config.special_ids.pad)

    def embedding(self, stack: Stack) -> Tensor | None:
        """The stack's own embedding [V, D], or the encoder's where both share it; None where it reads pictures or sound."""
        if stack is self.encoder and self.config.input != "tokens":
            return None
        weight_VD: Tensor = (self.encoder if stack.embedding is None else stack).embedding.weight
        return weight_VD


class Joint(Stack):
    """The encoder that joins the inputs of items: a summary, then rows of a text, of a picture and of linked nodes."""

    def __init__(self, config: Config) -> None:
        super().__init__(config.encoder, 0)
        fusion, width = config.fusion, config.encoder.d_model
        self.summary = nn.Parameter(torch.zeros(width))
        self.from_text = nn.Linear(fusion.text.d_model, width)
        self.from_picture = nn.Linear(fusion.picture.d_model, width)
        self.nodes = nn.Embedding(len(fusion.nodes), width) if fusion.nodes else None

    def embed(self, ids_BT: Tensor, embedding_VD: Tensor | None) -> Tensor:
        return ids_BT  # rows already


class Fusion(nn.Module):
    """A model of items with a text, a picture and links to nodes of a graph. `config` is `model` of config.json."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config, fusion = config, config.fusion
        self.text = Stack(fusion.text, config.source_vocab_size)
        self.picture = Stack(fusion.picture, 0, reads=Config(patches=fusion.patches, frames=None))
        self.encoder, self.head = Joint(config), Head(config)
        for stack in (self.text, self.picture) if fusion.shared_width else ():
            stack.projection = nn.Linear(stack.config.d_model, fusion.shared_width, bias=False)

    def forward(self, text: Tensor | None = None, patches: Tensor | None = None, nodes: Tensor | None = None) -> Tensor:
        """Logits [B, labels] of items that have the same inputs: ids [B, T] without padding, patches [B, P, E] that
        patches_of() makes of pixels, and numbers of the linked nodes [B, L]. None: the items have none."""
        given, *_ = (one for one in (text, patches, nodes) if one is not None)  # at least one
        rows = [self.encoder.summary.expand(len(given), 1, -1)]
        if text is not None:
            rows.append(self.encoder.from_text(self.rows(self.text, text)))
        if patches is not None:
            rows.append(self.encoder.from_picture(self.rows(self.picture, patches)))
        if nodes is not None:
            assert self.encoder.nodes is not None  # where there are nodes to link to
            rows.append(self.encoder.nodes(nodes))
        logits: Tensor = self.head(self.rows(self.encoder, torch.cat(rows, 1))[:, 0], None)
        return logits

    def rows(self, stack: Stack, given: Tensor) -> Tensor:
        embedding_VD = None if stack.embedding is None else stack.embedding.weight
        x_BRD: Tensor = stack(given, embedding_VD, torch.ones(1, dtype=torch.bool, device=given.device))
        return x_BRD

    def vectors(self, stack: Stack, given: Tensor) -> Tensor:
        """CLIP's (Radford et al. 2021), [B, shared_width]: of ids by `text`, or patches by `picture`. Each has length 1."""
        return functional.normalize(stack.projection(self.rows(stack, given).mean(1)), dim=-1)

    def patches_of(self, pixels_BHWC: Tensor) -> Tensor:
        """Of pixels from 0 to 255, a picture of the model's size each: [B, P, E]."""
        return patches_of(pixels_BHWC, self.config.fusion.patches)


def patches_of(pixels_BHWC: Tensor, patches: Config) -> Tensor:
    numbers_BHWC = (pixels_BHWC.double() / 255 - torch.tensor(patches.mean)) / torch.tensor(patches.deviation)
    side = patches.patch
    shape = (len(pixels_BHWC), patches.height // side, side, patches.width // side, side, patches.channels)
    cut: Tensor = numbers_BHWC.reshape(shape).transpose(2, 3)  # [B, rows, columns, side, side, C]
    return cut.reshape(len(cut), -1, side * side * patches.channels).float()


def load(directory: str | os.PathLike[str]) -> Any:
    """The model of a model directory, f32 or int8, in eval mode on the CPU: a Transformer, or of items a Fusion. int8 weights become f32.

    Raises attend.InputError that names the file and the cure where it is not a whole model directory.
    """
    config = json.loads(model_config(directory), object_hook=lambda members: SimpleNamespace(**members))
    if config.architecture != "transformer":
        raise UsageError(f"{directory}: the model's architecture is {config.architecture}, and attend.torch has the transformer alone")
    stored = load_file(pathlib.Path(directory) / "model.safetensors")
    tensors = {
        name: tensor.float() * stored[name + "_scale"].unsqueeze(1) if name + "_scale" in stored else tensor  # the scale of each row
        for name, tensor in stored.items() if not name.endswith("_scale")}
    with torch.device("meta"):  # no initial weights, which would take numbers from torch's generator
        model: nn.Module = Transformer(config) if config.fusion is None else Fusion(config)
    model.load_state_dict(tensors, assign=True)
    return model.eval()
