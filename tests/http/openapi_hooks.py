"""What the description says in words, because JSON Schema has no words for it."""

import re

import schemathesis

MOST_WITH_ATTENTION = 178
DECODER_LAYERS = 2  # of the models that are served
DRAWING = {"temperature": 1, "top_k": 0, "top_p": 1, "seed": 1}  # of drawn outputs alone
SEARCHING = {"coverage_penalty": 0, "beam_threshold": 0, "early_exit": 0}  # of a beam alone
ENCODERS = ("/v1/parse", "/v1/tag", "/v1/classify", "/v1/fill", "/v1/embeddings")


def one_line(text):
    return isinstance(text, str) and re.fullmatch("[!-~][ -~]{0,40}", text) is not None


def beginnings_can_be(body):
    """A text with a target_prefix is one line, and a list of these has one for each text; drawn outputs have none."""
    prefix, text = body.get("target_prefix", ""), body.get("text")
    prefixes, texts = ([each] if isinstance(each, str) else each for each in (prefix, text))
    if not isinstance(prefixes, list) or not isinstance(texts, list):
        return True  # refused for its type
    if isinstance(prefix, list) and len(prefixes) != len(texts):
        return False
    if not any(prefixes) and not isinstance(prefix, list):
        return True
    return all(map(one_line, texts)) and body.get("sample") is not True and body.get("mbr", "none") == "none"


def terms_can_be(body):
    """Terms have a source and a target with a letter or digit, and no flags that this hook does not know; drawn outputs have none."""
    glossary = body.get("glossary", "")
    if not isinstance(glossary, list) or not all(isinstance(term, dict) for term in glossary):
        return True  # a name, or refused for its type
    texts = [term.get(name) for term in glossary for name in ("source", "target")]
    if not all(isinstance(text, str) and re.search("[A-Za-z0-9]", text) for text in texts) or any(term.get("flags") for term in glossary):
        return False
    return all(map(one_line, texts)) and (not glossary or (body.get("sample") is not True and body.get("mbr", "none") == "none"))


def layer_can_be(body):
    layer = body.get("alignment_layer", 0)
    return not isinstance(layer, int | float) or layer <= DECODER_LAYERS


def alternatives_can_be(body):
    """Members of /v1/alternatives that hang on one another."""
    most, least = body.get("max_length", 0), body.get("min_length", 0)
    if not isinstance(most, int | float) or not isinstance(least, int | float):
        return True
    return terms_can_be(body) and layer_can_be(body) and one_line(body.get("text")) and not 0 < most < least


def go_together(body):
    """Members of /v1/translate that hang on one another."""
    if not beginnings_can_be(body) or not terms_can_be(body) or not layer_can_be(body):
        return False
    defaults = {"beam_size": 4, "n_best": 1, "max_length": 0, "min_length": 0, "beam_groups": 1, "no_repeat_ngram": 0, "mbr_samples": 16} | DRAWING | SEARCHING
    number = {name: body.get(name, default) for name, default in defaults.items()}
    if not all(isinstance(value, int | float) for value in number.values()):
        return True  # refused for its type
    by_utility = body.get("mbr", "none") != "none"
    if body.get("sample") is True or by_utility:
        if (body.get("sample") is True and by_utility) or number["beam_groups"] > 1 or number["no_repeat_ngram"] > 0:
            return False
        if any(number[name] != 0 for name in SEARCHING):
            return False
        if by_utility and number["n_best"] > number["mbr_samples"]:
            return False
    elif number["n_best"] > number["beam_size"] or any(number[name] != value for name, value in DRAWING.items()):
        return False
    if number["beam_groups"] < 1 or number["beam_size"] % number["beam_groups"] != 0 or 0 < number["max_length"] < number["min_length"]:
        return False
    if body.get("attention") is not True:
        return True
    one_sentence = isinstance(body.get("text"), str) and len(body["text"]) < 9
    return one_sentence and number["n_best"] <= 4 and max(number["max_length"], number["min_length"]) <= MOST_WITH_ATTENTION


def ids_can_be(prompt):
    """Token ids are below the size of the vocabulary."""
    lists = prompt if isinstance(prompt, list) and prompt and isinstance(prompt[0], list) else [prompt]
    ids = [item for ids in lists if isinstance(ids, list) for item in ids if isinstance(item, int | float)]
    return all(item < 50 for item in ids)


def completion_can_be(body):
    """Members of /v1/completions that hang on one another."""
    defaults = {"max_tokens": 256, "min_tokens": 0, "n": 1, "temperature": 1, "logprobs": -1}
    number = {name: body.get(name, default) for name, default in defaults.items()}
    if not all(isinstance(value, int | float) for value in number.values()):
        return True  # refused for its type
    stream, stop = body.get("stream", False), body.get("stop")
    return (
        number["min_tokens"] <= number["max_tokens"]
        and (number["max_tokens"] > 0 or body.get("echo") is True)
        and (number["n"] == 1 or number["temperature"] > 0)
        and not 0 < number["temperature"] < 0.01
        and not (stream and (number["logprobs"] > 0 or (number["logprobs"] == 0 and body.get("echo"))))
        and (number["logprobs"] < 0 or number["n"] * number["max_tokens"] < 1000)
        and ids_can_be(body.get("prompt"))
        and (stream or not body.get("stream_options"))
        and "" not in ([stop] if isinstance(stop, str) else stop or []))


def of_text(body):
    """The models that are served read text: they refuse pictures and items, and what is told of these alone. pictures_test.py and items_test.py have others."""
    return not {"picture", "item"} & set(body) and not any(body.get(asked, False) is True for asked in ("attention", "contributions", "graph"))


@schemathesis.hook
def filter_case(context, case):
    if not isinstance(case.body, dict):
        return True
    if case.media_type != "application/json":  # how an object goes into a form is nowhere said, and a list is a member sent twice
        return not any(isinstance(value, dict) or (isinstance(value, list) and name != "q") for name, value in case.body.items())
    if context.operation.path == "/v1/completions":
        return completion_can_be(case.body)
    if context.operation.path in ENCODERS:
        return of_text(case.body)
    if context.operation.path == "/v1/alternatives":
        return alternatives_can_be(case.body)
    return context.operation.path != "/v1/translate" or go_together(case.body)


@schemathesis.hook
def map_case(context, case):
    """Random text may be in a language that no model reads; `source: auto` has tests of its own. Several models embed: one is named."""
    if context.operation.path in ENCODERS:
        if context.operation.path == "/v1/embeddings" and isinstance(case.body, dict) and case.body.get("model", "") == "":
            case.body["model"] = "tagger"
        return case
    if context.operation.path == "/v1/audio/transcriptions":
        return case
    unsaid = ("auto", "", None) if context.operation.path == "/translate" else ("auto", "")
    if isinstance(case.body, dict) and context.operation.path not in ("/detect", "/v1/completions") and case.body.get("source", "auto") in unsaid:
        case.body["source"] = "ka"
    return case
