// Streamed text takes memory for its windows, whatever its length.
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/random.h"
#include "data/batch_stream.h"
#include "data/streamed_corpus.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

int64_t ResidentBytes() {
  int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::string RandomLine(Random* random) {
  std::string line;
  for (uint64_t words = 10 + random->Below(21); words > 0; --words) {
    for (uint64_t letters = 1 + random->Below(8); letters > 0; --letters)
      line += static_cast<char>('a' + random->Below(8));
    line += ' ';
  }
  return line + "\n";
}

TEST(StreamMemory, IsBoundedByTheWindows) {
  constexpr int64_t kPairs = 50000;
  const std::string folder = testing::TempDir() + "stream_memory/";
  std::filesystem::create_directories(folder);
  Random random{1};
  for (const char* side : {"source", "target"}) {
    std::ofstream file(folder + side);
    for (int64_t line = 0; line < kPairs; ++line) file << RandomLine(&random);
  }
  VocabularyOptions options;
  options.type = VocabularyType::kBpe;
  options.size = 500;
  options.max_sentences = 1000;
  const auto vocabulary =
      Vocabulary::FromBytes(TrainVocabulary({folder + "source"}, options, 1, NoLog()), "test");
  StreamOptions stream;
  stream.shuffle_buffer = 1000;
  const StreamedCorpus corpus({SourceColumn({folder + "source"}, vocabulary),
                               TargetColumn({folder + "target"}, vocabulary)},
                              {}, stream, 1);
  BatchStream batches(&corpus, {});
  batches.Next();
  const int64_t before = ResidentBytes();
  int64_t most = before, ids = 0;
  const std::clock_t start = std::clock();
  while (batches.position().epoch == 0) {
    const Batch batch = batches.Next();
    for (const Example example : batch.examples()) ids += example.Length(0) + example.Length(1);
    most = std::max(most, ResidentBytes());
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%.0f pairs, %.0f ids a second of one core; %.1f MB more at most\n", kPairs / seconds,
              static_cast<double>(ids) / seconds, static_cast<double>(most - before) / 1e6);
  EXPECT_GT(ids * 4, 16 << 20);  // what it would take in memory
  EXPECT_LT(most - before, 8 << 20);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace attend
