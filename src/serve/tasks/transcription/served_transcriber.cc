#include "serve/tasks/transcription/served_transcriber.h"

#include <exception>
#include <utility>

#include "tasks/forced_decoding.h"
#include "tasks/transcription/segments.h"
#include "tasks/transcription/timed_words.h"
#include "tasks/transcription/transcription_search.h"

namespace attend {
namespace {

// Of a file: an hour, which takes 4 bytes a sample while it is cut; what is silent then goes.
constexpr SoundLimits kLimits{.max_seconds = 3600, .max_samples = int64_t{1} << 27};
// Of all jobs of a model that wait or run: 1 GiB.
constexpr int64_t kMostSamples = int64_t{1} << 28;

class QueuedSegments : public SharedQueue {
 public:
  QueuedSegments(const LoadedModel* loaded, const SoundFrames* frames, RequestQueue* queue,
                 int workers)
      : loaded_(loaded), frames_(frames), queue_(queue), timing_(workers) {}

  // Frames are made now, so that a long recording does not have all of them in memory.
  const SearchInput* Next(const SearchLoad& load) override {
    while (auto* segment = static_cast<JobSegment*>(queue_->Next(load))) {
      segment->worker = load.worker;
      try {
        static_cast<SearchInput&>(*segment) =
            MakeTranscriptionInput(loaded_->config(), frames_->Of(segment->samples, "a segment"),
                                   JobOf(*segment).options, "a segment");
        return segment;
      } catch (const std::exception&) {
        queue_->Failed(*segment, std::current_exception());
      }
    }
    return nullptr;
  }
  bool Wanted(const SearchInput& input) override { return RequestQueue::Wanted(Of(input)); }
  void Done(const SearchInput& input, std::vector<SearchResult> results) override {
    JobSegment& segment = Of(input);
    segment.numbers = {};
    segment.found.hypotheses = MakeTranscripts(*loaded_, std::move(results));
    if (JobOf(segment).options.word_times) {
      AddWords(*loaded_, *frames_, segment.samples,
               {.attention = HasAttention(segment) ? &segment.attention : nullptr},
               &timing_[segment.worker], &segment.found);
    }
    queue_->Done(segment, [] {});
  }
  void Dropped(const SearchInput& input) override {
    Of(input).numbers = {};
    queue_->Dropped(Of(input));
  }
  void Failed(const SearchInput& input, const std::exception_ptr& error) override {
    Of(input).numbers = {};
    queue_->Failed(Of(input), error);
  }

 private:
  static TranscriptionJob& JobOf(const JobItem& item) {
    return static_cast<TranscriptionJob&>(*item.job);
  }
  static bool HasAttention(const JobSegment& segment) {
    return JobOf(segment).attention &&
           static_cast<int64_t>(segment.index) < kShownAttention.segments;
  }
  static JobSegment& Of(const SearchInput& input) {
    const auto& segment = static_cast<const JobSegment&>(input);
    return JobOf(segment).segments[segment.index];
  }

  const LoadedModel* loaded_;
  const SoundFrames* frames_;
  RequestQueue* queue_;
  std::vector<ForcedDecoding> timing_;  // by worker
};

}  // namespace

std::vector<JobItem*> TranscriptionJob::Items() {
  std::vector<JobItem*> items;
  for (JobSegment& segment : segments) items.push_back(&segment);
  return items;
}

int64_t TranscriptionJob::Rows() const {
  int64_t rows = 0;
  for (const JobSegment& segment : segments) rows += segment.room;
  return rows;
}

ServedTranscriber::ServedTranscriber(const ModelToServe& model, const ServeOptions& options,
                                     WorkPool* pool)
    : ServedModel(model, {kTranscriptionsRoute}),
      frames_((CheckTranscribes(*loaded()), *config().frames)),
      queue_(options.queue_sentences,
             {options.translation.batch_sentences, options.translation.batch_tokens}, pool),
      segments_(std::make_unique<QueuedSegments>(loaded().get(), &frames_, &queue_, pool->size())),
      search_(std::make_unique<SearchWork>(MakeTranscriptionSearchModel(*loaded()), segments_.get(),
                                           pool)) {}

bool ServedTranscriber::TakeFile(const std::string& bytes, const std::string& name,
                                 TranscriptionJob* job) {
  const FrameInput& input = frames_.input();
  const Sound sound = Resample(DecodeSound(bytes, name, kLimits), input.rate, kLimits);
  job->seconds = sound.seconds();
  const auto rate = static_cast<double>(input.rate);
  int64_t samples = 0;
  for (const auto& [begin, end] : CutRecording(sound.samples, config(), job->options)) {
    JobSegment& segment = job->segments.emplace_back();
    segment.index = job->segments.size() - 1;
    segment.samples.assign(sound.samples.begin() + begin, sound.samples.begin() + end);
    samples += end - begin;
    segment.room = input.RowsOf(frames_.Count(end - begin));
    segment.found.begin = static_cast<double>(begin) / rate;
    segment.found.end = static_cast<double>(end) / rate;
  }
  const bool fits = samples_->fetch_add(samples) + samples <= kMostSamples;
  job->held = std::shared_ptr<void>(nullptr,
                                    [all = samples_, samples](void* /*none*/) { *all -= samples; });
  return fits;
}

void ServedTranscriber::Describe(Json* json) const {
  (*json)["sound"] = {{"rate", frames_.input().rate}};
}

void ServedTranscriber::Stop() {
  queue_.Close();
  search_.reset();
}

}  // namespace attend
