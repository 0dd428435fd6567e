#include "text/text_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>

#include "text/ascii.h"

namespace attend {
namespace {

using Bytes = std::string_view;
using namespace std::string_view_literals;

constexpr size_t kMostBytes = size_t{1} << 16;  // that are looked at

struct Magic {
  Bytes bytes;
  const char* format;
};

constexpr Magic kMagic[] = {{"%PDF-"sv, "a PDF document; extract its text first"},
                            {"\x1F\x8B\x08"sv, "a gzip file; its name must end in .gz"},
                            {"\x28\xB5\x2F\xFD"sv, "a zstd file; its name must end in .zst"},
                            {"BZh"
                             "\x39\x31\x41\x59"sv,
                             "a bzip2 file; unpack it"},
                            {"\xFD"
                             "7zXZ\0"sv,
                             "an xz file; unpack it"},
                            {"7z\xBC\xAF\x27\x1C"sv, "a 7z archive; unpack it"},
                            {"Rar!\x1A\x07"sv, "a RAR archive; unpack it"},
                            {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv,
                             "an old Office document (.doc, .xls); save its text as plain text"},
                            {"{\\rtf"sv, "an RTF document; save its text as plain text"},
                            {"SQLite format 3\0"sv, "an SQLite database; extract its text first"},
                            {"PAR1"sv, "a Parquet file; extract its text first"}};

struct Root {
  Bytes name;
  const char* format;
};

constexpr Root kRoots[] = {
    {"tmx", "a TMX file; write its segments into a plain file for each language, line by line"},
    {"xliff", "an XLIFF file; write its sources and targets into plain files, line by line"},
    {"html",
     "an HTML page; extract its text first, or translate it by `attend serve` as an .html file"},
    {"srcset", "an SGML test set; write its segments into a plain file, line by line"},
    {"refset", "an SGML test set; write its segments into a plain file, line by line"},
    {"tstset", "an SGML test set; write its segments into a plain file, line by line"},
    {"dataset", "an XML test set; write its segments into a plain file, line by line"},
    {"TEI", "a TEI file; extract its text first"}};

std::string ZipFormat(Bytes beginning) {
  const auto holds = [&](Bytes name) { return beginning.find(name) != Bytes::npos; };
  constexpr const char* kSave = "; save its text as plain text";
  if (holds("word/")) return fmt::format("a Word document (.docx){}", kSave);
  if (holds("xl/")) return fmt::format("an Excel workbook (.xlsx){}", kSave);
  if (holds("ppt/")) return fmt::format("a PowerPoint file (.pptx){}", kSave);
  if (holds("application/vnd.oasis.opendocument"))
    return fmt::format("an OpenDocument file (.odt, .ods){}", kSave);
  if (holds("application/epub+zip")) return fmt::format("an EPUB book{}", kSave);
  return "a ZIP archive (a .docx or .xlsx is one too); unpack it, or save its text as plain text";
}

// UTF-16 or UTF-32, with or without a mark of byte order, by where the zero bytes of western text
// stand.
std::string WideFormat(Bytes beginning) {
  constexpr const char* kConvert = "UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8";
  constexpr size_t kEnough = 16;
  const auto all_zeros = std::count(beginning.begin(), beginning.end(), '\0');
  if (beginning.starts_with("\xFF\xFE\0\0"sv) || beginning.starts_with("\0\0\xFE\xFF"sv) ||
      (beginning.size() >= kEnough && 10 * all_zeros >= 6 * std::ssize(beginning) &&
       10 * all_zeros <= 8 * std::ssize(beginning)))
    return "UTF-32 text; convert it: iconv -f UTF-32 -t UTF-8";
  std::ptrdiff_t zeros[2] = {0, 0};
  for (size_t i = 0; i < beginning.size(); ++i)
    if (beginning[i] == '\0') ++zeros[i % 2];
  const bool marked = beginning.starts_with("\xFF\xFE") || beginning.starts_with("\xFE\xFF");
  if (marked && zeros[0] + zeros[1] > 0) return kConvert;
  const std::ptrdiff_t half = std::ssize(beginning) / 2;
  const auto [few, many] = std::minmax(zeros[0], zeros[1]);
  const bool alternate = beginning.size() >= kEnough && 10 * many >= 6 * half && 10 * few < half;
  return alternate ? kConvert : "";
}

bool EndsName(Bytes text, size_t at) {
  return at < text.size() && Bytes(" \t\r\n>/").find(text[at]) != Bytes::npos;
}

// Behind declaration, document type and comments: where the first element's name begins, or npos.
// Sets `declared` where there was one of the first two.
size_t FirstElement(Bytes text, bool* declared) {
  size_t at = text.find_first_not_of(" \t\r\n");
  while (at != Bytes::npos && text.substr(at).starts_with('<')) {
    const Bytes rest = text.substr(at);
    const bool comment = rest.starts_with("<!--");
    const bool declaration =
        rest.starts_with("<?xml") || LowerCase(rest.substr(0, 9)) == "<!doctype";
    if (!comment && !declaration) return at + 1;
    *declared = *declared || declaration;
    const size_t end = text.find(comment ? "-->" : ">", at);
    at = end == Bytes::npos ? end : text.find_first_not_of(" \t\r\n->", end);
  }
  return Bytes::npos;
}

std::string MarkupFormat(Bytes text) {
  bool declared = false;
  const size_t name = FirstElement(text, &declared);
  const std::string lower = name == Bytes::npos ? "" : LowerCase(text.substr(name, 16));
  for (const Root& root : kRoots) {
    // Without a declaration more markup has to follow: a sentence may begin with a tag.
    if (lower.starts_with(LowerCase(root.name)) && EndsName(text, name + root.name.size()) &&
        (declared || text.find("\n<", name) != Bytes::npos || text.find("><", name) != Bytes::npos))
      return root.format;
  }
  if (!declared) return "";
  return lower.empty() ? "" : "an XML file; extract its text first";
}

// Hears whether JSON has a member's name, and how far it could be read.
class JsonProbe : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return has_key = true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    failed_at = position;
    return false;
  }
  bool has_key = false;
  std::optional<size_t> failed_at;
};

