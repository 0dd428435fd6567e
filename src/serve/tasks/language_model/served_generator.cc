#include "serve/tasks/language_model/served_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tasks/forced_decoding.h"
#include "text/newlines.h"

namespace attend {
namespace {

// Of prompts and outputs that run together on a thread.
constexpr int64_t kBatchTokens = 65536;

class QueuedPrompts : public SharedQueue {
 public:
  QueuedPrompts(const Weights* weights, RequestQueue* queue, int workers)
      : weights_(weights), queue_(queue), scoring_(workers) {}

  const SearchInput* Next(const SearchLoad& load) override {
    auto* prompt = static_cast<JobPrompt*>(queue_->Next(load));
    if (prompt != nullptr) prompt->worker = load.worker;
    return prompt;
  }
  bool Wanted(const SearchInput& input) override { return RequestQueue::Wanted(Of(input)); }
  void Done(const SearchInput& input, std::vector<SearchResult> results) override {
    JobPrompt& prompt = Of(input);
    const CompletionOptions& asked = JobOf(prompt).asked;
    std::vector<Generation> outputs = prompt.growing->End(std::move(results));
    if (asked.no_output) outputs.assign(outputs.size(), Generation());
    std::vector<std::vector<ScoredToken>> scored;
    for (const Generation& output : outputs) {
      if (asked.logprobs >= 0) scored.push_back(Score(prompt, output, asked));
    }
    queue_->Done(prompt, [&] {
      prompt.outputs = std::move(outputs);
      prompt.scored = std::move(scored);
    });
  }
  bool Grew(const SearchInput& input, const Growth& growth) override {
    JobPrompt& prompt = Of(input);
    const CompletionOptions& asked = JobOf(prompt).asked;
    if (asked.no_output || (!asked.stream && asked.generation.stop.empty())) return true;
    if (asked.stream && asked.logprobs >= 0) {
      prompt.fresh[growth.sample].push_back(
          {growth.ids.back(), growth.token_log_probabilities.back(), {}});
    }
    return prompt.growing->Grow(growth);
  }
  void Dropped(const SearchInput& input) override { queue_->Dropped(Of(input)); }
  void Failed(const SearchInput& input, const std::exception_ptr& error) override {
    queue_->Failed(Of(input), error);
  }

 private:
  static CompletionJob& JobOf(const JobItem& item) {
    return static_cast<CompletionJob&>(*item.job);
  }
  static JobPrompt& Of(const SearchInput& input) {
    const auto& prompt = static_cast<const JobPrompt&>(input);
    return JobOf(prompt).prompts[prompt.index];
  }

  // By a pass over the whole text where the search's own numbers are not enough.
  std::vector<ScoredToken> Score(const JobPrompt& prompt, const Generation& output,
                                 const CompletionOptions& asked) {
    std::vector<ScoredToken> scored;
    if (!asked.echo && asked.logprobs == 0) {
      for (size_t t = 0; t < output.ids.size(); ++t) {
        scored.push_back({output.ids[t], output.token_log_probabilities[t], {}});
      }
      return scored;
    }
    std::vector<int32_t> read = prompt.prompt;
    read.insert(read.end(), output.ids.begin(), output.ids.end());
    const int64_t context = asked.echo ? 0 : std::ssize(prompt.ids());
    ForcedDecoding& decoding = scoring_[prompt.worker];
    decoding.Start(*weights_, std::vector<EncoderItem>(1), {});
    decoding.Add(0, read, context);
    const Candidate* answer = decoding.Run(*weights_, {}, asked.logprobs).data();
    for (int64_t t = context + 1; t < std::ssize(read); ++t) {
      const Candidate* best = answer + 1;
      scored.push_back({read[t], answer->log_probability, {best, best + asked.logprobs}});
      answer = best + asked.logprobs;
    }
    return scored;
  }

  const Weights* weights_;
  RequestQueue* queue_;
  std::vector<ForcedDecoding> scoring_;  // by worker
};

}  // namespace

std::vector<JobItem*> CompletionJob::Items() {
  std::vector<JobItem*> items;
  for (JobPrompt& prompt : prompts) items.push_back(&prompt);
  return items;
}

int64_t CompletionJob::PromptTokens() const {
  int64_t tokens = 0;
  for (const JobPrompt& prompt : prompts) tokens += std::ssize(prompt.ids());
  return tokens;
}

int64_t CompletionJob::OutputTokens() const {
  int64_t tokens = 0;
  for (const JobPrompt& prompt : prompts) {
    for (const Generation& output : prompt.outputs) tokens += std::ssize(output.ids);
  }
  return tokens;
}

ServedGenerator::ServedGenerator(const ModelToServe& model, const ServeOptions& options,
                                 WorkPool* pool)
    : ServedModel(model, {kCompletionsRoute}),
      limit_(options),
      queue_(options.queue_sentences, {options.translation.batch_sentences, kBatchTokens}, pool),
      prompts_(std::make_unique<QueuedPrompts>(&loaded()->weights, &queue_, pool->size())) {
  vocabulary();  // throws where there is none
  search_ = std::make_unique<SearchWork>(MakeSearchModel(loaded()->weights), prompts_.get(), pool);
}

void ServedGenerator::AddPrompt(GivenPrompt given, GrowingOutputs::Show show,
                                CompletionJob* job) const {
  const std::string name = fmt::format("prompt {}", job->prompts.size() + 1);
  limit_.CheckBytes(name, std::ssize(given.text));
  const std::vector<int32_t> ids = given.ids ? *given.ids : EncodeText(vocabulary(), given.text);
  limit_.CheckTokens(name, std::ssize(ids));
  JobPrompt& prompt = job->prompts.emplace_back();
  static_cast<SearchInput&>(prompt) =
      MakeSearchInput(loaded()->weights, ids, job->asked.generation, name);
  prompt.index = job->prompts.size() - 1;
  prompt.room = prompt.SearchInput::tokens();
  prompt.fresh.resize(job->asked.generation.n);
  prompt.growing.emplace(&vocabulary(), ids, job->asked.generation,
                         job->asked.no_output ? nullptr : std::move(show));
  job->texts.push_back(given.ids ? DecodeText(vocabulary(), ids) : std::move(given.text));
}

int64_t ServedGenerator::max_prompt_tokens() const {
  return std::min(limit_.tokens(), MaxTokens(*config().decoder));
}

void ServedGenerator::Describe(Json* json) const {
  (*json)["max_prompt_tokens"] = max_prompt_tokens();
}

void ServedGenerator::Stop() {
  queue_.Close();
  search_.reset();
}

}  // namespace attend
