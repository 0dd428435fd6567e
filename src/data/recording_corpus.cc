#include "data/recording_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "attend/error.h"
#include "base/counted.h"
#include "base/first_few.h"
#include "base/random.h"
#include "base/sha256.h"
#include "data/changed_windows.h"
#include "data/item_windows.h"

namespace attend {
namespace {

constexpr uint64_t kFrameMaskKey = 0x6d61736b;       // "mask"
constexpr uint64_t kRecordingOrderKey = 0x736f756e;  // "soun"

}  // namespace

RecordingCorpus::RecordingCorpus(std::vector<RecordingItem> items, const Vocabulary& vocabulary,
                                 const RecordingCorpusOptions& options, ThreadPool* pool)
    : options_(options),
      frames_(options.input),
      items_(std::move(items)),
      unknown_(vocabulary.special_ids().unk) {
  const std::vector<SeenRecording> seen = SeeRecordings(items_, options_.input.rate, pool);
  std::string facts;
  int64_t frames = 0;
  for (int64_t i = 0; i < std::ssize(items_); ++i) {
    std::vector<int32_t> ids = vocabulary.Encode(items_[i].text);
    if (std::string reason = ReasonAgainst(items_[i], seen[i], std::ssize(ids)); !reason.empty()) {
      left_out_.push_back({i, std::move(reason)});
      continue;
    }
    facts += fmt::format("{} {}\n", seen[i].sha256, items_[i].text);
    frames += frames_.Count(seen[i].samples);
    kept_.push_back({i, seen[i].samples, std::move(ids)});
  }
  if (kept_.empty()) {
    throw Error(ErrorKind::kInput,
                fmt::format("none of the {} can be used; the first: {}",
                            Counted(std::ssize(items_), "recording"), left_out_[0].reason));
  }
  sha256_ = Sha256(facts);
  window_ = ItemsInWindow(4 * options_.input.mels * frames / size());  // of usual ones
}

std::string RecordingCorpus::ReasonAgainst(const RecordingItem& item, const SeenRecording& seen,
                                           int64_t tokens) const {
  if (!seen.reason.empty() || options_.any_length) return seen.reason;
  const FrameInput& input = options_.input;
  const double seconds = static_cast<double>(seen.samples) / static_cast<double>(input.rate);
  for (const double most : {options_.max_seconds, input.padded_seconds}) {
    if (most > 0 && seconds > most) {
      return fmt::format("{}: has {:.1f} seconds, expected at most {}", item.path.string(), seconds,
                         most);
    }
  }
  const int64_t rows = input.RowsOf(frames_.Count(seen.samples));
  if (rows > options_.max_rows) {
    return fmt::format("{}: has {} rows, expected at most {}, the encoder's learned positions",
                       item.path.string(), rows, options_.max_rows);
  }
  if (tokens <= options_.max_tokens) return "";
  return fmt::format("{}: its text has {} tokens, expected at most {}", item.path.string(), tokens,
                     options_.max_tokens);
}

double RecordingCorpus::seconds(int64_t i) const {
  return static_cast<double>(kept_[i].samples) / static_cast<double>(options_.input.rate);
}

double RecordingCorpus::LongestSeconds() const {
  double longest = 0;
  for (int64_t i = 0; i < size(); ++i) longest = std::max(longest, seconds(i));
  return longest;
}

std::vector<float> RecordingCorpus::Samples(int64_t i) const {
  return Resample(ReadSound(item(i).path), options_.input.rate).samples;
}

int64_t RecordingCorpus::tokens() const {
  return std::accumulate(kept_.begin(), kept_.end(), int64_t{0},
                         [](int64_t sum, const Kept& each) { return sum + std::ssize(each.ids); });
}

int64_t RecordingCorpus::unknown_tokens() const {
  int64_t count = 0;
  for (const Kept& each : kept_) count += std::ranges::count(each.ids, unknown_);
  return count;
}

ExampleTable RecordingCorpus::EmptyTable() const {
  return ExampleTable(
      {{ColumnKind::kNumbers, options_.input.mels}, {ColumnKind::kIds}, {ColumnKind::kIds}});
}

void RecordingCorpus::Add(int64_t i, std::span<const float> frames_TM, ExampleTable* table) const {
  table->Append(kFrameColumn, frames_TM);
  table->Append(kTranscriptColumn, options_.around.Around(kept_[i].ids));
  std::vector<int32_t> rows(options_.input.RowsOf(std::ssize(frames_TM) / options_.input.mels));
  std::iota(rows.begin(), rows.end(), 0);
  table->Append(kRowColumn, rows);
  table->EndExample({0, kept_[i].item});
}

ExampleTable RecordingCorpus::Table(int64_t first, int64_t end) const {
  ExampleTable table = EmptyTable();
  for (int64_t i = first; i < end; ++i)
    Add(i, frames_.Of(Samples(i), item(i).path.string()), &table);
  return table;
}

// At another speed and with silence around, but where that would be more than the model reads; and
// with noise.
std::vector<float> RecordingCorpus::ChangedSamples(int64_t i, Random* random) const {
  const SpecAugmentOptions& options = options_.augmentation;
  std::vector<float> samples = Samples(i);
  const auto take = [&](Sound changed) {
    const int64_t count = std::ssize(changed.samples), padded = options_.input.padded_samples();
    const bool fits = options_.input.RowsOf(frames_.Count(count)) <= options_.max_rows &&
                      (padded == 0 || count <= padded) && count > 0;
    if (fits) samples = std::move(changed.samples);
  };
  if (options.speed > 0) take(ChangeSpeed(options, {options_.input.rate, samples}, random));
  if (options.silence > 0) take(AddSilence(options, {options_.input.rate, samples}, random));
  AddNoise(options, random, samples);
  return samples;
}

ExampleTable RecordingCorpus::Changed(const std::vector<int64_t>& order, int64_t epoch,
                                      int64_t first, int64_t end) const {
  ExampleTable table = EmptyTable();
  for (int64_t place = first; place < end; ++place) {
    const int64_t i = order[place];
    Random random(
        {ChangeKey(options_.seed, static_cast<uint64_t>(epoch), static_cast<uint64_t>(place)),
         kFrameMaskKey});
    const std::vector<float> samples = ChangedSamples(i, &random);
    const double warp = DrawWarp(options_.augmentation, &random);
    std::vector<float> frames_TM = frames_.Of(samples, item(i).path.string(), warp);
    MaskFrames(options_.augmentation, options_.input.mels, &random, frames_TM);
    Add(i, frames_TM, &table);
  }
  return table;
}

std::unique_ptr<WindowReader> RecordingCorpus::Open(int64_t epoch, const WindowStart& start,
                                                    const WindowPart& part) const {
  const auto make = [this](const std::vector<int64_t>& order, int64_t of_epoch, int64_t first,
                           int64_t end) { return Changed(order, of_epoch, first, end); };
  return OpenItemWindows({"recordings", size(), window_, options_.seed, kRecordingOrderKey, make},
                         epoch, start.number, part);
}

std::string RecordingCorpus::Where(const Origin& origin) const {
  return items_[origin.line].path.string();
}

std::string RecordingCorpus::Summary() const {
  double all = 0, longest = 0;
  for (int64_t i = 0; i < size(); ++i) {
    all += seconds(i);
    longest = std::max(longest, seconds(i));
  }
  std::string text = Counted(size(), "recording");
  if (const size_t left_out = left_out_.size(); left_out > 0)
    text += fmt::format(", {} left out", left_out);
  return text + fmt::format(", {:.1f} minutes, the longest of {:.1f} seconds", all / 60, longest);
}

std::string RecordingCorpus::LeftOutMessage() const {
  return LeftOutOf(left_out_, &LeftOutRecording::reason, std::ssize(items_), "recording");
}

}  // namespace attend
