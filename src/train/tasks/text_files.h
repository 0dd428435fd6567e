// The files that a run names. No Torch here.
#ifndef ATTEND_TRAIN_TASKS_TEXT_FILES_H_
#define ATTEND_TRAIN_TASKS_TEXT_FILES_H_

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "base/json.h"
#include "data/corpus.h"
#include "text/lines.h"

namespace attend {

struct TrainOptions;

// Throws Error(kConfiguration) for standard input: text is read more than once.
void CheckNotStandardInput(const char* option, const std::vector<std::string>& files);

// Throws Error(kConfiguration) for train_weights that are neither none nor one for each of the
// files of `option`.
void CheckWeights(const std::vector<double>& weights, const char* option, size_t files);

// Throws Error(kConfiguration) for options that only a task with two texts has a use for.
void CheckOneText(const TrainOptions& options);

// Throws Error(kInput) for a file that can't be read: better known before a vocabulary is made,
// which may take long.
void CheckReadable(const std::vector<std::string>& files, FormatCheck check);

// A file's name without its folder, which no model knows of, as UTF-8.
std::string ShortName(const std::filesystem::path& file);

// The texts of a task whose examples come from one column.
struct TaskTexts {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const TextCorpus> train, valid, test;  // null: none; test on rank 0 alone
};

// Adds those of the corpus' files, if any, under "NAME_text file 1" and so on.
void AddDigests(const std::string& name, const Corpus* corpus, Json* digests);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TEXT_FILES_H_
