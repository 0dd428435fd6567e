// Translates sentences with a model directory. Start here. At the end: writes down what is said in
// recordings.
//
// A Translator is immutable and safe to use from many threads. Concurrent calls share its threads
// and batches, so a short call does not wait for a long one. A sentence always gives the same text
// and score, bit for bit: other calls and the number of threads change nothing. After a fork, the
// child's first call starts its own threads.
#ifndef ATTEND_TRANSLATOR_H_
#define ATTEND_TRANSLATOR_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/loaded_model.h"
#include "attend/running.h"

namespace attend {

class TermFinder;

// What a Translator is made with.
struct TranslatorOptions {
  // 0: one for each processor. They share the sentences of all calls; when only one sentence is
  // left, they share its large matrix products.
  int threads = 0;
  WeightType type = WeightType::kStored;
  // true: copies exactly the spans that training protected (numbers, URLs ...). false: translates
  // them like other text. No effect on a model that was trained without protection.
  bool protect = true;
  std::string shortlist;  // a file of `attend shortlist`; empty: the whole vocabulary
  // A model directory of classification that reads `source ||| translation` and whose labels are
  // numbers from 0 to 100: what it says is the quality of outputs. Empty: the model's
  // probabilities.
  std::string estimator;
  std::string instruction_set;  // empty: what ATTEND_ISA names, or the best of the machine
};

// A term and one way to write it in a translation.
struct GlossaryTerm {
  std::string source, target;
  bool ignore_case = false;     // the source is found in any letter case
  bool inflect_source = false;  // the source's last word may have up to 3 letters more
  bool inflect = false;         // so may the target's: it is a stem
  bool keep = false;            // the source is copied as it stands in the text; `target` is empty
};

// Terms that translations must hold. Several terms of one source are alternatives: any of them
// will do. Immutable; safe to use from many threads.
class Glossary {
 public:
  // Throws Error(kInput) that begins with `where` and names the term for one that is empty, or has
  // both or neither of `target` and `keep`.
  explicit Glossary(std::vector<GlossaryTerm> terms, const std::string& where = "glossary");
  ~Glossary();
  Glossary(const Glossary&) = delete;
  Glossary& operator=(const Glossary&) = delete;
  // A file with a term a line: source, target and flags (ignore-case, inflect-source, inflect,
  // keep), divided by tabs, flags by commas. Lines that begin with # and empty ones say nothing.
  // Throws Error(kInput) that names file and line.
  static std::shared_ptr<const Glossary> Load(const std::string& path);

