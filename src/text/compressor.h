// Compresses text as a file's name asks for: gzip for .gz, zstd for .zst, else not at all.
#ifndef ATTEND_TEXT_COMPRESSOR_H_
#define ATTEND_TEXT_COMPRESSOR_H_

#include <memory>
#include <string>
#include <string_view>

namespace attend {

// Equal text gives equal bytes, which LineReader and the usual programs read. One owner.
class Compressor {
 public:
  static std::unique_ptr<Compressor> ForName(std::string_view path);
  // Throws Error(kUsage) where the path, which `option` gave, ends as other compressed files do:
  // plain text under such a name would be taken for a damaged file.
  static void RefuseOthers(std::string_view option, std::string_view path);
  virtual ~Compressor() = default;

  // Compresses more text; returns the bytes that are ready.
  virtual std::string Add(std::string_view text) = 0;
  // Returns the last bytes. Nothing is added after that.
  virtual std::string End() = 0;
};

}  // namespace attend

#endif  // ATTEND_TEXT_COMPRESSOR_H_
