#include "text/lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "attend/error.h"
#include "text/text_format.h"

namespace attend {
namespace {

constexpr size_t kChunk = size_t{1} << 16;

[[noreturn]] void Fail(const std::string& action, const std::string& name, const std::string& why) {
  throw Error(ErrorKind::kInput, fmt::format("can't {} '{}': {}", action, name, why));
}

}  // namespace

class LineReader::Input {
 public:
  explicit Input(const std::string& name) : name_(name) {}
  virtual ~Input() = default;
  // Up to `size` bytes; 0 at the end.
  virtual size_t Read(char* bytes, size_t size) = 0;
  // Read will not wait.
  virtual bool Ready() { return true; }
  // Bytes of the file that Read has taken, and those that it has; nothing for a pipe.
  struct Place {
    int64_t bytes = 0, size = 0;
  };
  virtual std::optional<Place> At() const = 0;
  // Passes over `size` bytes, or fewer at the end.
  virtual void Skip(int64_t size) {
    std::string passed(kChunk, '\0');
    while (size > 0) {
      const size_t got = Read(passed.data(), static_cast<size_t>(std::min<int64_t>(size, kChunk)));
      if (got == 0) return;
      size -= static_cast<int64_t>(got);
    }
  }

 protected:
  std::string name_;
};

namespace {

int OpenForReading(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) Fail("open", path, std::strerror(errno));
  return descriptor;
}

// Of a regular file; nothing of another.
std::optional<int64_t> SizeOf(int descriptor) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status.st_size;
}

class PlainInput : public LineReader::Input {
 public:
  PlainInput(const std::string& name, int descriptor) : Input(name), descriptor_(descriptor) {}
  ~PlainInput() override {
    if (descriptor_ != STDIN_FILENO) close(descriptor_);
  }
  size_t Read(char* bytes, size_t size) override {
    while (true) {
      const ssize_t got = read(descriptor_, bytes, size);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) Fail("read", name_, std::strerror(errno));
    }
  }
  std::optional<Place> At() const override {
    const std::optional<int64_t> size = SizeOf(descriptor_);
    if (!size) return std::nullopt;
    return Place{lseek(descriptor_, 0, SEEK_CUR), *size};
  }
  bool Ready() override {
    struct pollfd wanted = {descriptor_, POLLIN, 0};
    return poll(&wanted, 1, 0) != 0;  // an error is for Read to report
  }
  void Skip(int64_t size) override {
    if (lseek(descriptor_, size, SEEK_CUR) < 0) Input::Skip(size);  // a pipe
  }

 private:
  int descriptor_;
};

class GzipInput : public LineReader::Input {
 public:
  GzipInput(const std::string& name, int descriptor)
      : Input(name), file_(name, descriptor), packed_(kChunk, '\0') {
    constexpr int kGzip = 16;  // its headers alone
    if (inflateInit2(&stream_, MAX_WBITS + kGzip) != Z_OK) Fail("open", name, "out of memory");
  }
  ~GzipInput() override { inflateEnd(&stream_); }
  size_t Read(char* bytes, size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(bytes);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (stream_.avail_in == 0 && !Refill()) {
        if (in_member_) Fail("read", name_, "the gzip file is cut short");
        return 0;
      }
      if (in_member_ || BeginMember()) Inflate();
    }
    return size - stream_.avail_out;
  }
  std::optional<Place> At() const override { return file_.At(); }

 private:
  bool Refill() {
    stream_.avail_in = static_cast<uInt>(file_.Read(packed_.data(), packed_.size()));
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    return stream_.avail_in > 0;
  }
  // Between members and behind the last one there may be zeros.
  bool BeginMember() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    return in_member_ = stream_.avail_in > 0;
  }
  void Inflate() {
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      in_member_ = false;
      first_ = false;
      inflateReset(&stream_);
    } else if (status == Z_DATA_ERROR || status == Z_NEED_DICT) {
      const std::string_view reason = stream_.msg == nullptr ? "no reason" : stream_.msg;
      if (first_ && reason == "incorrect header check")
        Fail("read", name_, "its name ends in .gz but it is not a gzip file");
      Fail("read", name_, fmt::format("the gzip file is damaged ({})", reason));
    } else if (status == Z_MEM_ERROR) {
      Fail("read", name_, "out of memory");
    }
  }

  PlainInput file_;
  z_stream stream_ = {};
  std::string packed_;
  bool in_member_ = true;  // an empty file holds no member, which is one cut short
  bool first_ = true;
};

class ZstdInput : public LineReader::Input {
 public:
  ZstdInput(const std::string& name, int descriptor)
      : Input(name), file_(name, descriptor), stream_(ZSTD_createDStream()), packed_(kChunk, '\0') {
    if (stream_ == nullptr) Fail("open", name, "out of memory");
  }
  ~ZstdInput() override { ZSTD_freeDStream(stream_); }
  size_t Read(char* bytes, size_t size) override {
    ZSTD_outBuffer out = {bytes, size, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size) {
        in_ = {packed_.data(), file_.Read(packed_.data(), packed_.size()), 0};
        if (in_.size == 0 && in_frame_) Fail("read", name_, "the zstd file is cut short");
        if (in_.size == 0) return 0;
      }
      const size_t wanted = ZSTD_decompressStream(stream_, &out, &in_);
      if (ZSTD_isError(wanted)) {
        const bool foreign = ZSTD_getErrorCode(wanted) == ZSTD_error_prefix_unknown;
        Fail("read", name_,
             foreign ? "its name ends in .zst but it is not a zstd file"
                     : fmt::format("the zstd file is damaged ({})", ZSTD_getErrorName(wanted)));
      }
      in_frame_ = wanted != 0;
    }
    return out.pos;
  }
  std::optional<Place> At() const override { return file_.At(); }

 private:
  PlainInput file_;
  ZSTD_DStream* stream_;
  std::string packed_;
  ZSTD_inBuffer in_ = {nullptr, 0, 0};
  bool in_frame_ = true;  // an empty file holds no frame, which is one cut short
};

}  // namespace

