// The options of training a translation model: its text, its vocabularies, how it is judged.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_TRAIN_OPTIONS_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_TRAIN_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attend/metrics.h"
#include "base/fields.h"
#include "data/denoising.h"
#include "data/line_corpus.h"
#include "tasks/translation/sentence_splitting.h"
#include "text/span_masker.h"
#include "text/vocabulary_trainer.h"
#include "train/task_options.h"
#include "train/train_options.h"

namespace attend {

enum class TrainingObjective { kTranslation, kDenoising };

// Text files and how they are cut into ids. A list of files is one corpus.
struct CorpusOptions {
  CorpusOptions() { vocabulary.size = 0; }  // none is made unless a size is given

  TrainingObjective objective = TrainingObjective::kTranslation;
  std::vector<std::string> train_source, train_target;
  std::vector<std::string> train_text;        // plain, of denoising; beside pairs or alone
  std::vector<std::string> train_prefixes;    // of train_source's files, or none
  std::vector<std::string> train_alignments;  // which words translate which; may be empty
  std::vector<double> train_weights;          // of train_source's files, then of train_text's
  double mixing_temperature = 0;  // train_weights by the files' sizes; 0: as they are given
  int64_t mixing_limit = 0;
  bool stream = false;
  int64_t shuffle_buffer = 100000;
  double bpe_dropout = 0;
  double sampling_alpha = 0;
  double case_noise = 0.05;  // of vocabularies that mark case
  std::vector<std::string> valid_source, valid_target, valid_prefixes;
  std::vector<std::string> valid_text;
  std::vector<std::string> test_source, test_target, test_prefixes;
  DenoisingOptions denoising;
  ProtectionOptions protection;
  double protect_examples = 0.1;
  CorpusFilters filters;
  std::string vocab, source_vocab, target_vocab;
  bool joint_vocab = true;
  bool right_to_left = false;    // targets are learned and written from their end
  VocabularyOptions vocabulary;  // of the one that is made; `case` also decides how outputs are
                                 // scored

  // The training text is read as training goes, asked for or because something else needs it.
  bool Streams() const {
    return stream || !train_weights.empty() || mixing_temperature > 0 || bpe_dropout > 0 ||
           sampling_alpha > 0;
  }
};

struct TranslationTrainOptions : TaskOptions {
  std::unique_ptr<TaskOptions> Clone() const override;
  // Where a vocabulary is given, how one is made is not recorded: it would say nothing true.
  FieldList FieldsFor(const TrainOptions& options) override;
  void Check(const TrainOptions& options) const override;
  bool validates() const override {
    return !corpus.valid_source.empty() || !corpus.valid_text.empty();
  }

  CorpusOptions corpus;
  double guided_alignment_weight = 0;
  int64_t guided_alignment_layer = 0;
  std::string teacher;  // a model directory; empty: none
  double distillation_weight = 0.5, distillation_temperature = 1;
  bool quantization_aware = false;
  bool validate_translations = true;
  int64_t beam_size = 4;
  double length_penalty = 0.6;
  SentenceSplitting split_sentences = SentenceSplitting::kAuto;
  BleuOptions bleu;  // its tokenizer; the rest follows from the text
};

// Precondition: the task of `options` is translation.
TranslationTrainOptions& TranslationOf(TrainOptions& options);
const TranslationTrainOptions& TranslationOf(const TrainOptions& options);

// Throws Error(kConfiguration) for what does not go with right_to_left, which may be known only
// when the model to fine-tune is.
void CheckOrder(const TranslationTrainOptions& own);

// The vocabulary is made from the training text, not given by a file or by the model to fine-tune.
bool MakesVocabulary(const TrainOptions& options);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_TRAIN_OPTIONS_H_
