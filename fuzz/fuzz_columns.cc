#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "data/labelled_text.h"
#include "data/recordings.h"
#include "fuzz/harness.h"
#include "text/text_words.h"
#include "text/utf8.h"

// Columns and tables of labels, tables of recordings, and words of plain text.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view bytes) {
    const std::string text = RepairUtf8(bytes);
    size_t before = 0;
    for (const TextWord& word : WordsOfText(text)) {
      if (word.begin < before || word.end <= word.begin || word.end > text.size()) std::abort();
      before = word.end;
    }
    const auto path = std::filesystem::temp_directory_path() /
                      ("attend_fuzz_columns_" + std::to_string(getpid()));
    std::ofstream(path, std::ios::binary) << bytes;
    struct Remove {
      const std::filesystem::path& path;
      ~Remove() { std::filesystem::remove(path); }
    } remove{path};
    if (bytes.starts_with('#')) {
      ReadTable({path.string()});
      return;
    }
    if (bytes.starts_with('@')) {
      ReadRecordings({path.string()});
      return;
    }
    std::vector<LabelledItem> items = ReadColumns({path.string()}, {});
    if (SchemeOf(items) == LabelScheme::kNone) return;
    for (const LabelScheme scheme : {LabelScheme::kIob1, LabelScheme::kIob2, LabelScheme::kIobes}) {
      const std::vector<Entity> entities = EntitiesOf(items[0].labels);
      ChangeScheme(scheme, &items);
      if (EntitiesOf(items[0].labels) != entities) std::abort();
    }
  });
}
