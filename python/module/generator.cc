// attend.Generator.
#include "attend/generator.h"

#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>

#include "attend/error.h"
#include "python/module/attention.h"
#include "python/module/bindings.h"
#include "python/module/interpreter.h"
#include "python/module/making.h"
#include "python/module/model_runner.h"
#include "python/module/options.h"
#include "python/module/texts.h"
#include "python/module/windows.h"
#include "tasks/language_model/generation_options.h"

namespace attend {
namespace nb = nanobind;
namespace {

GenerationOptions GenerationOptionsOf(const nb::kwargs& arguments, const char* where) {
  GenerationOptions options;
  SetOptions(Fields(options), arguments, where);
  CheckGenerationOptions(options);
  return options;
}

nb::object GeneratedOf(const std::vector<Generation>& generations) {
  const nb::object make = PythonClass(kResultsModule, "Output");
  nb::list outputs;
  for (const Generation& generation : generations) {
    outputs.append(Make(make, StrOf(generation.text), generation.ids,
                        generation.token_log_probabilities, generation.log_probability,
                        NameOf(generation.ending)));
  }
  return Make(PythonClass(kResultsModule, "Generation"), nb::tuple(outputs));
}

nb::list GenerateAll(const Runner<Generator>& self, const std::vector<std::string>& prompts,
                     GenerationOptions options) {
  nb::list results;
  InWindows(prompts, [&](std::span<const std::string> window, Windows* windows) {
    std::vector<std::vector<Generation>> found;
    windows->Run([&](const std::atomic<bool>* stop) {
      options.stop_call = stop;
      found = self.task.Generate(window, options);
    });
    for (const auto& outputs : found) results.append(GeneratedOf(outputs));
  });
  return results;
}

nb::object GenerateOne(const Runner<Generator>& self, const nb::str& prompt,
                       const nb::kwargs& arguments) {
  const GenerationOptions options = GenerationOptionsOf(arguments, "generate");
  return GenerateAll(self, {TextOf(prompt)}, options)[0];
}

nb::list GenerateList(const Runner<Generator>& self, const nb::iterable& prompts,
                      const nb::kwargs& arguments) {
  const GenerationOptions options = GenerationOptionsOf(arguments, "generate");
  return GenerateAll(self, TextsOf(prompts), options);
}

// The pieces of one text, which a thread of its own has made, as they are asked for.
class TextStream {
 public:
  TextStream(std::shared_ptr<const Runner<Generator>> runner, std::string prompt,
             GenerationOptions options)
      : runner_(std::move(runner)), options_(std::move(options)) {
    if (options_.n > 1) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("stream: n is {}, expected 1; ask generate for several texts", options_.n));
    }
    options_.stop_call = &stop_;
    done_ = std::async(std::launch::async, [this, prompt = std::move(prompt)] {
      runner_->task.Generate({&prompt, 1}, options_, [this](const GeneratedPiece& piece) {
        const std::lock_guard lock(mutex_);
        pieces_.push_back(piece.text);
        more_.notify_one();
      });
      const std::lock_guard lock(mutex_);
      ended_ = true;
      more_.notify_one();
    });
  }
  ~TextStream() { Stop(); }
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  nb::object Next() {
    while (!Wait()) {
      if (PyErr_CheckSignals() == 0) continue;
      Stop();
      throw nb::python_error();
    }
    std::string piece;
    {
      const std::lock_guard lock(mutex_);
      if (!pieces_.empty()) {
        piece = std::move(pieces_.front());
        pieces_.pop_front();
      }
    }
    if (!piece.empty()) return StrOf(piece);
    if (done_.valid()) done_.get();  // throws what ended it
    throw nb::stop_iteration();
  }

 private:
  // Whether there is a piece, or the text has ended.
  bool Wait() {
    constexpr std::chrono::milliseconds kLook{50};
    const WithoutGil released;
    std::unique_lock lock(mutex_);
    if (more_.wait_for(lock, kLook, [this] { return ended_ || !pieces_.empty(); })) return true;
    lock.unlock();
    return !done_.valid() ||
           done_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;  // it has failed
  }
  void Stop() {
    stop_ = true;
    if (!done_.valid()) return;
    const WithoutGil released;
    done_.wait();
  }

  std::shared_ptr<const Runner<Generator>> runner_;
  GenerationOptions options_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::string> pieces_;
  bool ended_ = false;
  std::future<void> done_;
};

TextScoreOptions TextScoreOptionsOf(const nb::kwargs& arguments) {
  TextScoreOptions options;
  SetOptions(Fields(options), arguments, "score");
  CheckTextScoreOptions(options);
  return options;
}

