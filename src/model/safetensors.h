// The safetensors container: u64 little-endian header length, JSON header, data. Used by the model
// directory and by checkpoints.
#ifndef ATTEND_MODEL_SAFETENSORS_H_
#define ATTEND_MODEL_SAFETENSORS_H_

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/files.h"
#include "model/tensor_table.h"

namespace attend {

// Maps the file; the table keeps the mapping alive. Throws Error(kInput) for anything that is not a
// well-formed file: lengths that overflow or leave the file, overlaps or holes, unknown types,
// names that stand twice, bytes left over.
TensorTable LoadSafetensors(const std::filesystem::path& path);

// The same from bytes that `owner` keeps alive.
TensorTable ParseSafetensors(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             const std::string& where);

// Writes and syncs the file, which appears whole or not at all. The data starts at a multiple of 64
// bytes and wider types come first in it, so that every value is aligned; the header keeps the
// order of the table. Equal tables give equal bytes.
void SaveSafetensors(const TensorTable& tensors, const std::filesystem::path& path);
// The same to a file that is open already; commits it.
void SaveSafetensors(const TensorTable& tensors, AtomicFile* file);

}  // namespace attend

#endif  // ATTEND_MODEL_SAFETENSORS_H_
