// What a run is told beside its options: where it runs, and its effects.
#ifndef ATTEND_TRAIN_RUN_SETTINGS_H_
#define ATTEND_TRAIN_RUN_SETTINGS_H_

#include <functional>
#include <string>

#include "train/distributed/world.h"
#include "train/loop/trainer_effects.h"

namespace attend {

struct RunSettings {
  int threads = 1;
  bool share_threads = false;  // between the processes that have the same processors
  std::string device = "cpu";  // or cuda[:N]; of several processes, each takes its own with cuda
  std::string program;         // its version, on which bits depend too; empty: not told
  World world;                 // the processes that train together
  TrainerEffects effects;
  // Tells the user and ends the process where another has died and this one is stuck.
  std::function<void(const std::string& why)> abandon = [](const std::string&) {};
  // Held: a stop waits until effects.stop_requested is asked, for updates that are not on disk yet.
  // At any other time the process may end where it stands: the same command goes on from there.
  // Of several processes, one that sets up holds it too, until it has told the others.
  std::function<void(bool held)> hold_stop = [](bool) {};
  // An option was given, and does not just have its default.
  std::function<bool(const std::string& name)> is_given = [](const std::string&) { return false; };
};

}  // namespace attend

#endif  // ATTEND_TRAIN_RUN_SETTINGS_H_
