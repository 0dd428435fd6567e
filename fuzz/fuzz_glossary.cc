#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "attend/translator.h"
#include "fuzz/harness.h"
#include "text/term_finder.h"
#include "text/utf8.h"

// A glossary, whose terms are looked for in its own text.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view bytes) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("attend_fuzz_glossary_" + std::to_string(getpid()));
    std::ofstream(path, std::ios::binary) << bytes;
    struct Remove {
      const std::filesystem::path& path;
      ~Remove() { std::filesystem::remove(path); }
    } remove{path};
    const auto glossary = Glossary::Load(path.string());
    const std::string text = RepairUtf8(bytes);
    size_t before = 0;
    for (const FoundTerm& term : glossary->finder().Find(text)) {
      if (term.begin < before || term.end <= term.begin || term.end > text.size()) std::abort();
      if (term.targets.empty() || term.targets[0].text.empty()) std::abort();
      before = term.end;
    }
  });
}
