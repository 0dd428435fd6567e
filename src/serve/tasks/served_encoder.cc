#include "serve/tasks/served_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "attend/error.h"
#include "media/fit_picture.h"
#include "tasks/encoder_runner.h"
#include "tasks/loaded_model.h"

namespace attend {
namespace {

// Tokens of a step. More at once gain no speed, and others wait for its end.
constexpr int64_t kStepTokens = 512;

const EncoderJob& JobOf(const EncoderText& text) {
  return static_cast<const EncoderJob&>(*text.job);
}

// Each step runs as many texts of the queue as it has room for.
class EncoderWork : public PoolWork {
 public:
  EncoderWork(const ServedEncoder* model, RequestQueue* queue) : model_(model), queue_(queue) {}

  bool Step(int worker) override {
    std::vector<EncoderText*> texts;  // that have not ended
    try {
      Take(worker, &texts);
    } catch (const std::bad_alloc&) {
      for (EncoderText* text : texts) queue_->Failed(*text, std::current_exception());
      return true;
    }
    if (texts.empty()) return false;
    while (!texts.empty()) {
      const std::string& key = JobOf(*texts.back()).call->key;
      const auto first = std::partition(texts.begin(), texts.end(), [&](const EncoderText* text) {
        return JobOf(*text).call->key != key;
      });
      Run({first, texts.end()});
      texts.erase(first, texts.end());
    }
    return true;
  }

 private:
  void Take(int worker, std::vector<EncoderText*>* texts) {
    SearchLoad load{.worker = worker};
    while (true) {
      texts->reserve(texts->size() + 1);
      auto* text = static_cast<EncoderText*>(queue_->Next(load));
      if (text == nullptr) return;
      texts->push_back(text);
      ++load.sentences;
      ++load.joining;
      load.tokens += std::max(kLeastSourceTokens, text->room);
    }
  }

  // Texts of equal calls; afterwards all of them have ended. If they fail together, each runs
  // alone: what is wrong with one is not the others'.
  void Run(std::span<EncoderText*> texts) {
    const auto unwanted = std::partition(texts.begin(), texts.end(), [](const EncoderText* text) {
      return RequestQueue::Wanted(*text);
    });
    for (auto text = unwanted; text != texts.end(); ++text) queue_->Dropped(**text);
    texts = {texts.begin(), unwanted};
    if (texts.empty()) return;
    std::vector<Json> answers;
    std::exception_ptr failure;
    try {
      answers = JobOf(*texts[0]).call->run(*model_, texts);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!failure) {
        queue_->Done(*texts[i], [&] { texts[i]->answer = std::move(answers[i]); });
      } else if (texts.size() == 1) {
        queue_->Failed(*texts[i], failure);
      } else {
        Run(texts.subspan(i, 1));
      }
    }
  }

  const ServedEncoder* model_;
  RequestQueue* queue_;
};

}  // namespace

std::vector<std::string> TextsOf(std::span<EncoderText* const> texts) {
  std::vector<std::string> copies;
  for (const EncoderText* text : texts) copies.push_back(text->text);
  return copies;
}

std::vector<std::vector<uint8_t>> PixelsOf(std::span<EncoderText* const> texts) {
  std::vector<std::vector<uint8_t>> pixels;
  for (const EncoderText* text : texts) pixels.push_back(text->picture.pixels);
  return pixels;
}

std::vector<JobItem*> EncoderJob::Items() {
  std::vector<JobItem*> items;
  for (EncoderText& text : texts) items.push_back(&text);
  return items;
}

int64_t EncoderJob::Tokens() const {
  int64_t tokens = 0;
  for (const EncoderText& text : texts) tokens += text.room;
  return tokens;
}

ServedEncoder::ServedEncoder(const ModelToServe& model, std::vector<std::string> routes,
                             const ServeOptions& options, WorkPool* pool)
    : ServedModel(model, std::move(routes)),
      encoder_(config().decoder || config().fusion
                   ? nullptr
                   : std::make_unique<const TextEncoder>(loaded(), kCallersThread)),
      limit_(options),
      queue_(options.queue_sentences,
             {options.translation.batch_sentences,
              std::min(options.translation.batch_tokens, kStepTokens)},
             pool),
      pool_(pool),
      work_(std::make_unique<EncoderWork>(this, &queue_)) {
  pool_->Add(work_.get());
}

int64_t ServedEncoder::max_tokens() const { return MaxEncoderTokens(config()); }

std::vector<TextVector> ServedEncoder::Embed(std::span<EncoderText* const> texts,
                                             const EmbeddingOptions& options) const {
  return reads_pictures() ? encoder_->EmbedPixels(PixelsOf(texts), options)
                          : encoder_->Embed(TextsOf(texts), options);
}

const PatchInput& ServedEncoder::patches() const {
  return config().fusion ? config().fusion->patches : *config().patches;
}

EncoderReads ServedEncoder::reads() const {
  if (config().fusion) return EncoderReads::kItems;
  return reads_pictures() ? EncoderReads::kPictures : EncoderReads::kTexts;
}

void ServedEncoder::CheckReads(EncoderReads given, bool parts) const {
  if (reads() == given || (parts && reads() == EncoderReads::kItems)) return;
  constexpr const char* kNames[] = {"text", "pictures", "items"};
  constexpr const char* kCures[] = {"", "; send `picture`", "; send `item`"};
  const auto wanted = static_cast<size_t>(reads());
  throw Error(ErrorKind::kInput,
              fmt::format("the model reads {}, but the request has {}{}", kNames[wanted],
                          kNames[static_cast<size_t>(given)], kCures[wanted]));
}

void ServedEncoder::TakeItem(ClassifiedItem item, const std::string& /*name*/,
                             EncoderText* text) const {
  text->item = std::move(item);
}

void ServedEncoder::TakePicture(const std::string& file, const std::string& name,
                                EncoderText* text) const {
  text->picture = DecodeFitted(file, name, patches());
  text->room = patches().rows();
}

void ServedEncoder::TakeText(const std::string& name, EncoderText* text) const {
  limit_.CheckBytes(name, std::ssize(text->text));
  text->room = std::ssize(loaded()->source().Encode(text->text));
  limit_.CheckTokens(name, text->room);
}

void ServedEncoder::Describe(Json* json) const {
  if (reads_pictures()) {
    (*json)["picture"] = {{"width", config().patches->width}, {"height", config().patches->height}};
  } else {
    (*json)["max_text_tokens"] = limit_.tokens();
  }
  if (encoder_ != nullptr) (*json)["embedding_width"] = encoder_->width();
  if (!config().labels.empty()) (*json)["labels"] = config().labels;
}

void ServedEncoder::Stop() {
  queue_.Close();
  pool_->Remove(work_.get());
}

}  // namespace attend
