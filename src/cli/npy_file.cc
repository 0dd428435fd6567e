#include "cli/npy_file.h"

#include <fmt/format.h>

#include <bit>
#include <string_view>

namespace attend {

static_assert(std::endian::native == std::endian::little);

NpyFile::NpyFile(const std::string& path, int64_t width) : file_(path), width_(width) {
  WriteHeader();
}

// Its size, 128 bytes, does not depend on the number of rows.
void NpyFile::WriteHeader() {
  constexpr int kLength = 118;
  const std::string shape =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows_, width_);
  file_.GoToStart();
  file_.Write(std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(kLength) + '\0' +
              fmt::format("{:<{}}\n", shape, kLength - 1));
}

void NpyFile::Add(std::span<const float> row) {
  file_.Write({reinterpret_cast<const char*>(row.data()), row.size_bytes()});
  ++rows_;
}

void NpyFile::Commit() {
  WriteHeader();
  file_.Commit();
}

}  // namespace attend
