#include "tasks/language_model/generation_options.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "search/sampling.h"
#include "tasks/checks.h"
#include "tasks/loaded_model.h"

namespace attend {

FieldList Fields(GeneratorOptions& options) { return TypeField(&options.type); }

FieldList Fields(GenerationOptions& options) {
  FieldList fields;
  fields.Add("n", &options.n, 1, kMostOutputs, "outputs for each prompt")
      .Add("max_tokens", &options.max_tokens, 1, 1e6,
           "maximum number of tokens of an output; learned positions may end it before")
      .Add("min_tokens", &options.min_tokens, 0, 1e6,
           "minimum number of tokens before the model may end the text")
      .Add("stop", &options.stop, "texts before the first of which an output ends")
      .Add("temperature", &options.temperature, 0, 100,
           fmt::format("what logits are divided by before a token is drawn, at least {}; 0: always "
                       "the likeliest token",
                       kLeastTemperature))
      .Add("top_k", &options.top_k, 0, 1000, "draw from so many likeliest tokens; 0: from all")
      .Add("top_p", &options.top_p, 0, 1,
           "draw from the fewest likeliest tokens that have at least this probability together")
      .Add("min_p", &options.min_p, 0, 1,
           "draw from tokens with at least this share of the likeliest one's probability")
      .Add("repetition_penalty", &options.repetition_penalty, 0.01, 100,
           "what positive logits of tokens that prompt or output have are divided by, and negative "
           "ones multiplied by; 1: none")
      .Add("seed", &options.seed, 0, 9e15, "what all that is drawn follows from, with the prompt")
      .Add("beam_size", &options.beam_size, 1, kMostOutputs,
           "above 1: beam search for the likeliest outputs, without drawing")
      .Add("length_penalty", &options.length_penalty, 0, 10,
           "alpha of ((5 + length) / 6)^alpha, which a beam's log-probabilities are divided by")
      .Add("allow_unknown", &options.allow_unknown, "allow the unknown token in the output")
      .Add("batch_sentences", &options.batch_sentences, 1, 1e6,
           "maximum number of prompts that run together on a thread")
      .Add("batch_tokens", &options.batch_tokens, 1, 1e15,
           "prompt and output tokens that run together on a thread, max_tokens for each output");
  return fields;
}

FieldList Fields(TextScoreOptions& options) {
  FieldList fields;
  fields
      .Add("window", &options.window, 0, 1e9,
           "tokens that the model sees at once, bos included; a longer text is read in windows; 0: "
           "the whole text, or what learned positions reach")
      .Add("stride", &options.stride, 0, 1e9, "tokens by which a window moves on; 0: half a window")
      .Add("end", &options.end, "score the end of a text as a token of it")
      .Add("batch_tokens", &options.batch_tokens, 1, 1e15, "tokens that run together on a thread");
  return fields;
}

const char* NameOf(Ending ending) {
  return ending == Ending::kText ? "text" : ending == Ending::kStop ? "stop" : "length";
}

void CheckGenerationOptions(const GenerationOptions& options, bool has_beams) {
  GenerationOptions copy = options;
  CheckRanges(Fields(copy));
  const auto refuse = [](const std::string& message) { throw Error(ErrorKind::kUsage, message); };
  for (const std::string& stop : options.stop) {
    if (stop.empty()) refuse("a stop text is empty, expected at least one character");
  }
  if (options.temperature > 0 && options.temperature < kLeastTemperature) {
    refuse(fmt::format("temperature is {}, expected 0 (always the likeliest token) or at least {}",
                       options.temperature, kLeastTemperature));
  }
  if (options.min_tokens > options.max_tokens) {
    refuse(fmt::format("min_tokens is {}, above the max_tokens of {}; raise max_tokens",
                       options.min_tokens, options.max_tokens));
  }
  if (options.beam_size == 1) {
    if (options.n > 1 && options.temperature == 0) {
      refuse(
          fmt::format("n is {}, but at temperature 0 all outputs are the same; raise temperature{}",
                      options.n, has_beams ? " or beam_size" : ", or set n to 1"));
    }
    return;
  }
  if (options.n > options.beam_size) {
    refuse(fmt::format("n is {}, above the beam size of {}; raise beam_size", options.n,
                       options.beam_size));
  }
  const GenerationOptions usual;
  const std::pair<const char*, bool> drawing[] = {
      {"stop", !options.stop.empty()},
      {"repetition_penalty", options.repetition_penalty != usual.repetition_penalty},
      {"temperature", options.temperature != usual.temperature && options.temperature != 0},
      {"top_k", options.top_k != usual.top_k},
      {"top_p", options.top_p != usual.top_p},
      {"min_p", options.min_p != usual.min_p}};
  for (const auto& [name, given] : drawing) {
    if (given)
      refuse(fmt::format("{} is not for beam search; leave it out or set beam_size to 1", name));
  }
}

void CheckTextScoreOptions(const TextScoreOptions& options) {
  TextScoreOptions copy = options;
  CheckRanges(Fields(copy));
  if (options.window > 0 && options.stride > options.window) {
    throw Error(ErrorKind::kUsage, fmt::format("stride is {}, above the window of {}; some tokens "
                                               "would not be scored",
                                               options.stride, options.window));
  }
}

}  // namespace attend
