// Recordings with their texts as training examples: log-mel frames that are made as training goes,
// in bounded memory.
#ifndef ATTEND_DATA_RECORDING_CORPUS_H_
#define ATTEND_DATA_RECORDING_CORPUS_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "attend/vocabulary.h"
#include "base/thread_pool.h"
#include "data/example_source.h"
#include "data/recordings.h"
#include "media/sound_frames.h"
#include "media/spec_augment.h"

namespace attend {

// Columns of a recording's example: its frames, its text's ids with what stands around them, and
// the places 0, 1 ... of the rows that the encoder makes of the frames.
enum RecordingColumn : int64_t { kFrameColumn, kTranscriptColumn, kRowColumn };

struct RecordingCorpusOptions {
  FrameInput input;
  TextFrame around;  // of a text's ids
  uint64_t seed = 1;
  SpecAugmentOptions augmentation = {};  // of recordings that windows hold
  double max_seconds = 0;                // longer recordings are left out; 0: none are
  int64_t max_rows = std::numeric_limits<int64_t>::max();    // of a recording in the encoder
  int64_t max_tokens = std::numeric_limits<int64_t>::max();  // of a text
  // Recordings and texts of any length stay: those that are read by themselves, not as a table.
  bool any_length = false;
};

struct LeftOutRecording {
  int64_t recording = 0;  // of all
  std::string reason;     // names the file
};

// An epoch has every recording once, in an order drawn for it. A window is the recordings that come
// next, as many as take some 64 MiB as frames, but at least 64; no other sound is in memory. What
// masks a recording follows from (seed, epoch, its place in the epoch). Immutable; safe to use from
// many threads.
class RecordingCorpus : public ExampleSource {
 public:
  // Decodes every recording once, and leaves out those that can't be read or are too long. Throws
  // Error(kInput) with the first reason where none is left.
  RecordingCorpus(std::vector<RecordingItem> items, const Vocabulary& vocabulary,
                  const RecordingCorpusOptions& options, ThreadPool* pool);

  // Windows throw Error(kInput) for a recording that can't be read any more.
  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  bool in_parts() const override { return true; }
  std::string Where(const Origin& origin) const override;
  std::string Summary() const;
  // "3 of 3,000 recordings are left out: ...", or empty.
  std::string LeftOutMessage() const;

  int64_t size() const { return std::ssize(kept_); }
  const std::string& sha256() const { return sha256_; }  // of texts and sounds, in their order
  // Of those that are kept, from 0.
  const RecordingItem& item(int64_t i) const { return items_[kept_[i].item]; }
  double seconds(int64_t i) const;
  double LongestSeconds() const;                // of any of these
  std::vector<float> Samples(int64_t i) const;  // at the model's rate
  // Recordings [first, end) of those that are kept, unchanged, in their order.
  ExampleTable Table(int64_t first, int64_t end) const;
  int64_t window_size() const { return window_; }
  int64_t tokens() const;          // of all texts
  int64_t unknown_tokens() const;  // of them

 private:
  struct Kept {
    int64_t item = 0, samples = 0;
    std::vector<int32_t> ids;
  };
  // Why the recording can't be used, or empty.
  std::string ReasonAgainst(const RecordingItem& item, const SeenRecording& seen,
                            int64_t tokens) const;
  ExampleTable EmptyTable() const;
  void Add(int64_t i, std::span<const float> frames_TM, ExampleTable* table) const;
  std::vector<float> ChangedSamples(int64_t i, Random* random) const;
  // Those at places [first, end) of an epoch's order, changed.
  ExampleTable Changed(const std::vector<int64_t>& order, int64_t epoch, int64_t first,
                       int64_t end) const;

  RecordingCorpusOptions options_;
  SoundFrames frames_;
  std::vector<RecordingItem> items_;
  std::vector<Kept> kept_;
  std::vector<LeftOutRecording> left_out_;
  std::string sha256_;
  int64_t unknown_ = -1;  // the vocabulary's id
  int64_t window_ = 1;    // recordings
};

}  // namespace attend

#endif  // ATTEND_DATA_RECORDING_CORPUS_H_
