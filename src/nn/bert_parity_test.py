"""Compares encoders and their heads with transformers' BERT: hidden states, logits, losses and gradients, with the same weights.

`nn_cases` writes weights, ids and what the layers computed from them; BERT computes the same in f64, one sentence at a time.
"""

import numpy as np
import pytest
import torch
import transformers
from layers_parity_test import Case, assert_close, assert_first_losses, folder  # noqa: F401  a fixture

HEADS = {
    "masked_tokens": transformers.BertForMaskedLM,
    "token_labels": transformers.BertForTokenClassification,
    "text_labels": transformers.BertForSequenceClassification,
    "relu_labels": transformers.BertForSequenceClassification,  # whose pooler is made DistilBERT's
}
OF_TEXTS = ("text_labels", "relu_labels")
LAYER = {
    "self_attention.query": "attention.self.query",
    "self_attention.key": "attention.self.key",
    "self_attention.value": "attention.self.value",
    "self_attention.output": "attention.output.dense",
    "self_attention_norm": "attention.output.LayerNorm",
    "feed_forward.inner": "intermediate.dense",
    "feed_forward.outer": "output.dense",
    "feed_forward_norm": "output.LayerNorm",
}


def name_in_bert(name, masked):
    """Where BERT has a tensor of ours."""
    part, _, kind = name.rpartition(".")
    if part.startswith("encoder.layers."):
        number, _, inner = part.removeprefix("encoder.layers.").partition(".")
        return f"bert.encoder.layer.{number}.{LAYER[inner]}.{kind}"
    if part == "head":
        return f"cls.predictions.{kind}" if masked else f"classifier.{kind}"
    return {
        "encoder.embedding": "bert.embeddings.word_embeddings",
        "encoder.positions": "bert.embeddings.position_embeddings",
        "encoder.embedding_norm": "bert.embeddings.LayerNorm",
        "head.transform": "cls.predictions.transform.dense",
        "head.norm": "cls.predictions.transform.LayerNorm",
        "head.pooler": "bert.pooler.dense",
    }[part] + "." + kind


def bert(case, kind):
    stack = case.config["encoder"]
    config = transformers.BertConfig(
        vocab_size=case.config["source_vocab_size"],
        hidden_size=stack["d_model"],
        num_hidden_layers=stack["layers"],
        num_attention_heads=stack["heads"],
        intermediate_size=stack["d_ff"],
        max_position_embeddings=stack["max_positions"],
        layer_norm_eps=stack["norm_epsilon"],
        type_vocab_size=1,
        num_labels=len(case.config["labels"]) or 2,
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
    )
    model = kind(config).double()
    if case.config["pooler_activation"] == "relu":
        model.bert.pooler.activation = torch.nn.ReLU()
    masked = kind is transformers.BertForMaskedLM
    state = {name_in_bert(name, masked): torch.from_numpy(weight.copy()).double() for name, weight in case.under("weights.").items()}
    state["bert.embeddings.token_type_embeddings.weight"] = torch.zeros(1, stack["d_model"]).double()
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected
    assert all("cls.predictions.decoder" in name or "position_ids" in name for name in missing), missing
    return model, masked


def sentences(case):
    ids, offsets = torch.from_numpy(case.tensors["ids"].copy()), case.tensors["offsets"]
    return [ids[None, first:last] for first, last in zip(offsets, offsets[1:])]


@pytest.mark.parametrize("name", HEADS)
def test_encoders_equal_bert(folder, name):  # noqa: F811
    case = Case(folder, name)
    model, masked = bert(case, HEADS[name])
    hidden, logits = [], []
    for ids in sentences(case):
        output = model(input_ids=ids, output_hidden_states=True)
        hidden.append(output.hidden_states[-1][0])
        logits.append(output.logits if name in OF_TEXTS else output.logits[0])
    logits = torch.cat(logits)
    assert_close(torch.cat(hidden).detach(), case.tensors["hidden"], "hidden states")
    assert_close(logits.detach(), case.tensors["logits"], "logits")
    loss = torch.nn.functional.cross_entropy(logits, torch.arange(len(logits)) % logits.shape[1])
    loss.backward()
    found = dict(model.named_parameters())
    for prefix, tolerance in (("", 2e-5), ("f64.", 2e-7)):
        assert_close(case.tensors[prefix + "loss"], loss.detach(), "loss", tolerance)
        for parameter, gradient in case.under(prefix + "gradients.").items():
            assert_close(gradient, found[name_in_bert(parameter, masked)].grad, f"gradient of {parameter}", tolerance)


@pytest.mark.parametrize("name", HEADS)
def test_first_losses_are_berts(folder, name):  # noqa: F811
    case = Case(folder, name)
    model, masked = bert(case, HEADS[name])

    def loss():
        outputs = [model(input_ids=ids).logits for ids in sentences(case)]
        logits = torch.cat([output if name in OF_TEXTS else output[0] for output in outputs])
        return torch.nn.functional.cross_entropy(logits, torch.arange(len(logits)) % logits.shape[1])

    named = dict(model.named_parameters())
    ours = [named[name_in_bert(parameter, masked)] for parameter in case.under("weights.")]
    assert_first_losses(case, ours, case.config["encoder"]["d_model"], loss)


def test_the_mean_of_a_text(folder):  # noqa: F811
    case = Case(folder, "mean_labels")
    offsets, weights = case.tensors["offsets"], case.under("weights.")
    means = np.stack([case.tensors["hidden"][first:last].mean(0) for first, last in zip(offsets, offsets[1:])])
    assert_close(case.tensors["logits"], means @ weights["head.weight"].T + weights["head.bias"], "logits")
