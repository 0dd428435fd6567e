#include "attend/tagger.h"

#include <utility>

#include "model/model_directory.h"
#include "tasks/encoder_runner.h"
#include "tasks/tagging/label_transitions.h"
#include "text/entity_labels.h"
#include "text/text_words.h"
#include "text/utf8.h"
#include "text/word_ids.h"

namespace attend {
namespace {

constexpr EncoderRunner::Purpose kTagging = {"tagging", HeadKind::kLabels, /*of_tokens=*/true};

// A text and where its words stand.
struct ReadText {
  std::string text;
  std::vector<TextWord> words;

  std::string Part(size_t begin, size_t end) const { return text.substr(begin, end - begin); }
};

TaggedText WordsOf(const ReadText& read) {
  TaggedText tagged;
  const std::string_view text = read.text;
  size_t at = 0;
  int64_t characters = 0;
  for (const auto& [begin, end] : read.words) {
    const int64_t first = characters + CountCodePoints(text.substr(at, begin - at));
    characters = first + CountCodePoints(text.substr(begin, end - begin));
    at = end;
    tagged.words.push_back({read.Part(begin, end), "", first, characters, 0});
  }
  return tagged;
}

}  // namespace

struct Tagger::Impl {
  Impl(std::shared_ptr<const LoadedModel> loaded, int threads)
      : runner(std::move(loaded), kTagging, threads),
        transitions(TransitionsOf(runner.loaded().config(), runner.loaded().model().tensors)) {}

  std::vector<TaggedText> Label(std::span<const ReadText> texts,
                                const std::atomic<bool>* stop) const;
  void LabelOne(const ReadText& read, std::span<const float> scores_TL, TaggedText* tagged) const;

  EncoderRunner runner;
  LabelTransitions transitions;
};

std::vector<TaggedText> Tagger::Impl::Label(std::span<const ReadText> texts,
                                            const std::atomic<bool>* stop) const {
  std::vector<TaggedText> tagged;
  std::vector<EncoderInput> inputs;
  std::vector<size_t> text_of;  // by input
  for (size_t i = 0; i < texts.size(); ++i) {
    tagged.push_back(WordsOf(texts[i]));
    std::vector<std::string> words;
    for (const LabelledText& word : tagged[i].words) words.push_back(word.text);
    for (WordPart& part : EncodeWords(runner.loaded().source(), words, runner.max_tokens())) {
      if (part.first_tokens.empty()) continue;
      inputs.push_back({std::move(part.ids), std::move(part.first_tokens)});
      text_of.push_back(i);
    }
  }
  std::vector<std::vector<float>> found(inputs.size());  // [rows, L]
  const auto take = [&](size_t input, std::span<const float> logits_L) {
    found[input].insert(found[input].end(), logits_L.begin(), logits_L.end());
  };
  runner.Run(inputs, take, stop);
  std::vector<std::vector<float>> scores(texts.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    scores[text_of[i]].insert(scores[text_of[i]].end(), found[i].begin(), found[i].end());
  for (size_t i = 0; i < texts.size(); ++i) LabelOne(texts[i], scores[i], &tagged[i]);
  return tagged;
}

void Tagger::Impl::LabelOne(const ReadText& read, std::span<const float> scores_TL,
                            TaggedText* tagged) const {
  if (tagged->words.empty()) return;
  const std::vector<int32_t> path = BestLabels(scores_TL, transitions).labels;
  const LabelPosterior posterior(scores_TL, transitions);
  std::vector<std::string> names;
  for (size_t word = 0; word < path.size(); ++word) {
    LabelledText& own = tagged->words[word];
    own.label = runner.labels()[path[word]];
    own.probability = posterior.Probability(static_cast<int64_t>(word), {&path[word], 1});
    names.push_back(own.label);
  }
  if (runner.loaded().config().label_scheme == LabelScheme::kNone) return;
  for (const Entity& entity : EntitiesOf(names)) {
    const auto labels = std::span(path).subspan(entity.begin, entity.end - entity.begin);
    tagged->entities.push_back(
        {read.Part(read.words[entity.begin].begin, read.words[entity.end - 1].end), entity.type,
         tagged->words[entity.begin].begin, tagged->words[entity.end - 1].end,
         posterior.Probability(entity.begin, labels)});
  }
}

std::unique_ptr<Tagger> Tagger::Load(const std::string& directory, const TaggerOptions& options) {
  return std::make_unique<Tagger>(LoadModel(directory), options);
}

Tagger::Tagger(std::shared_ptr<const Model> model, const TaggerOptions& options)
    : Tagger(LoadWith(std::move(model), options), options.threads) {}

Tagger::Tagger(std::shared_ptr<const LoadedModel> loaded, int threads)
    : impl_(std::make_unique<Impl>(std::move(loaded), threads)) {}

Tagger::~Tagger() = default;

std::vector<TaggedText> Tagger::Tag(std::span<const std::string> texts,
                                    const std::atomic<bool>* stop) const {
  std::vector<ReadText> read;
  for (const std::string& text : texts) {
    read.push_back({RepairUtf8(text), {}});
    read.back().words = WordsOfText(read.back().text);
  }
  return impl_->Label(read, stop);
}

std::vector<TaggedText> Tagger::TagWords(std::span<const std::vector<std::string>> sentences,
                                         const std::atomic<bool>* stop) const {
  std::vector<ReadText> read(sentences.size());
  for (size_t i = 0; i < sentences.size(); ++i) {
    std::vector<std::string> words;
    for (const std::string& word : sentences[i]) words.push_back(RepairUtf8(word));
    read[i].text = JoinWords(words, &read[i].words);
  }
  return impl_->Label(read, stop);
}

const std::vector<std::string>& Tagger::labels() const { return impl_->runner.labels(); }

std::string Tagger::instruction_set() const { return impl_->runner.loaded().weights.kernels.name; }

}  // namespace attend
