#include "cli/npy_file.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "attend/error.h"

namespace attend {

static_assert(std::endian::native == std::endian::little);

NpyFile::NpyFile(std::string path, int64_t width)
    : path_(std::move(path)),
      partial_(path_ + ".partial"),
      file_(partial_, std::ios::binary | std::ios::trunc),
      width_(width) {
  WriteHeader();
  Check();
}

NpyFile::~NpyFile() {
  std::error_code ignored;
  if (!whole_) std::filesystem::remove(partial_, ignored);
}

// Room for any number of rows: 128 bytes in all.
void NpyFile::WriteHeader() {
  constexpr int kLength = 118;
  const std::string shape =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows_, width_);
  file_ << std::string_view("\x93NUMPY\x01\x00", 8) << static_cast<char>(kLength) << '\0'
        << fmt::format("{:<{}}\n", shape, kLength - 1);
}

void NpyFile::Add(std::span<const float> row) {
  file_.write(reinterpret_cast<const char*>(row.data()),
              static_cast<std::streamsize>(row.size_bytes()));
  ++rows_;
  Check();
}

void NpyFile::Finish() {
  file_.seekp(0);
  WriteHeader();
  file_.close();
  Check();
  std::error_code failed;
  std::filesystem::rename(partial_, path_, failed);
  if (failed) {
    throw Error(ErrorKind::kRuntime, fmt::format("can't write '{}': {}", path_, failed.message()));
  }
  whole_ = true;
}

void NpyFile::Check() {
  if (!file_.fail()) return;
  throw Error(ErrorKind::kRuntime,
              fmt::format("can't write '{}': {}", partial_, std::strerror(errno)));
}

}  // namespace attend