LineReader::LineReader(const std::string& path, FormatCheck check)
    : name_(path == "-" ? "standard input" : path), check_(check) {
  if (path == "-") {
    input_ = std::make_unique<PlainInput>(name_, STDIN_FILENO);
  } else if (path.ends_with(".gz")) {
    input_ = std::make_unique<GzipInput>(name_, OpenForReading(path));
  } else if (path.ends_with(".zst")) {
    input_ = std::make_unique<ZstdInput>(name_, OpenForReading(path));
  } else {
    input_ = std::make_unique<PlainInput>(name_, OpenForReading(path));
  }
}

LineReader::~LineReader() = default;

// Adds what the input has to buffer_; false at its end.
bool LineReader::Fill() {
  buffer_.erase(0, start_);
  start_ = 0;
  const size_t before = buffer_.size();
  buffer_.resize(before + kChunk);
  size_t got = 0;
  try {
    got = input_->Read(buffer_.data() + before, kChunk);
  } catch (const Error& error) {
    if (lines_ == 0) throw;
    throw Error(error.kind(), fmt::format("{}, after line {}", error.what(), lines_));
  }
  buffer_.resize(before + got);
  if (check_) CheckFormat();
  return got > 0;
}

void LineReader::CheckFormat() {
  const bool sentences = *check_ == FormatCheck::kSentences;
  check_.reset();
  const std::string format = sentences ? ForeignFormat(buffer_) : BinaryFormat(buffer_);
  if (!format.empty()) throw Error(ErrorKind::kInput, fmt::format("'{}' is {}", name_, format));
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (!sentences && buffer_.starts_with(kByteOrderMark))
    offset_ = static_cast<int64_t>(start_ = kByteOrderMark.size());
}

void LineReader::SkipTo(int64_t offset, int64_t lines) {
  if (offset > 0) check_.reset();
  input_->Skip(offset);
  offset_ = offset;
  lines_ = lines;
}

std::optional<double> LineReader::Fraction() const {
  std::optional<Input::Place> place = input_->At();
  if (!place || place->size == 0) return std::nullopt;
  if (!IsCompressed(name_)) place->bytes -= std::ssize(buffer_) - static_cast<int64_t>(start_);
  return std::clamp(static_cast<double>(place->bytes) / static_cast<double>(place->size), 0.0, 1.0);
}

bool LineReader::Ready() {
  size_t searched = start_;
  while (!ended_ && buffer_.find('\n', searched) == std::string::npos) {
    if (buffer_.size() - start_ > kMaxLineBytes) return true;
    if (!input_->Ready()) return false;
    searched = buffer_.size() - start_;  // Fill moves the line to the front
    ended_ = !Fill();
  }
  return true;
}

bool LineReader::Next(std::string* line) {
  size_t searched = start_;
  size_t end = std::string::npos;
  while (true) {
    end = buffer_.find('\n', searched);
    const size_t length = (end == std::string::npos ? buffer_.size() : end) - start_;
    if (length > kMaxLineBytes) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{}:{}: the line is longer than {} bytes; is this a text file?",
                              name_, lines_ + 1, kMaxLineBytes));
    }
    if (end != std::string::npos || ended_) break;
    ended_ = !Fill();
    searched = length;  // Fill moved the line to the front
  }
  if (end == std::string::npos) {
    if (start_ == buffer_.size()) return false;
    line->assign(buffer_, start_);
    offset_ += static_cast<int64_t>(line->size());
    start_ = buffer_.size();
  } else {
    const bool carriage_return = end > start_ && buffer_[end - 1] == '\r';
    line->assign(buffer_, start_, end - start_ - (carriage_return ? 1 : 0));
    offset_ += static_cast<int64_t>(end + 1 - start_);
    start_ = end + 1;
  }
  ++lines_;
  return true;
}

bool IsCompressed(const std::string& path) {
  return path.ends_with(".gz") || path.ends_with(".zst");
}

std::vector<std::string> ReadLines(const std::string& path, FormatCheck check) {
  LineReader reader(path, check);
  std::vector<std::string> lines;
  std::string line;
  while (reader.Next(&line)) lines.push_back(line);
  return lines;
}

int64_t CountLines(const std::string& path) {
  LineReader reader(path);
  std::string line;
  while (reader.Next(&line)) continue;
  return reader.lines();
}

std::vector<size_t> WordEnds(std::string_view line) {
  constexpr std::string_view kSpaces = " \t";
  std::vector<size_t> ends;
  for (size_t at = 0; (at = line.find_first_not_of(kSpaces, at)) != line.npos; at = ends.back()) {
    ends.push_back(std::min(line.find_first_of(kSpaces, at), line.size()));
  }
  return ends;
}

int64_t CountWords(std::string_view line) { return std::ssize(WordEnds(line)); }

std::vector<std::string> WordsOfLine(std::string_view line) {
  std::vector<std::string> words;
  size_t begin = 0;
  for (const size_t end : WordEnds(line)) {
    begin = line.find_first_not_of(" \t", begin);
    words.emplace_back(line.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

}  // namespace attend
