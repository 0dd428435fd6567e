// `attend vocab`: trains a vocabulary file.
#include <fmt/format.h>

#include "attend/vocabulary.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/line_windows.h"
#include "text/vocabulary_trainer.h"

namespace attend {

int RunVocab(const std::vector<std::string>& arguments) {
  CommonOptions common;
  VocabularyOptions options;
  std::vector<std::string> input;
  std::string output;
  FieldList files;
  files
      .Add("input", &input,
           "text files to learn from, plain, .gz or .zst; several for a joint vocabulary")
      .Add("output", &output, "the vocabulary file to write");
  CommandLine command_line(
      "vocab", "train a SentencePiece vocabulary",
      "attend vocab --input train.en train.de --size 8000 --type bpe --output vocab.spm\n"
      "attend vocab --input train.en.gz --size 6000 --case lower --byte-fallback --output "
      "vocab.spm");
  command_line.Options(files)
      .Options(Fields(options))
      .Options(Fields(common, {"seed", "quiet", "json", "data_dir"}))
      .Required({"input", "output"});
  if (!command_line.Parse(arguments)) return 0;
  CheckStandardInput(input);

  const Log log = common.MakeLog();
  for (std::string& path : input) path = common.DataPath(path);
  AtomicFile file(output);  // first: that it can't be written is better known before the work
  const std::string bytes =
      TrainVocabulary(input, options, static_cast<uint64_t>(common.seed), log);
  const auto vocabulary = Vocabulary::FromBytes(bytes, output);
  file.Write(bytes);
  file.Commit();
  PrintReport(common,
              {{"vocabulary", output}, {"size", vocabulary->size()}, {"sha256", Sha256(bytes)}});
  log(LogLevel::kInfo, fmt::format("wrote {} ({} pieces)", output, vocabulary->size()));
  return 0;
}

}  // namespace attend
