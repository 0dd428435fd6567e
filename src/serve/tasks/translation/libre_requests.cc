#include "serve/tasks/translation/libre_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "attend/error.h"
#include "serve/tasks/translation/model_choice.h"
#include "tasks/translation/translation_options.h"

namespace attend {
namespace {

RequestOptions OptionsOf(const LibreRequest& request, const ServeOptions& options) {
  RequestOptions asked;
  asked.model = request.model;
  asked.source = request.source;
  asked.target = request.target;
  asked.queue.priority = request.priority;
  TranslationOptions& translation = asked.translation;
  translation = options.translation;
  translation.n_best = 1 + request.alternatives;
  const int64_t beam_size = std::max(translation.beam_size, translation.n_best);
  const int64_t groups = translation.beam_groups;
  translation.beam_size = (beam_size + groups - 1) / groups * groups;
  translation.mbr_samples = std::max(translation.mbr_samples, translation.n_best);
  translation.alignments = request.html;
  translation.glossary = request.glossary;
  asked.loaded_memory = request.memory;
  asked.match = UsualRequest(options).match;
  CheckTranslationOptions(translation);
  return asked;
}

// The beginning of a document whose texts these are, to know its language.
std::string Together(const std::vector<std::string>& samples) {
  constexpr size_t kEnough = 4096;  // bytes
  std::string sample;
  for (size_t i = 0; i < samples.size() && sample.size() < kEnough; ++i)
    sample += samples[i] + '\n';
  return sample;
}

// Each whole percent is told once.
void TellProgress(const LibreRequest& request, TranslationJob* job) {
  if (!request.progress) return;
  const auto done = std::make_shared<std::atomic<int64_t>>(0);
  const int64_t all = job->Sentences();
  for (ModelJob& part : job->jobs) {
    part.on_sentence = [tell = request.progress, done, all](const JobSentence&) {
      const int64_t now = ++*done;
      if (now * 100 / all > (now - 1) * 100 / all) tell(now, all);
    };
  }
}

}  // namespace

int64_t MostAlternatives(const ServeOptions& options) {
  const int64_t groups = options.translation.beam_groups;
  return options.max_beam_size / groups * groups - 1;
}

void LibreCounts::AddTo(HttpHeaders* headers) const {
  for (const auto& [header, count] :
       {std::pair("X-Attend-Unfinished", unfinished), std::pair("X-Attend-Divided", divided),
        std::pair("X-Attend-Unknown-Characters", unknown_characters)}) {
    if (count > 0) headers->emplace_back(header, std::to_string(count));
  }
}

Json LibreCounts::ToJson() const {
  return {
      {"unfinished", unfinished}, {"divided", divided}, {"unknown_characters", unknown_characters}};
}

LibreCounts CountsOf(const TranslationJob& job) {
  return {job.Unfinished(), job.Divided(), job.UnknownCharacters()};
}

void LibreRequests::Run(const ExchangePtr& exchange, LibreRequest request,
                        LibreFinish finish) const {
  CheckCharacters(request.texts, context_.options);
  const int64_t most = MostAlternatives(context_.options);
  if (request.alternatives > most) {
    throw Error(ErrorKind::kUsage, fmt::format("alternatives is {}, expected at most {} here",
                                               request.alternatives, most));
  }
  const RequestOptions asked = OptionsOf(request, context_.options);
  const auto texts = std::make_shared<SourceTexts>(std::move(request.texts), request.html);
  std::vector<std::string> samples = texts->Samples();
  const size_t count = samples.size();
  if (request.together) samples = {Together(samples)};
  ModelChoice choice = ChooseModels(context_.models, asked, samples, exchange->request().path);
  if (request.together) choice.of_text.assign(count, choice.of_text[0]);
  requests_.CheckRoom(choice);
  const auto job = requests_.JobFor(*exchange, choice, texts->PerSegment(choice.of_text),
                                    texts->segments(), asked);
  TellProgress(request, job.get());
  requests_.Run(exchange, job,
                [request = std::move(request), finish = std::move(finish), texts,
                 choice](const TranslationJob& done) { finish(request, done, *texts, choice); });
}

}  // namespace attend
