// What Prometheus reads at /metrics.
#ifndef ATTEND_SERVE_METRICS_H_
#define ATTEND_SERVE_METRICS_H_

#include <cstdint>
#include <memory>
#include <string>

namespace attend {

class ModelStore;

// Safe to use from many threads. Labels come from a closed set: routes, statuses, models.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  void Answered(const std::string& route, int status, double seconds);
  // Items that ran, sentences, prompts or texts, with the tokens that were read and written.
  void Ran(const std::string& model, int64_t items, int64_t read, int64_t written);
  // Protected spans of the sources, and those of them that the best hypotheses have exactly once.
  void Protected(const std::string& model, int64_t spans, int64_t kept);
  // Characters of the sources that the vocabulary lacks.
  void Unknown(const std::string& model, int64_t characters);
  void Reloaded(const std::string& model, bool failed);
  // Everything, with the queues as they are now.
  std::string Text(const ModelStore& models);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_METRICS_H_
