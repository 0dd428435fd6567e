// A model directory of a model and an adapter of it.
#ifndef ATTEND_TASKS_MERGE_DIRECTORY_H_
#define ATTEND_TASKS_MERGE_DIRECTORY_H_

#include <filesystem>

namespace attend {

// Writes MergeAdapter of the model and the adapter in these directories, with the adapter's
// samples, which an int8 model gives anew. Throws as MergeAdapter, Error(kInput) for files that
// are not as their digests say, and Error(kUsage) where `to` is one of the two.
void MergeDirectory(const std::filesystem::path& model, const std::filesystem::path& adapter,
                    const std::filesystem::path& to);

}  // namespace attend

#endif  // ATTEND_TASKS_MERGE_DIRECTORY_H_
