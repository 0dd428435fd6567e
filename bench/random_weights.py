"""Random weights for CTranslate2's model specifications; what speed depends on is how many there are."""

import numpy as np


class RandomWeights:
    def __init__(self, seed=0):
        self.generator = np.random.default_rng(seed)

    def normal(self, *size):
        return self.generator.standard_normal(size, np.float32) * np.float32(0.02)

    def norm(self, spec, width):
        spec.gamma, spec.beta = np.ones(width, np.float32), np.zeros(width, np.float32)

    def linear(self, spec, outputs, inputs):
        spec.weight, spec.bias = self.normal(outputs, inputs), np.zeros(outputs, np.float32)

    def attention(self, spec, outputs, width):
        self.norm(spec.layer_norm, width)
        for each, size in zip(spec.linear, outputs):
            self.linear(each, size, width)

    def layer(self, spec, width, inner):
        self.attention(spec.self_attention, (3 * width, width), width)
        if hasattr(spec, "attention"):
            self.attention(spec.attention, (width, 2 * width, width), width)
        self.norm(spec.ffn.layer_norm, width)
        self.linear(spec.ffn.linear_0, inner, width)
        self.linear(spec.ffn.linear_1, width, inner)
