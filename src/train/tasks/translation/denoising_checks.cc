#include "train/tasks/translation/denoising_checks.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

void RefuseIf(bool wrong, const std::string& message) {
  if (wrong) throw Error(ErrorKind::kConfiguration, message);
}

}  // namespace

void CheckObjective(const TranslationTrainOptions& own) {
  const CorpusOptions& corpus = own.corpus;
  if (corpus.objective == TrainingObjective::kTranslation) {
    for (const auto& [name, files] :
         {std::pair{"train_text", &corpus.train_text}, {"valid_text", &corpus.valid_text}}) {
      RefuseIf(!files->empty(),
               fmt::format("{} is given, but objective is translation; set objective to denoising, "
                           "or task to language_model or masked_language_model, which read text",
                           name));
    }
    RefuseIf(corpus.train_source.empty() || corpus.train_target.empty(),
             "train_source and train_target are needed, or objective = denoising with train_text");
    return;
  }
  RefuseIf(corpus.train_text.empty(),
           "objective = denoising needs train_text, the plain text to learn from");
  RefuseIf(!corpus.source_vocab.empty() || !corpus.joint_vocab,
           "objective = denoising needs one vocabulary for both sides; leave source_vocab, "
           "target_vocab and joint_vocab out");
  RefuseIf(own.guided_alignment_weight > 0,
           "guided_alignment_weight and objective = denoising exclude each other: plain text has "
           "no alignments");
  RefuseIf(corpus.denoising.permute_sentences && corpus.denoising.kind != NoiseKind::kInfilling,
           "permute_sentences needs denoising = infilling, whose output is the whole text");
}

void CheckPrefixes(const CorpusOptions& corpus) {
  const auto check = [](const char* part, size_t prefixes, size_t files) {
    RefuseIf(prefixes != 0 && prefixes != files,
             fmt::format("{0}_prefixes holds {1} texts for {2} files of {0}_source, expected one "
                         "for each; an empty one is none",
                         part, prefixes, files));
  };
  check("train", corpus.train_prefixes.size(), corpus.train_source.size());
  check("valid", corpus.valid_prefixes.size(), corpus.valid_source.size());
  check("test", corpus.test_prefixes.size(), corpus.test_source.size());
  RefuseIf(!corpus.train_prefixes.empty() && !corpus.train_alignments.empty(),
           "train_prefixes and train_alignments exclude each other: a prefix changes the words "
           "that train_alignments counts");
}

void CheckMixing(const CorpusOptions& corpus) {
  const size_t files = corpus.train_source.size() + corpus.train_text.size();
  CheckWeights(corpus.train_weights,
               corpus.train_text.empty() ? "train_source" : "train_source and train_text", files);
  RefuseIf(corpus.mixing_temperature > 0 && files < 2,
           "mixing_temperature mixes the files of training, and there is one; leave it out");
  RefuseIf(corpus.mixing_temperature > 0 && !corpus.train_weights.empty(),
           "mixing_temperature computes what train_weights gives; leave one out");
  RefuseIf(corpus.mixing_temperature == 0 && corpus.mixing_limit > 0,
           "mixing_limit is given without mixing_temperature; give both (a temperature of 1 mixes "
           "in proportion)");
}

}  // namespace attend
