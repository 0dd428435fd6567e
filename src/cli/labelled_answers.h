// Answers beside what is right, where a command's input says that.
#ifndef ATTEND_CLI_LABELLED_ANSWERS_H_
#define ATTEND_CLI_LABELLED_ANSWERS_H_

#include <string>
#include <utility>
#include <vector>

#include "base/log.h"

namespace attend {

struct LabelledAnswers {
  std::vector<std::string> found, expected;

  void Add(std::string said, std::string right) {
    found.push_back(std::move(said));
    expected.push_back(std::move(right));
  }
};

// Logs how many classes are right; nothing where there are none. `one`: what has a class.
void TellRight(const LabelledAnswers& classes, const std::string& one, const Log& log);

// The same of texts: word and character error rate, and how many are the same.
void TellErrorRates(const LabelledAnswers& texts, const std::string& one, const Log& log);

}  // namespace attend

#endif  // ATTEND_CLI_LABELLED_ANSWERS_H_
