// Minimum Bayes risk decoding (Eikema and Aziz 2020): of outputs that a model draws, those that are
// most like all others.
#ifndef ATTEND_TASKS_TRANSLATION_BAYES_RISK_H_
#define ATTEND_TASKS_TRANSLATION_BAYES_RISK_H_

#include <cstdint>
#include <vector>

#include "attend/translator.h"

namespace attend {

// Leaves the n best of the drawn outputs, with different texts, and gives each as its score its
// mean utility over all that were drawn, 0 to 100. Equal utilities keep the order in which they
// were drawn. Precondition: utility is not kNone, and the outputs have their texts.
void ChooseByUtility(MbrUtility utility, int64_t n_best, std::vector<Hypothesis>* drawn);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_BAYES_RISK_H_