// With a member's name, up to where the text is cut off.
bool IsJson(Bytes text) {
  JsonProbe probe;
  nlohmann::json::sax_parse(text.begin(), text.end(), &probe);
  return probe.has_key && (!probe.failed_at || *probe.failed_at >= text.size());
}

std::string JsonFormat(Bytes text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == Bytes::npos || (text[begin] != '{' && text[begin] != '[')) return "";
  if (IsJson(text)) return "JSON; write its texts into a plain file, line by line";
  const Bytes line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.size() < text.size() - begin && IsJson(line))
    return "JSON lines; write their texts into a plain file, line by line";
  return "";
}

// Whether each line has the same number of tabs, and more than one field holds something in most.
std::string TableFormat(Bytes text) {
  std::ptrdiff_t tabs = 0, lines = 0, filled = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const Bytes line = text.substr(0, end);
    text.remove_prefix(end == Bytes::npos ? text.size() : end + 1);
    if (line.empty() || line == "\r") continue;
    const auto found = std::count(line.begin(), line.end(), '\t');
    if (end == Bytes::npos && found < tabs) break;  // cut off
    if (found == 0 || (lines > 0 && found != tabs)) return "";
    tabs = found;
    ++lines;
    const Bytes fields = line.substr(std::min(line.find_first_not_of("\t \r"), line.size()));
    if (fields.substr(0, fields.find_last_not_of("\t \r") + 1).find('\t') != Bytes::npos) ++filled;
  }
  if (lines < 2 || 2 * filled < lines) return "";
  return fmt::format(
      "a table of {} columns (TSV); cut them into files of their own, such as: cut -f1 table.tsv "
      "> column1.txt (where labels stand before texts, the texts are cut -f2)",
      tabs + 1);
}

}  // namespace

std::string BinaryFormat(std::string_view beginning) {
  beginning = beginning.substr(0, kMostBytes);
  for (const Magic& magic : kMagic) {
    if (beginning.starts_with(magic.bytes)) return magic.format;
  }
  if (beginning.starts_with("PK\x03\x04")) return ZipFormat(beginning);
  constexpr size_t kTarMark = 257;
  if (beginning.size() > kTarMark && beginning.substr(kTarMark).starts_with("ustar"))
    return "a tar archive; unpack it";
  return WideFormat(beginning);
}

std::string ForeignFormat(std::string_view beginning) {
  beginning = beginning.substr(0, kMostBytes);
  if (std::string format = BinaryFormat(beginning); !format.empty()) return format;
  if (beginning.starts_with("\xEF\xBB\xBF")) beginning.remove_prefix(3);
  if (std::string format = MarkupFormat(beginning); !format.empty()) return format;
  if (std::string format = JsonFormat(beginning); !format.empty()) return format;
  return TableFormat(beginning);
}

}  // namespace attend
