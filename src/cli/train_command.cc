// `attend train`: trains a model as a recipe says.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "attend/error.h"
#include "base/excerpt.h"
#include "cli/command_line.h"
#include "cli/train_commands.h"
#include "train/run.h"
#include "train/tasks/registry.h"

namespace attend {
namespace {

std::atomic<int> stop_signal = 0;  // the one that came, or 0
std::atomic<bool> stop_held = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// As shells report a program that a signal has ended, so that what was to follow a whole training
// does not. SIGTERM's on ranks that stop with another one.
int StatusOfStop() { return 128 + (stop_signal == 0 ? SIGTERM : stop_signal.load()); }

// As a kill, but for the message; a signal handler may call it.
[[noreturn]] void EndNow() {
  constexpr std::string_view kMessage =
      "attend: stopped by a signal; nothing is lost: give the same command again to go on\n";
  (void)!write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(StatusOfStop());
}

// Ends the run, while updates are made after the present one; a second signal ends it at once.
// Request before hold here, hold before request in HoldStop: one of the two sees the other.
void OnSignal(int signal) {
  stop_signal = signal;
  if (!stop_held) EndNow();
  std::signal(signal, SIG_DFL);
}

// Another process has died and the training thread waits for it; what is not on disk is lost.
void Abandon(const std::string& why) {
  std::fputs(fmt::format("attend: {}\n", Printable(why)).c_str(), stderr);
  _exit(1);
}

void HoldStop(bool held) {
  stop_held = held;
  if (!held && stop_signal != 0) EndNow();
}

double Now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::min(seconds, 1e9));
  return whole >= 3600 ? fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60)
                       : fmt::format("{}m{:02}s", whole / 60, whole % 60);
}

// "12.3 GFLOP/s", with its share of a known peak.
std::string Flops(const ProgressReport& report) {
  const std::string rate = report.flops < 1e12 ? fmt::format("{:.1f} GFLOP/s", report.flops / 1e9)
                                               : fmt::format("{:.1f} TFLOP/s", report.flops / 1e12);
  if (report.peak_flops <= 0) return rate;
  return fmt::format("{} ({:.1f} % of the peak)", rate, 100 * report.flops / report.peak_flops);
}

// In place on a terminal, a line each elsewhere. `target`: as TaskInfo's.
void PrintProgress(const ProgressReport& report, std::string_view target) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const std::string line = fmt::format(
      "update {}/{}  epoch {}  loss {:.4f}  lr {:.3e}  {:.0f} {}s/s  {}  {} left", report.update,
      report.max_updates, report.epoch + 1, report.loss, report.learning_rate,
      report.target_tokens_per_s, target, Flops(report), Duration(report.seconds_left));
  std::fputs(terminal ? fmt::format("\r\x1b[K{}", line).c_str() : fmt::format("{}\n", line).c_str(),
             stderr);
}

// Messages start on a line of their own behind a progress line that stays in place.
Log ProgressLog(bool quiet) {
  const bool terminal = isatty(STDERR_FILENO) == 1 && !quiet;
  return [log = StandardErrorLog(quiet), terminal](LogLevel level, std::string_view message) {
    if (terminal) std::fputs("\r\x1b[K", stderr);
    log(level, message);
  };
}

CommandLine MakeCommandLine(TrainOptions& options, CommonOptions& common) {
  CommandLine command_line(
      "train", "train a model, or continue if the output directory has a checkpoint",
      "attend train --config recipes/multi30k-en-de-bidirectional.toml --data-dir data "
      "--output runs/multi30k-en-de-bidirectional\n"
      "attend train --config recipes/multi30k-en-de.toml --data-dir data --output "
      "runs/multi30k-en-de\n"
      "attend train --config recipe.toml --encoder.layers 4 --dropout 0.2 --output runs/deep\n"
      "attend train --config more-text.toml --init runs/deep/model --output runs/tuned\n"
      "attend train --config recipe.toml --dry-run\n"
      "attend train --config recipes/language_model/tinyshakespeare_small.toml --data-dir data "
      "--output runs/shakespeare\n"
      "attend train --config recipes/tagging/textiles.toml --data-dir data --output runs/textiles\n"
      "torchrun --no-python --nproc-per-node 2 attend train --config recipe.toml --output "
      "runs/two");
  command_line.Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "device", "data_dir"}));
  return command_line;
}

