// `attend tag`: labels for the words of texts.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "attend/error.h"
#include "attend/tagger.h"
#include "base/counted.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/text_commands.h"
#include "cli/unknown_lines.h"
#include "tasks/loaded_model.h"
#include "tasks/tagging/tagged_json.h"
#include "text/column_reader.h"
#include "text/entity_labels.h"

namespace attend {
namespace {

struct TagOptions {
  std::string model, adapter;
  bool columns = false, words = false;
  LabelScheme scheme = LabelScheme::kNone;  // none: the model's
  int64_t word_column = 1;
  WeightType type = WeightType::kStored;
};

FieldList Fields(TagOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Add("columns", &options.columns,
           "the input is columns (a word a line, empty lines between sentences); each line gets "
           "its label as one more column")
      .Add("word_column", &options.word_column, 1, 1000, "column of the words, from 1")
      .Add("scheme", &options.scheme, {"iob1", "iob2", "iobes", "model"},
           "how the labels of columns spell entities; model: as the model's own do")
      .Add("words", &options.words, "tell the label of each word, too");
  return fields;
}

// Lines of a word and its label are taken for texts unless --columns is given.
void WarnOfColumns(const Tagger& tagger, std::span<const std::string> lines, const Log& log) {
  int64_t texts = 0, labelled = 0;
  for (const std::string& line : lines) {
    const std::vector<std::string> columns = ColumnsOf(line);
    if (columns.empty() || line.empty()) continue;
    ++texts;
    const bool known = std::ranges::find(tagger.labels(), columns.back()) != tagger.labels().end();
    labelled += columns.size() > 1 && known ? 1 : 0;
  }
  if (texts > 1 && labelled == texts) {
    log(LogLevel::kWarning,
        "each line ends with a label, and is tagged as a text; --columns reads a word a line");
  }
}

void TagLines(const TagOptions& options, const Tagger& tagger, const LineWindows& lines,
              const Log& log) {
  const bool words = options.words || !LabelsEntities(tagger);
  if (lines.number() == 1) WarnOfColumns(tagger, lines.lines(), log);
  const std::vector<TaggedText> tagged = tagger.Tag(lines.lines());
  for (size_t i = 0; i < tagged.size(); ++i) {
    std::cout << Printable(Dump(TaggedToJson(lines.lines()[i], tagged[i], words))) << '\n';
  }
}

void PrintBlanks(const ColumnSentence& sentence) {
  for (const std::string& line : sentence.blanks) std::cout << line << '\n';
}

std::vector<std::string> LabelsOf(const TaggedText& tagged, LabelScheme scheme) {
  std::vector<std::string> labels;
  for (const auto& word : tagged.words) labels.push_back(word.label);
  if (scheme == LabelScheme::kNone) return labels;
  return attend::LabelsOf(EntitiesOf(labels), std::ssize(labels), scheme);
}

// The lines of sentences as they stand, each with its label.
void PrintColumns(const std::vector<ColumnSentence>& sentences,
                  const std::vector<TaggedText>& tagged, LabelScheme scheme) {
  auto next = tagged.begin();
  for (const ColumnSentence& sentence : sentences) {
    PrintBlanks(sentence);
    const bool document = sentence.begins_document();
    const std::vector<std::string> labels =
        document ? std::vector<std::string>{"O"} : LabelsOf(*next, scheme);
    for (size_t word = 0; word < sentence.lines.size(); ++word) {
      const std::string& line = sentence.lines[word];
      std::cout << line << (line.find('\t') != line.npos ? '\t' : ' ') << labels[word] << '\n';
    }
    if (!document) ++next;
  }
  FlushOutput();
}

void TagColumns(const TagOptions& options, const Tagger& tagger, const std::string& path,
                size_t at_once, UnknownLines* unknown, const Log& log) {
  ColumnReader reader(path);
  std::vector<ColumnSentence> sentences;
  std::vector<std::vector<std::string>> words;
  const auto run = [&] {
    PrintColumns(sentences, tagger.TagWords(words), options.scheme);
    sentences.clear();
    words.clear();
  };
  ColumnSentence sentence;
  // What was read before a wrong line has its labels.
  try {
    while (reader.Next(&sentence)) {
      if (options.word_column > reader.columns()) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("attend tag: word_column is {}, but {} has {}", options.word_column,
                                path, Counted(reader.columns(), "column")));
      }
      if (!sentence.begins_document()) {
        words.push_back(sentence.Column(options.word_column - 1));
        for (size_t word = 0; word < words.back().size(); ++word)
          unknown->Add({&words.back()[word], 1}, sentence.first_line + static_cast<int64_t>(word),
                       path == "-" ? "" : path);
      }
      sentences.push_back(sentence);
      // Who asks through a pipe may wait for the answer before it goes on.
      if (sentences.size() == at_once || !reader.Ready()) run();
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInput) run();
    throw;
  }
  run();
  PrintBlanks(sentence);
  FlushOutput();
  if (reader.malformed() > 0) {
    log(LogLevel::kWarning, fmt::format("{} lines of '{}' are not UTF-8; what was malformed became "
                                        "U+FFFD",
                                        reader.malformed(), path));
  }
}

// Options that say nothing where columns are read, or are not.
void CheckTagOptions(const CommandLine& command_line, const TagOptions& options) {
  using Names = std::vector<std::string>;
  for (const std::string& name :
       options.columns ? Names{"words", "json"} : Names{"word_column", "scheme"}) {
    if (!command_line.IsSet(name)) continue;
    throw Error(ErrorKind::kUsage, fmt::format("attend tag: {} is {} --columns; leave it out", name,
                                               options.columns ? "not for" : "for"));
  }
}

}  // namespace

int RunTag(const std::vector<std::string>& arguments) {
  CommonOptions common;
  TagOptions options;
  std::vector<std::string> files;
  CommandLine command_line("tag", "label the words of texts with a model of tagging",
                           "attend tag --model MODEL notes.txt\n"
                           "echo \"Silk sarees of Kanchipuram\" | attend tag --model MODEL\n"
                           "attend tag --model MODEL --columns eng.testb\n"
                           "attend tag --model MODEL --columns eng.testb --scheme iob2");
  command_line
      .Positional("FILE", &files,
                  "text, a line an item, or with --columns columns; none: standard input",
                  /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  CheckTagOptions(command_line, options);
  const auto loaded = Load(
      options.model, {.type = options.type, .instruction_set = {}, .adapter = options.adapter});
  const Tagger tagger(loaded, common.ThreadCount());
  if (options.scheme != LabelScheme::kNone && !LabelsEntities(tagger)) {
    throw Error(ErrorKind::kUsage,
                "attend tag: --scheme is for labels of entities, which this model's are not");
  }
  if (options.columns) {
    const bool terminal = isatty(STDOUT_FILENO) == 1;
    UnknownLines unknown(loaded->source_vocabulary);
    for (const std::string& file : OrStandardInput(files)) {
      TagColumns(options, tagger, common.DataPath(file),
                 terminal ? 1 : LinesAtOnce(common.ThreadCount()), &unknown, common.MakeLog());
    }
    unknown.Report(common.MakeLog());
  } else {
    RunOnLines(files, common, loaded->source_vocabulary, [&](const LineWindows& lines) {
      TagLines(options, tagger, lines, common.MakeLog());
      return 0;  // long texts are divided, not cut
    });
  }
  return 0;
}

}  // namespace attend
