#include "tasks/parsing/parsing_options.h"

#include "tasks/checks.h"

namespace attend {

FieldList Fields(ParsingOptions& options) {
  FieldList fields;
  fields
      .Add("beam_size", &options.beam_size, 1, kMostParsingBeams,
           "trees kept at each step; 1: greedy search")
      .Add("length_penalty", &options.length_penalty, 0, 10,
           "alpha of ((5 + length) / 6)^alpha; scores are divided by it")
      .Add(
          "max_length", &options.max_length, 0, 100000,
          "maximum number of symbols of a tree, eos included, or what its words need where that is "
          "more; 0: input tokens plus 300");
  return fields;
}

void CheckParsingOptions(const ParsingOptions& options) {
  ParsingOptions copy = options;
  CheckRanges(Fields(copy));
}

}  // namespace attend
