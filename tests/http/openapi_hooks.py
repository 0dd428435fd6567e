"""What the description says in words, because JSON Schema has no words for it: members of a request that must go together."""

import schemathesis

MOST_WITH_ATTENTION = 178


def go_together(body):
    if not isinstance(body, dict):
        return True
    number = {name: body.get(name, default) for name, default in (("beam_size", 4), ("n_best", 1), ("max_length", 0), ("min_length", 0))}
    if not all(isinstance(value, int | float) for value in number.values()):
        return True  # refused for its type
    if number["n_best"] > number["beam_size"] or 0 < number["max_length"] < number["min_length"]:
        return False
    if body.get("attention") is not True:
        return True
    one_sentence = isinstance(body.get("text"), str) and len(body["text"]) < 9
    return one_sentence and number["n_best"] <= 4 and max(number["max_length"], number["min_length"]) <= MOST_WITH_ATTENTION


@schemathesis.hook
def filter_case(context, case):
    return context.operation.path != "/v1/translate" or go_together(case.body)
