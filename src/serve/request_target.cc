#include "serve/request_target.h"

#include <sodium.h>

#include <algorithm>
#include <cctype>

#include "text/ascii.h"

namespace attend {
namespace {

constexpr size_t kLongestId = 128;

bool IsId(std::string_view id) {
  return !id.empty() && id.size() <= kLongestId && std::ranges::all_of(id, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("-_.:/+=@").find(c) != std::string_view::npos;
  });
}

}  // namespace

bool ReadTarget(std::string_view target, HttpRequest* request) {
  if (!target.starts_with('/')) {
    const size_t host = target.find("://");
    if (host == std::string_view::npos) return false;
    const std::string scheme = LowerCase(target.substr(0, host));
    if (scheme != "http" && scheme != "https") return false;
    target.remove_prefix(host + 3);
    const size_t end = std::min(target.find_first_of("/?"), target.size());
    if (end == 0) return false;
    request->host = target.substr(0, end);
    target.remove_prefix(end);
  }
  const size_t mark = std::min(target.find('?'), target.size());
  request->path = target.substr(0, mark);
  request->query = target.substr(std::min(mark + 1, target.size()));
  if (request->path.empty()) request->path = "/";
  const auto both_slashes = [](char a, char b) { return a == '/' && b == '/'; };
  const auto end = std::unique(request->path.begin(), request->path.end(), both_slashes);
  request->path.erase(end, request->path.end());
  return true;
}

std::string RequestId(std::string_view given) {
  if (IsId(given)) return std::string(given);
  unsigned char random[16];
  randombytes_buf(random, sizeof random);
  char digits[2 * sizeof random + 1];
  return sodium_bin2hex(digits, sizeof digits, random, sizeof random);
}

}  // namespace attend
