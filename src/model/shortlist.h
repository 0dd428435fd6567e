// A lexical shortlist: for each source piece the target pieces that may translate it, so that the
// output layer of a sentence has hundreds of columns instead of the whole vocabulary. A safetensors
// file; docs/model_file.md is its grammar. Immutable once made.
#ifndef ATTEND_MODEL_SHORTLIST_H_
#define ATTEND_MODEL_SHORTLIST_H_

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "model/model_directory.h"

namespace attend {

struct Shortlist {
  std::vector<int32_t> frequent;                 // allowed in every sentence
  std::vector<std::vector<int32_t>> candidates;  // by source id

  // What a sentence of these source ids may hold: rising, each once.
  std::vector<int32_t> Columns(std::span<const int32_t> source) const;
};

// Writes and commits the file, which holds digests of the model's vocabularies and is for no other
// model.
void SaveShortlist(const Shortlist& shortlist, const Model& model, AtomicFile* file);

// Throws Error(kInput) for a damaged file, one of a newer version, ids outside the vocabulary, or a
// shortlist that was made for other vocabularies.
Shortlist LoadShortlist(const std::filesystem::path& path, const Model& model);
// The same of tensors already read; `where` names them in errors.
Shortlist ParseShortlist(const TensorTable& tensors, const Model& model, const std::string& where);

}  // namespace attend

#endif  // ATTEND_MODEL_SHORTLIST_H_
