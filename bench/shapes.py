"""What a translation of a given shape costs at least: multiply-adds and bytes of weights for each token of output.

A sentence of S pieces (eos counted) goes through the encoder once: per piece and layer 4 d^2 for the attention's four matrices,
2 d ff for the feed-forward layer, 2 d S for the dot products and the weighted sum. Each decoder layer then makes keys and values
of the S pieces, 2 d^2 each. Each of T output tokens takes one step of every live hypothesis (one at the first step, the beam's
size later): per layer 6 d^2 for self-attention and cross-attention's query and output, 2 d ff, and 2 d for each position looked
at; at the end V d for the output layer. A step at batch 1 reads the decoder's weights once, the sentence the encoder's.
"""

import dataclasses

LONGEST = 512  # pieces of an output to real text


@dataclasses.dataclass(frozen=True)
class Shape:
    encoder_layers: int
    decoder_layers: int
    d_model: int
    heads: int
    d_ff: int


PRESETS = {
    "tiny": Shape(4, 4, 128, 4, 256),
    "student": Shape(6, 2, 256, 8, 1536),
    "base": Shape(6, 6, 512, 8, 2048),
    "big": Shape(6, 6, 1024, 16, 4096),
}


IMPORTED = {"t5-small": Shape(6, 6, 512, 8, 2048)}  # which random_t5.py makes
T5_ROWS, T5_WORDS = 32128, 32096  # of its embedding; of its tokens those that are no special ones


@dataclasses.dataclass(frozen=True)
class Stack:
    """Of a model with one stack."""

    layers: int
    d_model: int
    heads: int
    d_ff: int

    def weights(self):
        return self.layers * (4 * self.d_model**2 + 2 * self.d_model * self.d_ff)

    def multiply_adds(self, positions):
        """Of a token that looks at so many positions, output layer left out."""
        return self.weights() + self.layers * 2 * self.d_model * positions


DECODERS = {"gpt2-small": Stack(12, 768, 12, 3072)}
ENCODERS = {"bert-base": Stack(12, 768, 12, 3072), "bert-tiny": Stack(4, 256, 4, 1024)}


@dataclasses.dataclass(frozen=True)
class Pictures:
    """What a Vision Transformer reads, and its stack."""

    size: int  # of a side, in pixels
    channels: int
    patch: int
    stack: Stack

    def rows(self):
        return (self.size // self.patch) ** 2 + 1

    def multiply_adds(self):
        """Of a picture."""
        return self.rows() * (self.stack.multiply_adds(self.rows()) + self.patch**2 * self.channels * self.stack.d_model)


PICTURES = {"vit-base": Pictures(224, 3, 16, Stack(12, 768, 12, 3072)), "vit-tiny": Pictures(28, 1, 4, Stack(6, 96, 4, 192))}


@dataclasses.dataclass(frozen=True)
class Lengths:
    source: int  # eos counted
    target: int
    beam: int = 1


def once_weights(shape):
    """Weights that a sentence uses once: the encoder's, and those of cross-attention's keys and values."""
    square, feed_forward = shape.d_model**2, 2 * shape.d_model * shape.d_ff
    return shape.encoder_layers * (4 * square + feed_forward) + shape.decoder_layers * 2 * square


def step_weights(shape, vocabulary):
    """Weights that every step uses."""
    layer = 6 * shape.d_model**2 + 2 * shape.d_model * shape.d_ff
    return shape.decoder_layers * layer + vocabulary * shape.d_model


def multiply_adds(shape, vocabulary, lengths):
    """Of one sentence, for each token of its output."""
    source, target, beam = lengths.source, lengths.target, lengths.beam
    encoder = source * (once_weights(shape) + shape.encoder_layers * 2 * shape.d_model * source)
    rows = decoder = 0
    for position in range(target):
        live = beam if position > 0 else 1
        rows += live
        decoder += live * shape.decoder_layers * 2 * shape.d_model * (position + 1 + source)
    return (encoder + decoder + rows * step_weights(shape, vocabulary)) / target


def weight_bytes(shape, vocabulary, lengths, bytes_each):
    """Read at batch 1 for each token of output."""
    return bytes_each * (step_weights(shape, vocabulary) + once_weights(shape) / lengths.target)
