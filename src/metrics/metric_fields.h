// The options of the metrics, declared once for every reader.
#ifndef ATTEND_METRICS_METRIC_FIELDS_H_
#define ATTEND_METRICS_METRIC_FIELDS_H_

#include "attend/metrics.h"
#include "base/fields.h"
#include "metrics/alignment_error_rate.h"

namespace attend {

inline FieldList Fields(BleuOptions& options) {
  FieldList fields;
  fields
      .Add("tokenize", &options.tokenize,
           {"auto", "13a", "intl", "char", "zh", "none", "flores101", "flores200", "spBLEU-1K",
            "spm"},
           "BLEU's tokenizer; auto: zh for Chinese, char for Japanese, Korean, Thai, Lao, Khmer, "
           "Burmese and Tibetan, else 13a; flores101, flores200, spBLEU-1K and spm need "
           "tokenize_model")
      .Add("tokenize_model", &options.tokenize_model,
           "SentencePiece model of BLEU's tokenizer (relative to the working directory)")
      .Add("language", &options.language,
           "language of the references, for tokenize auto: zh, zh-CN or zho_Hans")
      .Add("lowercase", &options.lowercase,
           "BLEU and chrF without case; TER always is, see "
           "ter.case_sensitive")
      .Add("smooth_method", &options.smooth_method, {"exp", "floor", "add-k", "none"},
           "what BLEU does about orders without a match")
      .Add("smooth_value", &options.smooth_value, -1, 1e6,
           "for floor and add-k; -1: the method's own, 0.1 and 1")
      .Add("effective_order", &options.effective_order,
           "BLEU leaves out orders the hypothesis is too short for; sentence_level always does");
  return fields;
}

inline FieldList Fields(ChrfOptions& options) {
  FieldList fields;
  fields.Add("char_order", &options.char_order, 1, 100, "longest character n-grams of chrF")
      .Add("word_order", &options.word_order, 0, 100,
           "longest word n-grams of chrF; chrf++ is chrf with 2")
      .Add("beta", &options.beta, 0, 1000, "weight of recall against precision in chrF")
      .Add("whitespace", &options.whitespace, "white space counts as characters in chrF")
      .Add("eps_smoothing", &options.eps_smoothing,
           "every order counts in chrF, as in chrF++.py, NLTK and Moses");
  return fields;
}

inline FieldList Fields(TerOptions& options) {
  FieldList fields;
  fields
      .Add("normalized", &options.normalized, "TER splits off punctuation and resolves XML escapes")
      .Add("no_punct", &options.no_punct, "TER leaves out punctuation")
      .Add("asian_support", &options.asian_support,
           "TER treats CJK text too, with ter.normalized or ter.no_punct")
      .Add("case_sensitive", &options.case_sensitive, "TER minds case");
  return fields;
}

inline FieldList Fields(AerOptions& options) {
  FieldList fields;
  fields.Add("swap_reference", &options.swap_reference,
             "AER turns the reference's links round: they are target-source");
  return fields;
}

}  // namespace attend

#endif  // ATTEND_METRICS_METRIC_FIELDS_H_
