#include "serve/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

namespace attend {
namespace {

std::string NameOf(const ModelConfig& config, const std::string& directory, bool whole) {
  if (whole && config.languages.size() == 2) {
    return fmt::format("{}-{}", config.languages[0], config.languages[1]);
  }
  const std::filesystem::path path = std::filesystem::path(directory).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

}  // namespace

ServedModel::ServedModel(const ModelToServe& model, std::vector<std::string> routes)
    : loaded_(model.loaded),
      name_(model.name.empty() ? NameOf(config(), model.directory, model.base.empty())
                               : model.name),
      base_(model.base),
      directory_(model.directory),
      routes_(std::move(routes)),
      loaded_at_(std::time(nullptr)) {
  if (!whole()) name_ = fmt::format("{}/{}", base_, name_);
  if (config().languages.size() != 2) return;
  source_ = config().languages[0];
  target_ = config().languages[1];
}

bool ServedModel::AnswersAt(const std::string& route) const {
  return std::ranges::find(routes_, route) != routes_.end();
}

}  // namespace attend
