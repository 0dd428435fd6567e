#include "train/tasks/given_vocabulary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "attend/error.h"
#include "text/tokenizer.h"

namespace attend {
std::string CaseText(LetterCase letter_case) {
  VocabularyOptions options;
  options.letter_case = letter_case;
  return Fields(options).Find("case")->ValueText();
}

void CheckMakingOptions(TrainOptions options, const RunSettings& settings,
                        const std::string& giver) {
  const FieldList fields = Fields(options);
  std::vector<std::string> given;
  for (const Field& field : fields.fields()) {
    // These two are compared with what is given.
    const bool compared = field.name == "vocab_size" || field.name == "vocab_type";
    if (field.Is(kMaking) && !compared && settings.is_given(field.name))
      given.push_back(field.name);
  }
  if (given.empty()) return;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("{} {} only a vocabulary that is made from the training text, but {} "
                          "gives one; leave {} out",
                          fmt::join(given, ", "), given.size() == 1 ? "changes" : "change", giver,
                          given.size() == 1 ? "it" : "them"));
}

void CheckGivenVocabulary(const Vocabulary& vocabulary, const VocabularyOptions& said,
                          const RunSettings& settings) {
  if (said.size != 0 && said.size != vocabulary.size()) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("vocab_size is {}, but the vocabulary given has {} tokens; leave "
                            "vocab_size out, or set it to 0",
                            said.size, vocabulary.size()));
  }
  if (!settings.is_given("vocab_type") || said.type == vocabulary.type()) return;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("vocab_type is {}, but the vocabulary given is of type {}; leave "
                          "vocab_type out",
                          TypeName(said.type), TypeName(vocabulary.type())));
}

void CheckGivenCase(const Vocabulary& vocabulary, LetterCase said, const RunSettings& settings) {
  const LetterCase found = vocabulary.tokenizer().letter_case();
  if (!settings.is_given("case") || said == found) return;
  throw Error(ErrorKind::kConfiguration,
              fmt::format("case is {0}, but the vocabulary given has {1}; make one with "
                          "`attend vocab --case {0}`, or leave case out",
                          CaseText(said), CaseText(found)));
}

}  // namespace attend
