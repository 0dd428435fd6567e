// How well classes are told apart, as scikit-learn counts it: accuracy, F1 of each class and their
// mean, and the confusion matrix.
#ifndef ATTEND_METRICS_CLASSES_H_
#define ATTEND_METRICS_CLASSES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attend {

struct ClassScores {
  std::vector<std::string> classes;  // all that occur, in order of their bytes
  // [expected][found]: items by class.
  std::vector<std::vector<int64_t>> confusion;

  int64_t items() const;
  double accuracy() const;  // in percent
  // Of one class, in percent; 0 where there is nothing to count.
  double precision(size_t of) const;
  double recall(size_t of) const;
  double f1(size_t of) const;
  double macro_f1() const;  // the mean over all classes
};

// Throws Error(kUsage) where the numbers of items differ or there are none.
ClassScores ScoreClasses(const std::vector<std::string>& found,
                         const std::vector<std::string>& expected);

}  // namespace attend

#endif  // ATTEND_METRICS_CLASSES_H_
