// Scalars and hyperparameters for TensorBoard: one event file, cut back to a checkpoint's update
// when training goes on.
#ifndef ATTEND_TRAIN_LOGS_TENSORBOARD_H_
#define ATTEND_TRAIN_LOGS_TENSORBOARD_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "train/logs/metrics_log.h"

namespace attend {

// One owner. Throws Error(kRuntime) where the file can't be written.
class TensorBoardWriter {
 public:
  // Opens or makes DIRECTORY/events.out.tfevents.attend and keeps its records up to `last_update`.
  // What Finish wrote goes. `wall_time` is in seconds since 1970. A new file begins with `options`,
  // nested objects of numbers, texts, booleans and lists, which the HParams page shows.
  TensorBoardWriter(const std::filesystem::path& directory, int64_t last_update, double wall_time,
                    const Json& options = Json::object());

  // One event with a value for each tag.
  void Append(int64_t update, double wall_time,
              const std::vector<std::pair<std::string, float>>& scalars);
  // The last event: the run succeeded, with these figures.
  void Finish(int64_t update, double wall_time,
              const std::vector<std::pair<std::string, float>>& scalars);
  // Makes what was appended durable.
  void Sync() { file_.Sync(); }

 private:
  AppendFile file_;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LOGS_TENSORBOARD_H_