// Of a task that may read text too.
bool ReadsPictures(const std::vector<std::string>& arguments, TrainOptions options) {
  if (FindTask(options.model.task).info.picture_preset.empty()) return false;
  CommandLine pictures("train", "", "");
  pictures.Options(Fields(options).Select({"train_pictures"})).ParseThese(arguments);
  return pictures.IsSet("train_pictures");
}

// Task, preset and architecture are read first, and whether pictures are read: they decide which
// other options there are, and their defaults.
bool ReadOptions(const std::vector<std::string>& arguments, TrainOptions* options,
                 CommonOptions* common, CommandLine* command_line) {
  TrainOptions first;
  CommandLine these("train", "", "");
  these.Options(Fields(first).Select({"task", "preset", "architecture"})).ParseThese(arguments);
  // A transformer's follows from the task.
  if (!these.IsSet("preset")) {
    const bool transformer = first.model.architecture == Architecture::kTransformer;
    first.preset = transformer ? "" : PresetOf(first.model.architecture);
  }
  *options = TrainOptions(first.model.task, first.preset);
  if (!these.IsSet("preset") && ReadsPictures(arguments, *options))
    *options = TrainOptions(first.model.task, FindTask(first.model.task).info.picture_preset);
  *command_line = MakeCommandLine(*options, *common);
  return command_line->Parse(arguments);
}

void CompletePaths(const CommonOptions& common, TrainOptions* options) {
  const FieldList fields = Fields(*options);
  for (const Field& field : fields.fields()) {
    if (!field.Is(kPath)) continue;
    if (field.IsText()) {
      std::string* path = std::get<std::string*>(field.value);
      *path = common.DataPath(*path);
    } else {
      for (std::string& path : *std::get<std::vector<std::string>*>(field.value))
        path = common.DataPath(path);
    }
  }
}

void PrintPlan(const Json& plan) {
  for (const auto& [name, value] : plan.items()) {
    if (value.is_object()) continue;  // for programs
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (value.is_number_float())
      text = fmt::format("{:.{}f}", value.get<double>(), value.get<double>() < 100 ? 2 : 0);
    std::cout << fmt::format("{:<24}{}\n", name, text);
  }
}

}  // namespace

TrainOptions ReadRecipe(const std::string& file, const CommonOptions& common) {
  TrainOptions options;
  CommonOptions of_recipe;
  CommandLine command_line = MakeCommandLine(options, of_recipe);
  ReadOptions({"--config", file}, &options, &of_recipe, &command_line);
  CompletePaths(common, &options);
  return options;
}

int RunTrain(const std::vector<std::string>& arguments) {
  TrainOptions options;
  CommonOptions common;
  CommandLine command_line = MakeCommandLine(options, common);
  if (!ReadOptions(arguments, &options, &common, &command_line)) return 0;
  CompletePaths(common, &options);
  RunSettings settings;
  settings.world = WorldFromEnvironment([](const char* name) { return std::getenv(name); });
  settings.threads = common.ThreadCount();
  settings.share_threads = common.threads == 0;
  settings.device = common.device;
  settings.program = ProgramVersion();
  settings.is_given = [&](const std::string& name) { return command_line.IsSet(name); };
  settings.effects.log = ProgressLog(common.quiet);
  settings.effects.now = Now;
  settings.effects.stop_requested = [] { return stop_signal != 0; };
  settings.hold_stop = HoldStop;
  settings.abandon = Abandon;
  if (!common.quiet) {
    settings.effects.progress =
        [target = FindTask(options.model.task).info.target](const ProgressReport& report) {
          PrintProgress(report, target);
        };
  }
  if (options.dry_run) {
    PrintReport(common, DryRun(options, settings), PrintPlan);
    return 0;
  }

  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  const RunResult result = Train(options, settings);
  if (settings.world.rank > 0) return result.outcome.finished ? 0 : StatusOfStop();
  if (!result.outcome.finished) {
    std::fputs(
        fmt::format("{}attend: {}; a checkpoint is written: give the same command again to go on\n",
                    isatty(STDERR_FILENO) == 1 ? "\r\x1b[K" : "", result.outcome.reason)
            .c_str(),
        stderr);
    return StatusOfStop();
  }
  Json report = {{"model", result.model.string()}, {"scores", result.scores}};
  if (!result.adapter.empty()) report["adapter"] = result.adapter.string();
  PrintReport(common, report);
  return 0;
}

}  // namespace attend
