#include "serve/served_model.h"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>

namespace attend {
namespace {

std::string NameOf(const ModelConfig& config, const std::string& directory) {
  if (config.languages.size() == 2) {
    return fmt::format("{}-{}", config.languages[0], config.languages[1]);
  }
  const std::filesystem::path path = std::filesystem::path(directory).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

}  // namespace

ServedModel::ServedModel(const ModelToServe& model)
    : config_(model.model->config),
      name_(model.name.empty() ? NameOf(config_, model.directory) : model.name),
      loaded_at_(std::time(nullptr)) {
  if (config_.languages.size() != 2) return;
  source_ = config_.languages[0];
  target_ = config_.languages[1];
}

}  // namespace attend
