#include "serve/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <mutex>
#include <vector>

#include "serve/model_store.h"

namespace attend {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;

const prometheus::Histogram::BucketBoundaries kSeconds = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};

}  // namespace

struct Metrics::Impl {
  std::mutex mutex;                                       // of shown
  std::vector<std::map<std::string, std::string>> shown;  // the models of the last text
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& requests =
      BuildCounter().Name("attend_requests_total").Help("Requests answered.").Register(registry);
  prometheus::Family<prometheus::Histogram>& seconds =
      BuildHistogram()
          .Name("attend_request_seconds")
          .Help("Time from the last byte of a request to its answer.")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& sentences =
      BuildCounter()
          .Name("attend_sentences_total")
          .Help(
              "Sentences translated, prompts written on, or texts tagged, classified, filled or "
              "embedded.")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& pieces =
      BuildCounter()
          .Name("attend_pieces_total")
          .Help("Pieces read (side source) and written (side target).")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& spans =
      BuildCounter()
          .Name("attend_protected_spans_total")
          .Help("Protected spans of sources (result kept or lost).")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& unknown =
      BuildCounter()
          .Name("attend_unknown_characters_total")
          .Help("Characters of sources that the vocabulary lacks.")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& reloads =
      BuildCounter().Name("attend_reloads_total").Help("Models loaded again.").Register(registry);
  prometheus::Family<prometheus::Gauge>& waiting =
      BuildGauge()
          .Name("attend_waiting_sentences")
          .Help("Sentences, prompts or texts that wait for a batch.")
          .Register(registry);
  prometheus::Family<prometheus::Gauge>& live = BuildGauge()
                                                    .Name("attend_live_sentences")
                                                    .Help("Sentences, prompts or texts in batches.")
                                                    .Register(registry);
  prometheus::Family<prometheus::Gauge>& fill = BuildGauge()
                                                    .Name("attend_batch_fill")
                                                    .Help("Part of the batches' places in use.")
                                                    .Register(registry);
};

Metrics::Metrics() : impl_(new Impl) {}
Metrics::~Metrics() = default;

void Metrics::Answered(const std::string& route, int status, double seconds) {
  impl_->requests.Add({{"route", route}, {"status", std::to_string(status)}}).Increment();
  impl_->seconds.Add({{"route", route}}, kSeconds).Observe(seconds);
}

void Metrics::Ran(const std::string& model, int64_t items, int64_t read, int64_t written) {
  impl_->sentences.Add({{"model", model}}).Increment(static_cast<double>(items));
  impl_->pieces.Add({{"model", model}, {"side", "source"}}).Increment(static_cast<double>(read));
  impl_->pieces.Add({{"model", model}, {"side", "target"}}).Increment(static_cast<double>(written));
}

void Metrics::Protected(const std::string& model, int64_t spans, int64_t kept) {
  if (spans == 0) return;
  impl_->spans.Add({{"model", model}, {"result", "kept"}}).Increment(static_cast<double>(kept));
  impl_->spans.Add({{"model", model}, {"result", "lost"}})
      .Increment(static_cast<double>(spans - kept));
}

void Metrics::Unknown(const std::string& model, int64_t characters) {
  impl_->unknown.Add({{"model", model}}).Increment(static_cast<double>(characters));
}

void Metrics::Reloaded(const std::string& model, bool failed) {
  impl_->reloads.Add({{"model", model}, {"result", failed ? "failed" : "done"}}).Increment();
}

std::string Metrics::Text(const ModelStore& models) {
  const std::lock_guard lock(impl_->mutex);
  for (const auto& labels : impl_->shown) {  // a model that is gone has no queue
    for (auto* family : {&impl_->waiting, &impl_->live, &impl_->fill})
      family->Remove(&family->Add(labels));
  }
  impl_->shown.clear();
  for (const auto& model : models.models()) {
    const std::map<std::string, std::string> labels = {{"model", model->name()}};
    impl_->shown.push_back(labels);
    const auto live = static_cast<double>(model->live());
    impl_->waiting.Add(labels).Set(static_cast<double>(model->waiting()));
    impl_->live.Add(labels).Set(live);
    impl_->fill.Add(labels).Set(live / static_cast<double>(model->capacity()));
  }
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace attend