  const std::vector<GlossaryTerm>& terms() const;
  // For attend's own use (text/term_finder.h).
  const TermFinder& finder() const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

// Where terms are found, and how long a source with its terms may be for a model that reads them.
struct TermLimits {
  int64_t instruction_bytes = 0;  // that begin each text and tell a model its task: no terms there
  int64_t max_source_tokens = 0;  // 0: as many as the model takes
};

// By what drawn outputs are compared with each other.
enum class MbrUtility { kNone, kChrf, kBleu };

struct TranslationOptions {
  int64_t beam_size = 4;
  double length_penalty = 0.6;  // alpha of ((5 + length) / 6)^alpha
  int64_t n_best = 1;           // at most beam_size
  // Above 1: so many groups share the beam, and each avoids what those before it write (diverse
  // beam search, Vijayakumar et al. 2018); a divisor of beam_size. Hypotheses are the best of each
  // group first.
  int64_t beam_groups = 1;
  double diversity = 0.5;  // what a token costs, in log-probability, for each time it is taken
  // Draws outputs, n_best of them and at random, in place of a beam search. They come in the order
  // in which they are drawn and may be equal; a shortlist does not limit them.
  bool sample = false;
  double temperature = 1;  // logits are divided by it
  int64_t top_k = 0;       // draw from so many likeliest tokens; 0: all
  double top_p = 1;        // draw from the fewest likeliest with at least this probability together
  int64_t seed = 1;        // what is drawn follows from it and the source
  // Draws mbr_samples outputs and gives the n_best that are most like all of them (minimum Bayes
  // risk, Eikema and Aziz 2020). Their scores are mean utilities, 0 to 100.
  MbrUtility mbr = MbrUtility::kNone;
  int64_t mbr_samples = 32;
  int64_t no_repeat_ngram = 0;  // so many tokens in a row occur at most once; 0: may be repeated
  // At least 1. Log-probabilities of tokens that the output has already are multiplied by it, as
  // scores say and log-probabilities do not (after Keskar et al. 2019, section 4.1); logits, where
  // outputs are drawn.
  double repetition_penalty = 1;
  // beta of what is added to the score, beta * sum over source tokens of log(min(1, the attention
  // that the output's steps gave the token)) (Wu et al. 2016, section 7); the attention is the mean
  // of the heads of ModelConfig::AlignmentLayer(). 0: nothing is.
  double coverage_penalty = 0;
  // Above 0: at each step a continuation whose log-probability is more than this below the best
  // one's is dropped (Freitag and Al-Onaizan 2017).
  double beam_threshold = 0;
  // Above 0: a search ends once each of the n best is finished and this many times as probable as
  // every hypothesis that lives; penalties of coverage and repetition count as lost probability.
  // From 1 on, with length_penalty 0, results stay the same.
  double early_exit = 0;
  // Tokens of output, eos included. 0: those of the input plus 50, or more if outputs in training
  // were longer, and never less than min_length needs.
  int64_t max_length = 0;
  int64_t min_length = 0;      // least number of visible tokens before eos
  bool allow_unknown = false;  // the output may contain the unknown token
  // Translations hold its terms, as often as the text has them, where the model can write them
  // within max_length: a beam search with constraints. A model that was taught to read terms gets
  // them with the text. Not for outputs that are drawn, nor for ids.
  std::shared_ptr<const Glossary> glossary;
  bool scores = true;  // false: a greedy search leaves them 0 and is a little faster
  bool alignments = false;
  int64_t alignment_layer = 0;  // the decoder layer, from 1; 0: ModelConfig::AlignmentLayer()
  // Hypotheses say how sure the model, of several the first one, is of them and of their words.
  // Each output is read once more.
  bool quality = false;
  // Sentences of the call that run together on a thread at most.
  int64_t batch_sentences = 1024;
  // Tokens of input that run together on a thread; a sentence counts as at least 16.
  int64_t batch_tokens = 2048;
  // If given, the time of the searches is added to it while the call runs, including that of other
  // calls.
  WorkSeconds* work = nullptr;
  // Where another thread sets it, the call ends after a step with Error(kRuntime).
  const std::atomic<bool>* stop = nullptr;
};

// Word `target` of the output goes back to word `source` of the input; white-space words from 0.
struct AlignmentLink {
  int64_t source = 0;
  int64_t target = 0;
  bool operator==(const AlignmentLink&) const = default;
};

// Bytes of a text.
struct ProtectedPart {
  size_t begin = 0, end = 0;
};

// A word with less quality is in doubt.
inline constexpr double kDoubtfulWord = 30;

struct Hypothesis {
  std::string text;                      // empty for a model without vocabulary
  std::vector<int32_t> ids;              // without bos and eos
  double score = 0;                      // log_probability / ((5 + length) / 6)^length_penalty
  double log_probability = 0;            // natural; both are 0 of an unscored greedy search
  bool finished = true;                  // false: cut at max_length
  std::vector<AlignmentLink> alignment;  // with options.alignments
  // With options.quality, 0 to 100: the geometric mean of the probabilities that the model gives
  // the output's tokens, in percent, or with an estimator the mean of its labels by their
  // probabilities; and of each white-space word of the text the model's probability.
  double quality = 0;
  std::vector<double> word_quality;
  // Protected spans in the text, and how many of them occur in the output exactly once.
  int64_t protected_spans = 0, protected_kept = 0;
  // Terms of the glossary in the text, each time they stand there, and how many the output has.
  int64_t terms = 0, terms_kept = 0;

  // Places of the words, from 0, whose quality is below kDoubtfulWord.
  std::vector<int64_t> DoubtfulWords() const;
};

// The n best hypotheses, best first, with different texts: at least one, and fewer than n_best if
// the search found fewer. A text without a letter or digit is its own only translation, without ids
// and with score 0. Any other text has a visible translation, unless it was cut off. If options and
// vocabulary allow no output at all, the only hypothesis is empty and unfinished, with score
// -infinity.
struct Translation {
  std::vector<Hypothesis> hypotheses;
  // A sentence of the text was longer than an input may be, and was divided between clauses, words
  // or characters. Translator itself does not divide.
  bool divided = false;
  // Characters of the text that the vocabulary has no token for, in order, after normalization. The
  // model can't tell them apart, and its output lacks them.
  std::u32string unknown_characters;

