#include "serve/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/search/beam_search.h"
#include "model/model_directory.h"

namespace attend {
namespace {

std::string NameOf(const ModelConfig& config, const std::string& directory) {
  if (config.languages.size() == 2) {
    return fmt::format("{}-{}", config.languages[0], config.languages[1]);
  }
  const std::filesystem::path path = std::filesystem::path(directory).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

TranslatorOptions WithThreads(TranslatorOptions options, int threads) {
  options.threads = threads;
  return options;
}

BatchRoom RoomOf(const ServeOptions& options) {
  return {.max_beam_size = options.max_beam_size,
          .sentences = options.translation.batch_sentences,
          .tokens = options.translation.batch_tokens};
}

}  // namespace

ServedModel::ServedModel(std::string name, const std::string& directory,
                         const ServeOptions& options, int threads)
    : ServedModel(std::move(name), directory, LoadModel(directory), options, threads) {}

ServedModel::ServedModel(std::string name, const std::string& directory,
                         const std::shared_ptr<const Model>& model, const ServeOptions& options,
                         int threads)
    : config_(model->config),
      name_(name.empty() ? NameOf(config_, directory) : std::move(name)),
      translator_(model, WithThreads(options.translator, threads), RoomOf(options)),
      queue_(options.queue_sentences, translator_.threads()) {
  if (config_.languages.size() == 2) {
    source_ = config_.languages[0];
    target_ = config_.languages[1];
  }
  translator_.source();  // throws where there is none
  const TranslationOptions& room = options.translation;
  const int64_t by_tokens = std::max<int64_t>(1, room.batch_tokens / kLeastSourceTokens);
  places_ = translator_.threads() * std::min(room.batch_sentences, by_tokens);
  running_ = std::thread([this] { translator_.Run(&queue_); });
}

ServedModel::~ServedModel() { Stop(); }

void ServedModel::Stop() {
  queue_.Close();
  if (running_.joinable()) running_.join();
}

}  // namespace attend
