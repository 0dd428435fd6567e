#include "base/failure.h"

#include <filesystem>
#include <new>
#include <string_view>

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {
namespace {

// LibTorch has exceptions of its own for the memory of the machine and of a GPU.
bool IsOutOfMemory(const std::exception& failure) {
  const std::string_view message = failure.what();
  return dynamic_cast<const std::bad_alloc*>(&failure) != nullptr ||
         message.find("can't allocate memory") != std::string_view::npos ||
         message.find("out of memory") != std::string_view::npos;
}

}  // namespace

std::string MessageOf(const std::exception& failure) {
  const std::string_view message = failure.what();
  if (dynamic_cast<const Error*>(&failure) != nullptr ||
      dynamic_cast<const std::filesystem::filesystem_error*>(&failure) != nullptr)
    return Printable(message);
  if (IsOutOfMemory(failure))
    return "out of memory; a smaller model, smaller batches, less text at once or fewer threads "
           "take less";
  return "internal error: " + Printable(message.substr(0, message.find('\n')));  // no trace
}

}  // namespace attend