  // The hypothesis at this rank, or the last one if there are fewer.
  const Hypothesis& AtRank(size_t rank) const {
    return hypotheses[std::min(rank, hypotheses.size() - 1)];
  }
};

class Translator {
 public:
  // Throws Error(kInput) for a file that can't be read or is not of this model and an estimator
  // with other labels, Error(kUsage) for f32 of a model stored as int8 and an estimator that does
  // not classify text.
  static std::unique_ptr<Translator> Load(const std::string& directory,
                                          const TranslatorOptions& options = {});
  // Of several models: as the constructor for them says.
  static std::unique_ptr<Translator> Load(std::span<const std::string> directories,
                                          const std::vector<double>& weights = {},
                                          const TranslatorOptions& options = {});
  Translator(std::shared_ptr<const Model> model, const TranslatorOptions& options);
  // The type and instruction set are those that the model was loaded with; the options' mean
  // nothing.
  Translator(std::shared_ptr<const LoadedModel> loaded, const TranslatorOptions& options);
  // Several models, each with a weight, search together: what may come next has the weighted mean
  // of their log-probabilities, sum w_m log P_m / sum w_m, which is not normalised again. So a
  // hypothesis' log-probability is the mean of those that the models give it. No weights: all have
  // the same one. The first model gives vocabularies, alignments and quality. Throws Error(kUsage)
  // where tasks or vocabularies differ, or with a shortlist.
  Translator(std::vector<std::shared_ptr<const LoadedModel>> models, std::vector<double> weights,
             const TranslatorOptions& options);
  ~Translator();
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  // One Translation for each text, in order. Malformed UTF-8 is repaired. The outputs begin with
  // `prefixes`, where given, as the model writes them: whole words, one text for each or none at
  // all. Throws Error(kUsage) for invalid options or a model without vocabulary, Error(kInput) for
  // a text that has more tokens than learned positions.
  std::vector<Translation> Translate(std::span<const std::string> texts,
                                     const TranslationOptions& options = {},
                                     std::span<const std::string> prefixes = {}) const;
  // The same for texts that are encoded already: `sources` holds Encode of each.
  std::vector<Translation> TranslateEncoded(std::span<const std::string> texts,
                                            std::span<const std::vector<int32_t>> sources,
                                            const TranslationOptions& options = {},
                                            std::span<const std::string> prefixes = {},
                                            const TermLimits& limits = {}) const;
  // What the output may have after the words of `prefix`, each with the best rest: `count`
  // hypotheses at most (1 to 64), best first, which all differ in the next word; one where no word
  // may follow. Throws as Translate.
  Translation Alternatives(const std::string& text, const std::string& prefix, int64_t count,
                           const TranslationOptions& options = {}) const;
  // The same from ids without bos and eos; the outputs begin with `prefixes`, where given. Throws
  // Error(kUsage) for what needs texts: mbr, a glossary, an estimator's quality.
  std::vector<Translation> TranslateIds(std::span<const std::vector<int32_t>> sources,
                                        const TranslationOptions& options = {},
                                        std::span<const std::vector<int32_t>> prefixes = {}) const;

