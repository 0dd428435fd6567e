// A model of transcription as the service has it: its weights and its queue, on threads that all
// models share.
#ifndef ATTEND_SERVE_TASKS_TRANSCRIPTION_SERVED_TRANSCRIBER_H_
#define ATTEND_SERVE_TASKS_TRANSCRIPTION_SERVED_TRANSCRIBER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "attend/translator.h"
#include "media/sound.h"
#include "media/sound_frames.h"
#include "serve/request_queue.h"
#include "serve/serve_options.h"
#include "serve/served_model.h"
#include "tasks/search_work.h"
#include "tasks/transcription/recording_attention.h"

namespace attend {

constexpr const char* kTranscriptionsRoute = "/v1/audio/transcriptions";

// A segment of a recording, and what is said in it once that is found.
struct JobSegment : JobItem, SearchInput {
  size_t index = 0;  // of the job's
  int worker = 0;    // the thread that searches it
  std::vector<float> samples;
  TranscriptSegment found;
  SegmentAttention attention;  // where the job wants it, of the first ones
};

class ServedTranscriber;

// What one request asks.
struct TranscriptionJob : Job {
  std::vector<JobItem*> Items() override;
  int64_t Rows() const;  // that the encoder makes of all segments

  std::shared_ptr<ServedTranscriber> model;
  TranscriptionOptions options;
  bool attention = false;      // what words look at; goes with options.word_times
  double seconds = 0;          // of the recording
  std::shared_ptr<void> held;  // while it lives its samples count towards what the model holds
  std::deque<JobSegment> segments;
};

class ServedTranscriber final : public ServedModel {
 public:
  // Starts. Throws as Transcriber does.
  ServedTranscriber(const ModelToServe& model, const ServeOptions& options, WorkPool* pool);
  ~ServedTranscriber() override { Stop(); }

  RequestQueue& queue() { return queue_; }
  // That it writes; empty: its config.json names none.
  std::string language() const {
    return config().languages.empty() ? "" : config().languages.back();
  }
  // Decodes a file for a job and cuts it into segments: none of a silent one. Returns false where
  // other jobs have too much sound in memory. Throws Error(kInput) that names the file for one that
  // can't be read or is too long.
  bool TakeFile(const std::string& bytes, const std::string& name, TranscriptionJob* job);

  int64_t waiting() const override { return queue_.waiting(); }
  int64_t live() const override { return queue_.live(); }
  int64_t capacity() const override { return queue_.most_live(); }
  bool HasRoom() const override { return queue_.HasRoom(); }
  void Describe(Json* json) const override;
  void Stop() override;

 private:
  const SoundFrames frames_;
  const std::shared_ptr<std::atomic<int64_t>> samples_ = std::make_shared<std::atomic<int64_t>>(0);
  RequestQueue queue_;
  std::unique_ptr<SharedQueue> segments_;  // the queue, as the search sees it
  std::unique_ptr<SearchWork> search_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSCRIPTION_SERVED_TRANSCRIBER_H_