nb::list ScoreAll(const Runner<Generator>& self, const std::vector<std::string>& texts,
                  TextScoreOptions options) {
  const nb::object make = PythonClass(kResultsModule, "TextScore");
  nb::list results;
  InWindows(texts, [&](std::span<const std::string> window, Windows* windows) {
    std::vector<TextScore> scores;
    windows->Run([&](const std::atomic<bool>* stop) {
      options.stop = stop;
      scores = self.task.Score(window, options);
    });
    for (const TextScore& score : scores) {
      results.append(Make(make, score.log_probability, score.token_log_probabilities));
    }
  });
  return results;
}

using GeneratorClass = nb::class_<Runner<Generator>>;

void BindGenerating(GeneratorClass& generator) {
  GenerationOptions options;
  const FieldList fields = Fields(options);
  const std::string keywords = OptionsSignature(fields);
  const std::string help = OptionsHelp(
      "Writes on from a prompt, or from each of a list. A Generation is a str of the first "
      "output,\n"
      "without the prompt, which knows its log-probabilities, how it ended, and the other outputs.",
      fields);
  generator
      .def("generate", &GenerateOne, nb::arg("prompt"), nb::arg("options"),
           nb::sig(fmt::format("def generate(self, prompt: str, {}) -> attend._results.Generation",
                               keywords)
                       .c_str()),
           help.c_str())
      .def("generate", &GenerateList, nb::arg("prompts"), nb::arg("options"),
           nb::sig(fmt::format("def generate(self, prompts: collections.abc.Iterable[str], {}) -> "
                               "list[attend._results.Generation]",
                               keywords)
                       .c_str()),
           help.c_str())
      .def(
          "stream",
          [](std::shared_ptr<Runner<Generator>> self, const nb::str& prompt,
             const nb::kwargs& arguments) {
            return std::make_shared<TextStream>(std::move(self), TextOf(prompt),
                                                GenerationOptionsOf(arguments, "stream"));
          },
          nb::arg("prompt"), nb::arg("options"),
          nb::sig(fmt::format("def stream(self, prompt: str, {}) -> collections.abc.Iterator[str]",
                              keywords)
                      .c_str()),
          OptionsHelp(
              "The text of `generate` in pieces, as they come. Who lets go of the iterator\n"
              "ends the work.",
              fields)
              .c_str());
}

void BindTextScoring(GeneratorClass& generator) {
  TextScoreOptions options;
  const FieldList fields = Fields(options);
  const std::string keywords = OptionsSignature(fields);
  const std::string help =
      OptionsHelp("Natural log-probability of a text, or of each of a list.", fields);
  generator
      .def(
          "score",
          [](const Runner<Generator>& self, const nb::str& text,
             const nb::kwargs& arguments) -> nb::object {
            return ScoreAll(self, {TextOf(text)}, TextScoreOptionsOf(arguments))[0];
          },
          nb::arg("text"), nb::arg("options"),
          nb::sig(
              fmt::format("def score(self, text: str, {}) -> attend._results.TextScore", keywords)
                  .c_str()),
          help.c_str())
      .def(
          "score",
          [](const Runner<Generator>& self, const nb::iterable& texts,
             const nb::kwargs& arguments) {
            return ScoreAll(self, TextsOf(texts), TextScoreOptionsOf(arguments));
          },
          nb::arg("texts"), nb::arg("options"),
          nb::sig(fmt::format("def score(self, texts: collections.abc.Iterable[str], {}) -> "
                              "list[attend._results.TextScore]",
                              keywords)
                      .c_str()),
          help.c_str());
}

}  // namespace

void BindGenerator(nb::module_& module) {
  nb::class_<TextStream>(module, "_TextStream")
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &TextStream::Next);
  GeneratorClass generator(
      module, "Generator",
      "Writes on from prompts, and scores texts, with a language model. The same prompt gives the\n"
      "same text, bit for bit, whatever else runs and however many threads do. Calls from several\n"
      "threads share its threads and batches.");
  BindMaking(generator, "Generator");
  generator.def_prop_ro(
      "vocabulary",
      [](const Runner<Generator>& self) {
        return std::const_pointer_cast<Vocabulary>(self.loaded->target_vocabulary);
      },
      nb::sig("def vocabulary(self, /) -> Vocabulary | None"),
      "What cuts text into tokens; None where the model has no vocabulary.");
  BindGenerating(generator);
  BindTextScoring(generator);
  BindAttention(generator);
}

}  // namespace attend