  // Ids of a text, without eos, as Translate would encode it.
  std::vector<int32_t> Encode(const std::string& text) const;
  // The most ids that a text may have, without eos: what the encoder's learned positions reach.
  int64_t max_input_tokens() const;
  // Parts of a text that are copied exactly, in order. Do not divide a text inside one.
  std::vector<ProtectedPart> ProtectedParts(const std::string& text) const;
  // The instruction set that runs.
  std::string instruction_set() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What a Transcriber is made with.
struct TranscriberOptions {
  int threads = 0;  // 0: one for each processor
  WeightType type = WeightType::kStored;
  std::string instruction_set;  // empty: what ATTEND_ISA names, or the best of the machine
};

struct TranscriptionOptions {
  int64_t beam_size = 4;
  double length_penalty = 0.6;  // alpha of ((5 + length) / 6)^alpha
  int64_t n_best = 1;           // at most beam_size
  // Tokens of output, eos included. 0: the rows that the encoder makes of a segment plus 50.
  int64_t max_length = 0;
  // A recording that is longer than this, or than the model reads, is cut at silence into segments.
  // 0: than the longest recording of the model's training, or 30 seconds where that is not known.
  double max_seconds = 0;
  double min_silence = 0.3;  // seconds; shorter ones are part of speech
  double silence_threshold =
      -40;                      // dB; quieter than the loudest parts by more than this is silence
  double silence_margin = 0.1;  // seconds of silence that stay around speech
  // Find out when each word of the best hypothesis is said, from cross-attention.
  bool word_times = false;
  // Where another thread sets it, the call ends after a step with Error(kRuntime).
  const std::atomic<bool>* stop = nullptr;
};

// One channel of sound; samples are mostly between -1 and 1.
struct RecordingSamples {
  std::span<const float> samples;
  int64_t rate = 16000;  // samples a second; others than the model's are resampled
};

// A white-space word of a text and when it is said, in seconds of the recording.
struct TimedWord {
  std::string text;
  double begin = 0, end = 0;
  bool operator==(const TimedWord&) const = default;
};

// What is said in a part of a recording that the model reads at once; seconds are of the recording.
struct TranscriptSegment {
  double begin = 0, end = 0;
  std::vector<Hypothesis> hypotheses;  // the n best, best first, with different texts
  std::vector<TimedWord> words;        // of the best, in order; with options.word_times
};

struct Transcription {
  // The n best, best first. Of several segments each is what the segments' hypotheses of that rank
  // give together: texts joined by spaces, sums of scores and log-probabilities.
  std::vector<Hypothesis> hypotheses;
  std::vector<TranscriptSegment>
      segments;        // in order; none of a silent recording, whose text is ""
  double seconds = 0;  // of the recording
  std::string error;   // why a file has no hypotheses; else empty
};

struct RecordingEmbeddingOptions {
  bool normalize = false;  // to length 1
  // Where another thread sets it, the call ends with Error(kRuntime).
  const std::atomic<bool>* stop = nullptr;
};

struct RecordingVector {
  std::vector<float> values_D;  // none of a file that can't be read
  std::string error;            // why; else empty
};

// Immutable and safe to use from many threads. A recording always gives the same text, score and
// vector, bit for bit.
class Transcriber {
 public:
  // Throws Error(kInput) for a file that can't be read, Error(kUsage) for a model of another task.
  static std::unique_ptr<Transcriber> Load(const std::string& directory,
                                           const TranscriberOptions& options = {});
  Transcriber(std::shared_ptr<const Model> model, const TranscriberOptions& options);
  // The type and instruction set are those that the model was loaded with.
  Transcriber(std::shared_ptr<const LoadedModel> loaded, int threads);
  ~Transcriber();
  Transcriber(const Transcriber&) = delete;
  Transcriber& operator=(const Transcriber&) = delete;

  // One for each recording, in order. Throws Error(kUsage) for invalid options, Error(kInput) that
  // names a recording which is empty.
  std::vector<Transcription> Transcribe(std::span<const RecordingSamples> recordings,
                                        const TranscriptionOptions& options = {}) const;
  // Of files: WAV, FLAC, Opus in Ogg, AIFF and AU. One that can't be read has an error and
  // does not keep others from being read. Ten minutes of them are in memory together, or one file.
  std::vector<Transcription> TranscribeFiles(std::span<const std::string> paths,
                                             const TranscriptionOptions& options = {}) const;

  // The mean of the encoder's rows over what is sound in a file, all segments of a long one,
  // without the silence that fills it up. Errors are as TranscribeFiles has them; a silent file has
  // one, too. Throws Error(kRuntime) for numbers that are not finite.
  std::vector<RecordingVector> EmbedFiles(std::span<const std::string> paths,
                                          const RecordingEmbeddingOptions& options = {}) const;

  int64_t width() const;  // of a vector
  int64_t rate() const;   // samples a second that the model reads
  std::string instruction_set() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_TRANSLATOR_H_
