// A model that answers each text by itself, an encoder alone or a parser, as the service has it:
// its weights and its queue, on threads that all models share. What else is in a text's batch
// changes nothing.
#ifndef ATTEND_SERVE_TASKS_SERVED_ENCODER_H_
#define ATTEND_SERVE_TASKS_SERVED_ENCODER_H_

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/classifier.h"
#include "attend/loaded_model.h"
#include "attend/text_encoder.h"
#include "attend/vocabulary.h"
#include "base/json.h"
#include "media/picture.h"
#include "serve/request_queue.h"
#include "serve/serve_options.h"
#include "serve/served_model.h"
#include "serve/text_limit.h"

namespace attend {

// What a request has and a model reads: one of these.
enum class EncoderReads { kTexts, kPictures, kItems };

// A text of a request, a picture, or an item of several inputs.
struct EncoderText : JobItem {
  std::string text;
  Picture picture;                 // as the model reads it; empty of a text
  std::vector<std::string> words;  // of the text, where the request divides it
  ClassifiedItem item;             // of several inputs, with pixels; else empty
  Json answer;                     // once it has run
};

class ServedEncoder;

// What is done with each text. Texts of several requests run together where the keys are equal.
struct EncoderCall {
  std::string key;
  // On a thread of the pool: one answer for each text.
  std::function<std::vector<Json>(const ServedEncoder& model, std::span<EncoderText* const> texts)>
      run;
};

std::vector<std::string> TextsOf(std::span<EncoderText* const> texts);
// Of pictures.
std::vector<std::vector<uint8_t>> PixelsOf(std::span<EncoderText* const> texts);

// What one request asks.
struct EncoderJob : Job {
  std::vector<JobItem*> Items() override;
  int64_t Tokens() const;

  std::shared_ptr<ServedEncoder> model;
  std::shared_ptr<const EncoderCall> call;
  std::deque<EncoderText> texts;
};

// The threads of a Tagger and the like that run on the pool's thread, which calls them: none.
constexpr int kCallersThread = 1;

// A class that derives from it, for what its calls need, calls Stop in its own destructor.
class ServedEncoder : public ServedModel {
 public:
  // Starts. Throws as TextEncoder does.
  ServedEncoder(const ModelToServe& model, std::vector<std::string> routes,
                const ServeOptions& options, WorkPool* pool);
  ~ServedEncoder() override { Stop(); }

  // Precondition: the model is an encoder alone.
  const TextEncoder& encoder() const { return *encoder_; }
  RequestQueue& queue() { return queue_; }
  // As the model reads them.
  const PatchInput& patches() const;
  // Of a text the model reads so many tokens at once.
  int64_t max_tokens() const;
  bool reads_pictures() const { return config().patches.has_value(); }
  EncoderReads reads() const;
  // Throws Error(kInput) where the model reads something else. `parts`: of one that reads items, a
  // text or a picture is a part of one.
  void CheckReads(EncoderReads given, bool parts) const;
  // Makes a picture of a PNG or JPEG file's bytes, of the model's size, and tells how much room it
  // takes. Throws Error(kInput) for what is none, named `name`.
  void TakePicture(const std::string& file, const std::string& name, EncoderText* text) const;
  // The same of an item. Precondition: the model reads items, and its class takes them.
  virtual void TakeItem(ClassifiedItem item, const std::string& name, EncoderText* text) const;
  // A vector of each, all of them texts, or all pictures.
  virtual std::vector<TextVector> Embed(std::span<EncoderText* const> texts,
                                        const EmbeddingOptions& options) const;
  // Tells how much room a text takes: its tokens. Throws Error(kInput) for one that is too long, or
  // that the model can't read; `name` opens the message.
  virtual void TakeText(const std::string& name, EncoderText* text) const;

  int64_t waiting() const override { return queue_.waiting(); }
  int64_t live() const override { return queue_.live(); }
  int64_t capacity() const override { return queue_.most_live(); }
  bool HasRoom() const override { return queue_.HasRoom(); }
  void Describe(Json* json) const override;
  void Stop() override;

 private:
  const std::unique_ptr<const TextEncoder> encoder_;  // null: there is a decoder
  const TextLimit limit_;
  RequestQueue queue_;
  WorkPool* pool_;
  std::unique_ptr<PoolWork> work_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_SERVED_ENCODER_H_
