#include "serve/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "model/model_directory.h"
#include "search/search.h"
#include "tasks/translation/translation_search.h"

namespace attend {
namespace {

std::string NameOf(const ModelConfig& config, const std::string& directory) {
  if (config.languages.size() == 2) {
    return fmt::format("{}-{}", config.languages[0], config.languages[1]);
  }
  const std::filesystem::path path = std::filesystem::path(directory).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

// With the shortlist of the model of this name.
TranslatorOptions OptionsOf(const ServeOptions& options, const std::string& name) {
  TranslatorOptions translator = options.translator;
  for (const std::string& given : options.shortlist) {
    const auto [model, file] = NameAndPath(given);
    if (model.empty() || model == name) translator.shortlist = file;
  }
  return translator;
}

SearchRoom RoomOf(const TranslationOptions& options) {
  return {options.batch_sentences, options.batch_tokens};
}

}  // namespace

ServedModel::ServedModel(std::string name, const std::string& directory,
                         const ServeOptions& options, WorkPool* pool)
    : ServedModel(std::move(name), directory, LoadModel(directory), options, pool) {}

ServedModel::ServedModel(std::string name, const std::string& directory,
                         const std::shared_ptr<const Model>& model, const ServeOptions& options,
                         WorkPool* pool)
    : config_(model->config),
      training_text_(model->training_text),
      name_(name.empty() ? NameOf(config_, directory) : std::move(name)),
      translator_(LoadWith(model, options.translator), OptionsOf(options, name_), pool),
      queue_(options.queue_sentences, RoomOf(options.translation), pool) {
  if (config_.languages.size() == 2) {
    source_ = config_.languages[0];
    target_ = config_.languages[1];
  }
  translator_.source();  // throws where there is none
  const TranslationOptions& room = options.translation;
  const int64_t by_tokens = std::max<int64_t>(1, room.batch_tokens / kLeastSourceTokens);
  places_ = pool->size() * std::min(room.batch_sentences, by_tokens);
  translator_.Start(&queue_);
}

ServedModel::~ServedModel() { Stop(); }

void ServedModel::Stop() {
  queue_.Close();
  translator_.Stop();
}

}  // namespace attend
