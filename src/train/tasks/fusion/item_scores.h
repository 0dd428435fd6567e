// How an exported model of fusion is judged: with all inputs of items, and with some of them.
#ifndef ATTEND_TRAIN_TASKS_FUSION_ITEM_SCORES_H_
#define ATTEND_TRAIN_TASKS_FUSION_ITEM_SCORES_H_

#include "data/item_corpus.h"
#include "train/loop/task.h"

namespace attend {

// Accuracy, macro F1 and the confusion matrix of all items as they are; for each set of inputs
// accuracy and macro F1 of the items that have them, read without the others. Keeps a line for each
// item: its label, the model's, and its id. Of a model with vectors of texts and pictures also how
// often each finds the other, among the items that have both: recall at 1 and at 10.
Json TestItems(const TestSetting& setting, const ItemCorpus& items, int threads);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_FUSION_ITEM_SCORES_H_
