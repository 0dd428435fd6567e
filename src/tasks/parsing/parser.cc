#include <fmt/format.h>

#include <utility>

#include "attend/tagger.h"
#include "base/per_process.h"
#include "model/model_directory.h"
#include "tasks/parsing/parse_search.h"
#include "tasks/parsing/parsing_options.h"
#include "tasks/running_search.h"
#include "text/text_words.h"
#include "text/utf8.h"

namespace attend {

struct Parser::Impl {
  Impl(std::shared_ptr<const LoadedModel> made, int threads)
      : loaded(std::move(made)), grammar(GrammarOf(*loaded)), running([this, threads] {
          return std::make_unique<RunningSearch>(MakeParseSearchModel(loaded->weights), threads);
        }) {
    loaded->source();  // throws where there is none
  }

  std::vector<ParsedText> Parse(std::vector<std::vector<std::string>> sentences,
                                const ParsingOptions& options) const;

  const std::shared_ptr<const LoadedModel> loaded;
  const std::shared_ptr<const TreeGrammar> grammar;
  PerProcess<RunningSearch> running;
};

std::vector<ParsedText> Parser::Impl::Parse(std::vector<std::vector<std::string>> sentences,
                                            const ParsingOptions& options) const {
  CheckParsingOptions(options);
  std::vector<ParsedText> parsed(sentences.size());
  std::vector<SearchInput> inputs;
  std::vector<size_t> searched;  // those with words
  for (size_t i = 0; i < sentences.size(); ++i) {
    if (sentences[i].empty()) continue;
    inputs.push_back(
        MakeParseInput(*loaded, sentences[i], grammar, options, fmt::format("sentence {}", i + 1)));
    searched.push_back(i);
  }
  const CallOptions call{.room = {1024, 2048}, .stop = options.stop};
  const auto found = running.Get().calls.Run(std::move(inputs), call);
  for (size_t k = 0; k < searched.size(); ++k) {
    parsed[searched[k]] =
        MakeParsedText(std::move(sentences[searched[k]]), found[k], grammar->symbols());
  }
  return parsed;
}

std::unique_ptr<Parser> Parser::Load(const std::string& directory, const ParserOptions& options) {
  return std::make_unique<Parser>(LoadModel(directory), options);
}

Parser::Parser(std::shared_ptr<const Model> model, const ParserOptions& options)
    : Parser(LoadWith(std::move(model), options), options.threads) {}

Parser::Parser(std::shared_ptr<const LoadedModel> loaded, int threads)
    : impl_(std::make_unique<Impl>(std::move(loaded), threads)) {}

Parser::~Parser() = default;

std::vector<ParsedText> Parser::Parse(std::span<const std::string> texts,
                                      const ParsingOptions& options) const {
  std::vector<std::vector<std::string>> sentences;
  for (const std::string& text : texts) {
    const std::string read = RepairUtf8(text);
    std::vector<std::string> words;
    for (const auto& [begin, end] : WordsOfText(read))
      words.push_back(read.substr(begin, end - begin));
    sentences.push_back(TreebankWords(words));
  }
  return impl_->Parse(std::move(sentences), options);
}

std::vector<ParsedText> Parser::ParseWords(std::span<const std::vector<std::string>> sentences,
                                           const ParsingOptions& options) const {
  std::vector<std::vector<std::string>> read;
  for (const std::vector<std::string>& words : sentences) read.push_back(TreebankWords(words));
  return impl_->Parse(std::move(read), options);
}

const std::vector<std::string>& Parser::constituents() const {
  return impl_->loaded->config().constituents;
}

const std::vector<std::string>& Parser::tags() const { return impl_->loaded->config().tags; }

std::string Parser::instruction_set() const { return impl_->loaded->weights.kernels.name; }

}  // namespace attend
