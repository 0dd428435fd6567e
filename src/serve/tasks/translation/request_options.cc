#include "serve/tasks/translation/request_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "tasks/translation/translation_options.h"

namespace attend {
namespace {

constexpr int64_t kMostHypothesesWithAttention = 4;
// Below, every unit that has a word of the sentence might be a match.
constexpr double kLeastThreshold = 50;
// Pairs of words that are compared for a sentence: some hundredth of a second.
constexpr int64_t kMostMemoryWork = int64_t{1} << 27;

}  // namespace

void LimitToAttention(TranslationOptions* options) {
  options->n_best = std::min(options->n_best, kMostHypothesesWithAttention);
  options->max_length = std::min(options->max_length, kMostLengthWithAttention);
  options->min_length = std::min(options->min_length, kMostLengthWithAttention);
}

RequestOptions UsualRequest(const ServeOptions& options) {
  RequestOptions usual;
  usual.translation = options.translation;
  usual.translation.mbr_samples = std::min(usual.translation.mbr_samples, options.max_beam_size);
  usual.match.most_work = kMostMemoryWork;
  usual.protect = options.translator.protect;
  return usual;
}

FieldList Fields(RequestOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "name of the model; empty: the one of these languages")
      .Add("source", &options.source, "language of the text; auto: detected; empty: the model's")
      .Add("target", &options.target, "language of the translation; empty: the model's")
      .Nest("", Fields(options.translation)
                    .Select({"beam_size",
                             "length_penalty",
                             "n_best",
                             "beam_groups",
                             "diversity",
                             "sample",
                             "mbr",
                             "mbr_samples",
                             "temperature",
                             "top_k",
                             "top_p",
                             "seed",
                             "no_repeat_ngram",
                             "repetition_penalty",
                             "coverage_penalty",
                             "beam_threshold",
                             "early_exit",
                             "max_length",
                             "min_length",
                             "allow_unknown",
                             "alignments",
                             "alignment_layer",
                             "quality"}))
      .Add("protect", &options.protect,
           "copy the spans that training protected exactly; false: translate them like other text")
      .Add("attention", &options.attention,
           fmt::format("give attention weights; of one sentence of at most {} tokens, with n_best "
                       "of at most {}, max_length and min_length of at most {}",
                       kMostPiecesWithAttention, kMostHypothesesWithAttention,
                       kMostLengthWithAttention))
      .Nest("", SplittingField(&options.split_sentences))
      .Add("memory", &options.memory,
           "name of a translation memory (/v1/memories): sentences then have `matches`; empty: "
           "none")
      .Add("memory_exact", &options.memory_exact,
           "a sentence that is a source of the memory, but for white space, gets its target as it "
           "stands, with score 0; without effect with attention")
      .Nest("", Fields(options.match, kLeastThreshold))
      .Add("stream", &options.stream, "answer with an event for each sentence as it is ready")
      .Nest("", Fields(options.queue));
  return fields;
}

void CheckLimits(RequestOptions asked, const ServeOptions& options) {
  CheckTranslationOptions(asked.translation);
  if (asked.translation.beam_size > options.max_beam_size) {
    throw Error(ErrorKind::kUsage, fmt::format("beam_size is {}, expected at most {} here",
                                               asked.translation.beam_size, options.max_beam_size));
  }
  const TranslationOptions& translation = asked.translation;
  const int64_t drawn = Draws(translation) ? translation.n_best : 0;
  for (const auto& [name, count] :
       {std::pair{"n_best", drawn}, {"mbr_samples", translation.mbr_samples}}) {
    if (count <= options.max_beam_size) continue;
    throw Error(ErrorKind::kUsage, fmt::format("{} is {}, expected at most {} here", name, count,
                                               options.max_beam_size));
  }
  if (asked.protect && !options.translator.protect) {
    throw Error(ErrorKind::kUsage, "protect is true, but this server runs with --protect=false");
  }
  if (!asked.attention) return;
  RequestOptions most = asked;
  LimitToAttention(&most.translation);
  const FieldList wanted = Fields(asked), limits = Fields(most);
  for (const char* name : {"n_best", "max_length", "min_length"}) {
    const std::string value = wanted.Find(name)->ValueText(),
                      limit = limits.Find(name)->ValueText();
    if (value == limit) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("{} is {}, expected at most {} with attention", name, value, limit));
  }
}

}  // namespace attend
