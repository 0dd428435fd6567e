#include "serve/language_codes.h"

#include <algorithm>
#include <string>

#include "text/ascii.h"

namespace attend {
namespace {

std::string Plain(std::string_view code) {
  std::string plain = LowerCase(Trimmed(code));
  std::ranges::replace(plain, '_', '-');
  return plain;
}

}  // namespace

std::optional<int> LanguageDistance(std::string_view asked, std::string_view has) {
  const std::string a = Plain(asked), b = Plain(has);
  if (a == b) return 0;
  const std::string& longer = a.size() > b.size() ? a : b;
  const std::string& shorter = a.size() > b.size() ? b : a;
  if (shorter.empty() || !longer.starts_with(shorter + "-")) return std::nullopt;
  const int more =
      static_cast<int>(std::ranges::count(longer, '-') - std::ranges::count(shorter, '-'));
  constexpr int kFar = 100;  // a part that nobody asked for is worse than one that is missing
  return &longer == &a ? more : kFar + more;
}

}  // namespace attend
