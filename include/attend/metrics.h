// Scores of translations: BLEU, chrF, chrF++ and TER, equal to sacreBLEU 2.6.0's.
//
// attend computes every figure itself. Signatures are spelt as sacreBLEU 2.6.0 spells them, its
// version included, because that names the rules that were followed. Texts are UTF-8; malformed
// bytes count as U+FFFD. Metrics are immutable and safe to use from many threads. Functions throw
// Error(kUsage) where the numbers of lines differ or there are none.
#ifndef ATTEND_METRICS_H_
#define ATTEND_METRICS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// Sufficient statistics of one sentence. Those of a corpus are their sums, element by element.
using MetricStatistics = std::vector<int64_t>;

class Metric {
 public:
  virtual ~Metric() = default;
  // "BLEU", "chrF2++", "TER".
  virtual std::string Name() const = 0;
  // Precondition: at least one reference.
  virtual MetricStatistics Statistics(std::string_view hypothesis,
                                      const std::vector<std::string_view>& references) const = 0;
  virtual double Score(const MetricStatistics& sums) const = 0;
  // What stands behind the score, for people; "" where there is nothing to add.
  virtual std::string Details(const MetricStatistics& sums) const;
  // The settings after the number of references and before the version: "case:mixed|eff:no|...".
  virtual std::string Settings() const = 0;

  // "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0". `references`: of each text; 0:
  // not all have as many, which is "nrefs:var".
  virtual std::string Signature(size_t references) const;
};

// kAuto is zh, char or 13a, by language. The last four tokenize with a SentencePiece model.
enum class BleuTokenizer {
  kAuto,
  k13a,
  kIntl,
  kChar,
  kZh,
  kNone,
  kFlores101,
  kFlores200,
  kSpbleu1k,
  kSpm
};
enum class BleuSmoothing { kExp, kFloor, kAddK, kNone };

struct BleuOptions {
  BleuTokenizer tokenize = BleuTokenizer::kAuto;
  bool lowercase = false;
  BleuSmoothing smooth_method = BleuSmoothing::kExp;
  double smooth_value = -1;      // below 0: the method's own, 0.1 for floor and 1 for add-k
  bool effective_order = false;  // leave out orders the hypothesis is too short for
  std::string language;          // of the references: "zh", "zh-CN", "zho_Hans"; "": not known
  std::string tokenize_model;    // a SentencePiece model's file
};

class PieceTokenizer;

// Papineni et al. 2002, with n-grams up to 4.
class Bleu : public Metric {
 public:
  // Throws Error(kConfiguration) if the tokenizer and tokenize_model do not fit together, and
  // Error(kInput) if that file is not a SentencePiece model.
  explicit Bleu(const BleuOptions& options = {});
  std::string Name() const override { return "BLEU"; }
  // Hypothesis length, reference length, 4 counts of matches, 4 counts of n-grams.
  MetricStatistics Statistics(std::string_view hypothesis,
                              const std::vector<std::string_view>& references) const override;
  double Score(const MetricStatistics& sums) const override;
  std::string Details(const MetricStatistics& sums) const override;
  std::string Settings() const override;

 private:
  BleuOptions options_;  // `tokenize` is not kAuto
  std::shared_ptr<const PieceTokenizer> pieces_;
};

struct ChrfOptions {
  int64_t char_order = 6;
  int64_t word_order = 0;  // 2 makes it chrF++
  int64_t beta = 2;
  bool lowercase = false;
  bool whitespace = false;     // white space counts as characters
  bool eps_smoothing = false;  // every order counts, absent ones as almost 0
};

// Popović 2015 and 2017.
class Chrf : public Metric {
 public:
  explicit Chrf(const ChrfOptions& options = {}) : options_(options) {}
  std::string Name() const override;
  // Per order: n-grams of the hypothesis, of the reference, in both.
  MetricStatistics Statistics(std::string_view hypothesis,
                              const std::vector<std::string_view>& references) const override;
  double Score(const MetricStatistics& sums) const override;
  std::string Settings() const override;

 private:
  ChrfOptions options_;
};

struct TerOptions {
  bool normalized = false;  // split off punctuation, resolve XML escapes
  bool no_punct = false;
  bool asian_support = false;  // treat CJK text too, where either of the above is on
  bool case_sensitive = false;
};

// Snover et al. 2006, with Tercom's heuristics as sacreBLEU has them. Lower is better.
class Ter : public Metric {
 public:
  explicit Ter(const TerOptions& options = {}) : options_(options) {}
  std::string Name() const override { return "TER"; }
  // Edits against the nearest reference, 720,720 times the references' mean number of words: a
  // whole number for up to 16 references.
  MetricStatistics Statistics(std::string_view hypothesis,
                              const std::vector<std::string_view>& references) const override;
  double Score(const MetricStatistics& sums) const override;
  std::string Settings() const override;

 private:
  TerOptions options_;
};

// One set of references is one text per line of the hypotheses.
using ReferenceSets = std::vector<std::vector<std::string>>;

// What an empty line of a set is: a reference that has no words; or none at all, so that texts may
// have different numbers of references, as sacreBLEU has them where it is given None.
enum class EmptyReferences { kText, kMissing };

// Throws Error(kInput) for a text whose references are all missing.
std::vector<MetricStatistics> CorpusStatistics(const Metric& metric,
                                               const std::vector<std::string>& hypotheses,
                                               const ReferenceSets& references,
                                               EmptyReferences empty = EmptyReferences::kText);
// How many references each text has, for a signature; 0: not all have as many.
size_t CountReferences(const ReferenceSets& references, EmptyReferences empty);
MetricStatistics SumStatistics(const std::vector<MetricStatistics>& sentences);
double CorpusScore(const Metric& metric, const std::vector<std::string>& hypotheses,
                   const ReferenceSets& references);

// Corpus scores against one reference a line.
double CorpusBleu(const std::vector<std::string>& hypotheses,
                  const std::vector<std::string>& references, const BleuOptions& options = {});
double CorpusChrf(const std::vector<std::string>& hypotheses,
                  const std::vector<std::string>& references, const ChrfOptions& options = {});

struct BootstrapOptions {
  int64_t samples = 1000;
  uint64_t seed = 12345;
};

struct BootstrapResult {
  double p_value = 1;     // of a difference this large if the systems were equally good
  double mean = 0;        // of the system's score over the samples
  double confidence = 0;  // half of the 95 % interval around it
  double baseline_mean = 0;
  double baseline_confidence = 0;
};

// Paired bootstrap resampling (Koehn 2004) of a system against a baseline, from the statistics of
// the same sentences.
BootstrapResult PairedBootstrap(const Metric& metric, const std::vector<MetricStatistics>& baseline,
                                const std::vector<MetricStatistics>& system,
                                const BootstrapOptions& options = {});

// exp(-log_probability / tokens), from a sum of natural logarithms. Precondition: tokens > 0.
double Perplexity(double log_probability, int64_t tokens);

}  // namespace attend

#endif  // ATTEND_METRICS_H_
