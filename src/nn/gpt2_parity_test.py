"""Compares language models with transformers' GPT-2 of the same weights: the layers by hidden states, loss and gradients, the engine
by greedy texts and log-probabilities.

`nn_cases` writes weights, ids and what the layers computed from them, and a model directory of the same weights.
"""

import copy
import json
import os
import subprocess

import numpy as np
import pytest
import sentencepiece
import torch
import transformers
from layers_parity_test import PAD, Case, assert_close, assert_first_losses, folder  # noqa: F401  a fixture

ATTEND = os.path.join(os.environ["BUILD_DIR"], "attend")
BOS, EOS = 2, 3
LAYER = {
    "self_attention.output": "attn.c_proj",
    "self_attention_norm": "ln_1",
    "feed_forward.inner": "mlp.c_fc",
    "feed_forward.outer": "mlp.c_proj",
    "feed_forward_norm": "ln_2",
}


def in_gpt2(tensors, layers):
    """Our tensors by GPT-2's names: query, key and value are one there, and matrices of layers are [in, out]."""
    found = {
        "transformer.wte.weight": tensors["decoder.embedding.weight"],
        "transformer.wpe.weight": tensors["decoder.positions.weight"],
        "transformer.ln_f.weight": tensors["decoder.norm.weight"],
        "transformer.ln_f.bias": tensors["decoder.norm.bias"],
    }
    for layer in range(layers):
        ours, theirs = f"decoder.layers.{layer}.", f"transformer.h.{layer}."
        for kind in ("weight", "bias"):
            parts = [tensors[f"{ours}self_attention.{name}.{kind}"] for name in ("query", "key", "value")]
            found[f"{theirs}attn.c_attn.{kind}"] = np.concatenate(parts)
            for name, there in LAYER.items():
                found[f"{theirs}{there}.{kind}"] = tensors[f"{ours}{name}.{kind}"]
    found = {name: torch.tensor(tensor).double() for name, tensor in found.items()}
    return {name: tensor.T if ".h." in name and tensor.dim() == 2 else tensor for name, tensor in found.items()}


@pytest.fixture(name="case", scope="module")
def gpt_case(folder):  # noqa: F811
    return Case(folder, "gpt")


@pytest.fixture(name="gpt2", scope="module")
def gpt2_of_the_same_weights(case):
    stack = case.config["decoder"]
    config = transformers.GPT2Config(
        vocab_size=case.config["target_vocab_size"], n_positions=stack["max_positions"], n_embd=stack["d_model"], n_layer=stack["layers"],
        n_head=stack["heads"], n_inner=stack["d_ff"], activation_function="gelu", layer_norm_epsilon=stack["norm_epsilon"], resid_pdrop=0,
        embd_pdrop=0, attn_pdrop=0)
    model = transformers.GPT2LMHeadModel(config).double()
    missing, unexpected = model.load_state_dict(in_gpt2(case.under("weights."), stack["layers"]), strict=False)
    assert not unexpected and missing == ["lm_head.weight"]  # tied
    return model


def test_layers_equal_gpt2(case, gpt2):
    target = torch.from_numpy(case.tensors["target"].copy())
    output = gpt2(input_ids=target[:, :-1], output_hidden_states=True)
    tokens = target[:, :-1] != PAD
    assert_close(torch.from_numpy(case.tensors["decoder.output"].copy())[tokens], output.hidden_states[-1][tokens].detach(), "hidden states")
    assert_close(torch.from_numpy(case.tensors["logits"].copy())[tokens], output.logits[tokens].detach(), "logits")
    loss = torch.nn.functional.cross_entropy(
        output.logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD, label_smoothing=0.1)
    gpt2.zero_grad()
    loss.backward()
    wanted = {name: parameter.grad for name, parameter in gpt2.named_parameters()}
    for prefix, tolerance in (("", 2e-5), ("f64.", 2e-7)):
        assert_close(case.tensors[prefix + "loss"], loss.detach(), "loss", tolerance)
        for name, gradient in in_gpt2(case.under(prefix + "gradients."), len(gpt2.transformer.h)).items():
            assert_close(gradient, wanted[name], f"gradient of {name}", tolerance)


def test_first_losses_are_gpt2s(case, gpt2):
    model, target = copy.deepcopy(gpt2), torch.from_numpy(case.tensors["target"].copy())

    def loss():
        logits = model(input_ids=target[:, :-1]).logits
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD, label_smoothing=0.1)

    assert_first_losses(case, model.parameters(), case.config["decoder"]["d_model"], loss)


def greedy(gpt2, ids, tokens):
    """The likeliest tokens after bos and these, and all log-probabilities that lead there."""
    read, log_probabilities = [BOS, *ids], []
    for _ in range(tokens):
        scores = torch.log_softmax(gpt2(input_ids=torch.tensor([read])).logits[0, -1].detach(), -1)
        best = int(scores[EOS:].argmax()) + EOS  # neither pad nor unk nor bos
        log_probabilities.append(float(scores[best]))
        if best == EOS:
            break
        read.append(best)
    return read[1 + len(ids):], log_probabilities


@pytest.mark.parametrize("kernels", ["reference", ""])
def test_the_engine_equals_gpt2(folder, gpt2, kernels):  # noqa: F811
    vocabulary = sentencepiece.SentencePieceProcessor(model_file=str(folder / "gpt/vocab.spm"))
    prompts = ["The old man", "A bird sees", "a", ""]
    environment = {**os.environ, "ATTEND_ISA": kernels} if kernels else dict(os.environ)

    def attend(*arguments, text=""):
        return subprocess.run(
            [ATTEND, *arguments, "--model", folder / "gpt"], input=text, capture_output=True, text=True, check=True, env=environment).stdout

    printed = attend("generate", *prompts, "--temperature", "0", "--max-tokens", "20", "--json").splitlines()
    for prompt, line in zip(prompts, printed, strict=True):
        output, = json.loads(line)["outputs"]
        ids, log_probabilities = greedy(gpt2, vocabulary.encode(prompt), 20)
        assert output["ids"] == ids
        assert output["token_log_probabilities"] == pytest.approx(log_probabilities, abs=1e-5)
    scores = attend("score", "--input", "-", "--end=false", text="".join(f"{prompt}\n" for prompt in prompts[:3])).splitlines()
    for prompt, score in zip(prompts, scores):
        ids = vocabulary.encode(prompt)
        rows = torch.log_softmax(gpt2(input_ids=torch.tensor([[BOS, *ids]])).logits[0, :-1].detach(), -1)
        assert float(score) == pytest.approx(float(rows[range(len(ids)), ids].sum()), abs=1e-5)
