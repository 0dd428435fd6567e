#include "serve/tasks/translation/file_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/error.h"
#include "text/ascii.h"
#include "text/text_format.h"
#include "text/utf8.h"

namespace attend {

const std::vector<std::string>& FileSuffixes() {
  static const std::vector<std::string> suffixes = {".txt", ".html", ".htm"};
  return suffixes;
}

const std::vector<std::string>& DocumentSuffixes() {
  static const std::vector<std::string> suffixes = {".docx", ".pptx",  ".odt", ".epub",
                                                    ".xlf",  ".xliff", ".tmx", ".po",
                                                    ".pot",  ".srt",   ".vtt", ".tsv"};
  return suffixes;
}

bool IsDocument(const std::string& suffix) {
  return std::ranges::find(DocumentSuffixes(), suffix) != DocumentSuffixes().end();
}

std::string SuffixOf(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : LowerCase(name.substr(dot));
}

void CheckFileFormat(const UploadedFile& file) {
  const std::string suffix = SuffixOf(file.name);
  if (IsDocument(suffix)) return;
  if (std::ranges::find(FileSuffixes(), suffix) == FileSuffixes().end()) {
    const bool old = suffix == ".doc" || suffix == ".ppt";
    throw Error(ErrorKind::kInput,
                fmt::format("a file of type '{}' is not supported, expected {}, {}{}", suffix,
                            fmt::join(FileSuffixes(), ", "), fmt::join(DocumentSuffixes(), ", "),
                            old ? fmt::format("; save it as {}x", suffix) : ""));
  }
  const std::string format =
      suffix == ".txt" ? ForeignFormat(file.content) : BinaryFormat(file.content);
  if (!format.empty()) {
    throw Error(ErrorKind::kInput, fmt::format("'{}' is {}", file.name, format));
  }
}

void CheckWholeFile(const UploadedFile& file) {
  CheckFileFormat(file);
  if (IsDocument(SuffixOf(file.name))) return;
  if (!IsValidUtf8(file.content)) {
    throw Error(ErrorKind::kInput, "the file is not UTF-8, expected text in UTF-8");
  }
  if (file.content.find('\0') != std::string::npos) {
    throw Error(ErrorKind::kInput, "the file is no text: it has NUL characters");
  }
}

}  // namespace attend
