// What an encoder alone tells of texts: tokens that fit where [MASK] stands (a masked language
// model), and a vector for each text (any encoder), or for each picture (one of pictures).
//
// A TextEncoder is immutable and safe to use from many threads, as a Translator is. A text always
// gives the same numbers, bit for bit: other texts and the number of threads change nothing.
#ifndef ATTEND_TEXT_ENCODER_H_
#define ATTEND_TEXT_ENCODER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/loaded_model.h"
#include "attend/model_config.h"

namespace attend {

struct TextEncoderOptions {
  int threads = 0;  // 0: one for each processor; 1: none but the caller's
  WeightType type = WeightType::kStored;
  std::string instruction_set;  // empty: what ATTEND_ISA names, or the best of the machine
};

struct FillingToken {
  std::string text;  // without the space before it; of a space alone as the vocabulary spells it
  double probability = 0;
  bool begins_word = false;  // else it continues the word before it
};

struct FilledText {
  std::string text;                              // with the likeliest token at each [MASK]
  std::vector<std::vector<FillingToken>> masks;  // of each [MASK], the likeliest first
  bool cut = false;                              // longer than the model can read
};

struct EmbeddingOptions {
  TextPooling pooling = TextPooling::kMean;
  bool normalize = false;  // to length 1
};

struct TextVector {
  std::vector<float> values_D;
  bool cut = false;  // longer than the model can read
};

class TextEncoder {
 public:
  // Throws Error(kInput) for a file that can't be read, Error(kUsage) for a model with a decoder,
  // or for one of texts without vocabulary.
  static std::unique_ptr<TextEncoder> Load(const std::string& directory,
                                           const TextEncoderOptions& options = {});
  TextEncoder(std::shared_ptr<const Model> model, const TextEncoderOptions& options);
  // The type and instruction set are those that the model was loaded with.
  TextEncoder(std::shared_ptr<const LoadedModel> loaded, int threads);
  ~TextEncoder();

  TextEncoder(const TextEncoder&) = delete;
  TextEncoder& operator=(const TextEncoder&) = delete;

  // Each token that [MASK] stands for by itself, `top` of them for each. Throws Error(kUsage) for a
  // model of another task, Error(kInput) for a text without [MASK] in what the model can read.
  // Where another thread sets `stop`, a call ends after a batch with Error(kRuntime).
  std::vector<FilledText> Fill(std::span<const std::string> texts, int64_t top = 5,
                               const std::atomic<bool>* stop = nullptr) const;
  std::vector<TextVector> Embed(std::span<const std::string> texts,
                                const EmbeddingOptions& options = {},
                                const std::atomic<bool>* stop = nullptr) const;

  // The same of pictures, each a PNG or JPEG file's bytes, with a model that reads pictures. Throws
  // Error(kInput) naming the first that is none, by `names` or its number.
  std::vector<TextVector> EmbedPictures(std::span<const std::string> files,
                                        std::span<const std::string> names = {},
                                        const EmbeddingOptions& options = {},
                                        const std::atomic<bool>* stop = nullptr) const;
  // The same of pictures of the model's size: pixels row by row, channels side by side.
  std::vector<TextVector> EmbedPixels(std::span<const std::vector<uint8_t>> pictures,
                                      const EmbeddingOptions& options = {},
                                      const std::atomic<bool>* stop = nullptr) const;

  bool reads_pictures() const;
  int64_t width() const;  // of a vector
  std::string instruction_set() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_TEXT_ENCODER_H_
