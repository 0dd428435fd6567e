// Shows a test in another language what attend does with text. Reads standard input, writes to
// standard output.
//   text_probe repair            the text, malformed UTF-8 repaired; standard error: the count
//   text_probe lines [FILE]      the bytes of each line in hexadecimal
//   text_probe ids VOCABULARY    the ids of each line
//   text_probe text VOCABULARY   the text of each line of ids
//   text_probe sentences LANGUAGE   the sentences of the text, each ended by a NUL
//   text_probe sample VOCABULARY STRENGTH DRAWS   so many sampled cuts of each line, as ids
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <iterator>
#include <sstream>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "base/random.h"
#include "text/lines.h"
#include "text/sentence_splitter.h"
#include "text/utf8.h"

namespace {

void Lines(const std::string& path) {
  attend::LineReader reader(path);
  std::string line;
  while (reader.Next(&line)) {
    for (const char c : line) std::cout << fmt::format("{:02x}", static_cast<uint8_t>(c));
    std::cout << '\n';
  }
}

void WithVocabulary(const std::string& what, const std::string& path) {
  const auto vocabulary = attend::Vocabulary::Load(path);
  attend::LineReader reader("-");
  std::string line;
  while (reader.Next(&line)) {
    if (what == "ids") {
      std::cout << fmt::format("{}\n", fmt::join(vocabulary->Encode(line), " "));
    } else {
      std::istringstream numbers(line);
      const std::vector<int32_t> ids(std::istream_iterator<int32_t>(numbers), {});
      std::cout << vocabulary->Decode(ids) << '\n';
    }
  }
}

void Sample(const std::string& path, double strength, uint64_t draws) {
  const auto vocabulary = attend::Vocabulary::Load(path);
  attend::LineReader reader("-");
  std::string line;
  while (reader.Next(&line)) {
    for (uint64_t draw = 0; draw < draws; ++draw) {
      const uint64_t key = attend::Random{static_cast<uint64_t>(reader.lines()), draw}.Next();
      const std::vector<int32_t> ids = vocabulary->Sample(line, strength, key);
      if (ids != vocabulary->Sample(line, strength, key)) std::abort();
      std::cout << fmt::format("{}\n", fmt::join(ids, " "));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const std::string argument = argc > 2 ? argv[2] : "-";
  try {
    if (what == "repair") {
      const std::string text(std::istreambuf_iterator<char>(std::cin), {});
      int64_t malformed = 0;
      std::cout << attend::RepairUtf8(text, &malformed);
      std::cerr << malformed;
    } else if (what == "sentences") {
      const std::string text(std::istreambuf_iterator<char>(std::cin), {});
      for (const std::string_view sentence : attend::SplitSentences(text, argument))
        std::cout << sentence << '\0';
    } else if (what == "lines") {
      Lines(argument);
    } else if (what == "sample") {
      Sample(argument, std::stod(argv[3]), std::stoull(argv[4]));
    } else {
      WithVocabulary(what, argument);
    }
  } catch (const attend::Error& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
  return 0;
}
