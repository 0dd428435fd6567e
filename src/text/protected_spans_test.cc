#include "text/protected_spans.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "attend/error.h"
#include "base/random.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Spans(const std::string& text, const ProtectionOptions& options) {
  std::vector<std::string> found;
  for (const TextPart& span : SpanFinder(options).Find(text))
    found.push_back(text.substr(span.begin, span.end - span.begin));
  return found;
}

// Texts in which what stands between ⟪ and ⟫ is protected by all kinds together.
void CheckMarked(const std::vector<std::string>& marked_texts) {
  for (const std::string& marked : marked_texts) {
    std::string text;
    std::vector<std::string> expected;
    bool inside = false;
    for (size_t i = 0; i < marked.size(); ++i) {
      const std::string_view rest = std::string_view(marked).substr(i);
      if (rest.starts_with("⟪") || rest.starts_with("⟫")) {
        inside = rest.starts_with("⟪");
        if (inside) expected.emplace_back();
        i += 2;
        continue;
      }
      text += marked[i];
      if (inside) expected.back() += marked[i];
    }
    EXPECT_EQ(Spans(text, {.protect = {"all"}}), expected) << text;
  }
}

TEST(ProtectedSpansTest, FindsNumbers) {
  CheckMarked({"I have ⟪2⟫ dogs and ⟪1,234.56⟫ euros.",
               "It fell by ⟪-5⟫, ⟪−3.5⟫ or ⟪+7⟫ degrees.",
               "⟪50%⟫ of ⟪3.5 %⟫, ⟪100%⟫.",
               "⟪$5.00⟫ or ⟪€20⟫ or ⟪20€⟫ a day",
               "at ⟪12:30⟫, ⟪12:30:45.5⟫, ⟪5pm⟫ or ⟪10:00–12:00⟫.",
               "on ⟪2024-05-01⟫, ⟪01/05/2024⟫ and ⟪1.5.2024⟫.",
               "at ⟪2024-05-01T12:30:00Z⟫ and ⟪2024-05-01 12:30:00+02:00⟫.",
               "version ⟪1.2.3⟫, ⟪v2.0⟫, ⟪v1.2.3-rc.1⟫, ⟪2.0b1⟫",
               "at ⟪192.168.0.1⟫, ⟪10.0.0.0/8⟫, ⟪192.168.0.1:8080⟫",
               "at ⟪2001:db8::1⟫, ⟪::1⟫, ⟪fe80::1ff:fe23:4567:890a⟫ and "
               "⟪2001:0db8:85a3:0000:0000:8a2e:0370:7334⟫",
               "the address ⟪00:1A:2B:3C:4D:5E⟫ there",
               "⟪1920x1080⟫ pixels, ⟪3×4⟫, ⟪1/2⟫, ⟪24/7⟫ and ⟪1½⟫",
               "⟪1 000 000⟫ people, ⟪1'000⟫ francs, ⟪1_000⟫",
               "⟪1e-5⟫ and ⟪1.5E+10⟫ and ⟪0x1F⟫",
               "⟪5km⟫ and ⟪10MB⟫ in ⟪30ms⟫",
               "call ⟪+49 30 1234567⟫ or ⟪(030) 1234-567⟫.",
               "issue ⟪#42⟫ (page ⟪7⟫)",
               "在⟪2023⟫年,他有⟪3⟫只狗。",
               "⟪٣⟫ كتب و ⟪١٢٫٥⟫",
               "id ⟪123e4567-e89b-12d3-a456-426614174000⟫.",
               "The MP3 of the ⟪1990⟫s, B2B and the ⟪2⟫nd A4 sheet",
               "⟪37.5°C⟫ and ⟪90°⟫.",
               "In ⟪2020⟫."});
}

TEST(ProtectedSpansTest, FindsNumbersThatStandSideBySide) {
  CheckMarked({"May ⟪5⟫ ⟪2020⟫ was", "December ⟪25⟫ ⟪2021⟫.", "Room ⟪3⟫ ⟪4567⟫", "page ⟪12⟫ ⟪1500⟫",
               "I have ⟪2⟫ ⟪1000⟫ dollar bills", "In ⟪10⟫ ⟪2019⟫", "Call ⟪030⟫ ⟪1234567⟫",
               "⟪12⟫ ⟪3456⟫ ⟪7890⟫", "⟪0171⟫ ⟪555⟫ ⟪1234⟫",
               "IBAN ⟪DE89 3704 0044 0532 0130 00⟫ or ⟪GB29 NWBK 6016 1331 9268 19⟫.",
               "⟪1 000 000⟫ ⟪2020⟫", "⟪5⟫ ⟪100.pdf⟫", "⟪5⟫ ⟪123e4567-e89b-12d3-a456-426614174000⟫",
               "A5 ⟪202⟫ and B7 ⟪2020⟫", "⟪%1⟫ of %⟪123⟫", "US$⟪5⟫ and GPT-⟪4⟫",
               "A12, Q3, x_5, 3f2a"});
}

TEST(ProtectedSpansTest, FindsNumbersWithUnits) {
  CheckMarked({"⟪$2bn⟫ or ⟪3k⟫ at ⟪60mph⟫ in ⟪5min⟫, ⟪5ft⟫ of ⟪1080p⟫, ⟪4K⟫ and ⟪5G⟫",
               "the '⟪90⟫s, the ⟪1990⟫er, the ⟪1⟫st, ⟪2⟫nd, ⟪3⟫rd and ⟪4⟫th", "⟪100%⟫sure",
               "at ⟪48°51'⟫N, ⟪2°21′7.5″⟫E", "⟪5m²⟫, ⟪5m⟫, ⟪14h30⟫, ⟪20°C⟫ and ⟪20°⟫Celsius",
               "⟪1920x1080p⟫ and ⟪2x⟫", "5max, 5kmx"});
}

bool IsWordByte(char byte) { return std::isalpha(static_cast<unsigned char>(byte)) || byte == '_'; }

bool IsDigitByte(char byte) { return std::isdigit(static_cast<unsigned char>(byte)); }

TEST(ProtectedSpansTest, NoNumberIsLost) {
  const std::vector<std::string> pieces = {
      "1",  "12", "345", "2020", "034567", " ", " ", " ", ".", ",", "-", "+", "$",
      "%",  "(",  ")",   ":",    "/",      "'", "_", "#", "a", "x", "e", "v", "A",
      "km", "°",  "{",   "}",    "::",     "<", ">", "@", "=", "`", "s", "é", "年"};
  for (const ProtectionOptions& options :
       {ProtectionOptions{.protect = {"number"}}, ProtectionOptions{.protect = {"all"}}}) {
    const SpanFinder finder(options);
    for (uint64_t line = 0; line < 20000; ++line) {
      Random random({1, line});
      std::string text;
      for (uint64_t left = 1 + random.Below(12); left > 0; --left)
        text += pieces[random.Below(pieces.size())];
      std::vector<bool> covered(text.size());
      for (const TextPart& span : finder.Find(text))
        std::fill(covered.begin() + static_cast<std::ptrdiff_t>(span.begin),
                  covered.begin() + static_cast<std::ptrdiff_t>(span.end), true);
      for (size_t begin = 0, end; begin < text.size(); begin = end) {
        end = begin + 1;
        if (!IsDigitByte(text[begin])) continue;
        while (end < text.size() && IsDigitByte(text[end])) ++end;
        const bool in_word = (begin > 0 && IsWordByte(text[begin - 1])) ||
                             std::string_view(text).substr(0, begin).ends_with("é") ||
                             (end < text.size() && IsWordByte(text[end])) ||
                             std::string_view(text).substr(end).starts_with("é");
        for (size_t at = begin; at < end && !in_word; ++at)
          ASSERT_TRUE(covered[at]) << text << " at " << at;
      }
    }
  }
}

TEST(ProtectedSpansTest, TakesTimeLinearInTheText) {
  const SpanFinder finder({.protect = {"all"}});
  const auto start = std::chrono::steady_clock::now();
  for (const std::string unit : {"1_", "a1_", "5 2020 ", "1 222 ", "222 2222", "1.", "1e-",
                                 "A1 222_", "5%s", "1x", "(12) "}) {
    std::string text = "A1_1";
    while (text.size() < 300000) text += unit;
    finder.Find(text + "a");
  }
  finder.Find("https://a.org/" + std::string(2000000, ')'));
  // Quadratic time takes minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(ProtectedSpansTest, FindsUrls) {
  CheckMarked({"See ⟪https://example.com⟫.", "See ⟪http://example.com/a/b?x=1&y=2#top⟫, please.",
               "(see ⟪https://en.wikipedia.org/wiki/Dog_(animal)⟫)",
               "Go to ⟪https://example.com/⟫!",
               "\"⟪https://example.com/a⟫\" and “⟪https://example.com/b⟫”",
               "⟪www.example.org⟫ and ⟪example.com⟫ and ⟪docs.example.co.uk/x⟫",
               "⟪ftp://user:pw@host:21/file⟫ or ⟪mailto:a@b.org⟫",
               "⟪https://münchen.de/straße?q=ä⟫ is open", "⟪https://zh.wikipedia.org/wiki/狗⟫。",
               "请访问⟪https://example.com/a⟫。", "⟪http://localhost:8080/x⟫ ⟪http://[::1]:80/⟫",
               "⟪https://example.com/%7Euser/;v=1,2⟫;", "Is it ⟪https://example.com/a⟫? Yes.",
               "⟪git+ssh://git@github.com/a/b.git⟫", "Clone ⟪git@github.com:a/b.git⟫.",
               "the paper ⟪10.1000/xyz123⟫, and", "at ⟪fe80::1%eth0⟫ or ⟪fe80::a%eth0⟫",
               "We went home.Then we slept, e.g. at Mr.Smith's."});
}

TEST(ProtectedSpansTest, FindsMailAddresses) {
  CheckMarked({"Write to ⟪a@b.org⟫.", "⟪first.last+tag@sub.example.co.uk⟫, please",
               "<⟪me@example.com⟫>", "⟪o'neil_x@example-site.com⟫'s", "⟪jörg@münchen.de⟫ wrote",
               "an @ sign, and @name"});
}

TEST(ProtectedSpansTest, FindsFiles) {
  CheckMarked(
      {"Open ⟪report_v2.final.pdf⟫.",
       "⟪C:\\Users\\me\\file.txt⟫, ⟪C:\\Program Files (x86)\\App\\a.exe⟫ runs",
       "⟪\\\\server\\share\\x.doc⟫ there", "in ⟪/usr/local/bin⟫, ⟪/etc/hosts⟫ or ⟪~/notes.md⟫.",
       "⟪./run.sh⟫ and ⟪../src/main.cc⟫ and ⟪src/main.cc⟫",
       "the file ⟪config.yaml⟫, ⟪archive.tar.gz⟫ and ⟪.gitignore⟫", "⟪Übersicht-2024.xlsx⟫ is new",
       "he and/or she, km/h, w/o it", "Run ⟪/usr/bin/python3⟫!"});
}

TEST(ProtectedSpansTest, FindsPlaceholders) {
  CheckMarked(
      {"Hello ⟪{name}⟫, ⟪{0}⟫ and ⟪{}⟫!", "⟪{user.name!r}⟫ has ⟪{x:>10.2f}⟫, ⟪{items[0]}⟫",
       "⟪{{z}}⟫, ⟪{{ user.name }}⟫ and ⟪{{{raw}}}⟫", "⟪${y}⟫, ⟪$HOME⟫, ⟪$(date)⟫ and ⟪#{x}⟫",
       "⟪%s⟫, ⟪%d⟫, ⟪%5.2f⟫, ⟪%-10s⟫, ⟪%(x)d⟫, ⟪%1$s⟫, ⟪%@⟫, ⟪%lld⟫, ⟪%%⟫.", "⟪%1⟫ of ⟪%2⟫",
       "⟪{count, plural, one {# item} other {# items}}⟫ left",
       "⟪{x,5:F}⟫, ⟪{0,-10}⟫ and ⟪{first name}⟫", "⟪{n, number}⟫ and ⟪{% if x %}⟫ and ⟪<%= y %>⟫",
       "⟪%PATH%⟫ and ⟪%{name}⟫ and ⟪__NAME__⟫ and ⟪[[link]]⟫", "a ⟪50%⟫ discount of all"});
}

TEST(ProtectedSpansTest, FindsTagsAndCode) {
  CheckMarked({"a ⟪<b>⟫bold⟪</b>⟫ word⟪<br/>⟫", "⟪<x id=\"1\"/>⟫ and ⟪<a href='x>y'>⟫here⟪</a>⟫",
               "⟪<0>⟫here⟪</0>⟫ and ⟪<g:ph id=1 disabled>⟫", "Tom ⟪&amp;⟫ Jerry ⟪&#39;⟫ ⟪&#x27;⟫",
               "⟪<!-- note -->⟫ text", "a < b and c > d", "run ⟪`ls -l /tmp`⟫ now",
               "⟪``a `b` c``⟫ and ⟪```x = 1```⟫."});
}

TEST(ProtectedSpansTest, KindsAreSwitchedOffByName) {
  const std::string text = "2 files at https://a.org in x.pdf";
  EXPECT_THAT(Spans(text, {.protect = {"number"}}), ElementsAre("2"));
  EXPECT_THAT(Spans(text, {.protect = {"all", "no-number"}}),
              ElementsAre("https://a.org", "x.pdf"));
  EXPECT_THAT(Spans(text, {.protect = {"no-url", "no-file"}}), ElementsAre("2"));
  EXPECT_THAT(Spans(text, {}), ElementsAre());
}

TEST(ProtectedSpansTest, UsersExpressionsComeFirst) {
  EXPECT_THAT(
      Spans("order AB-12-34 of 5", {.protect = {"all"}, .protect_patterns = {R"([A-Z]+-\d+-\d+)"}}),
      ElementsAre("AB-12-34", "5"));
}

std::string Complaint(const ProtectionOptions& options) {
  try {
    const SpanFinder finder(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ProtectedSpansTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(Complaint({.protect = {"numbers"}}), HasSubstr("did you mean 'number'"));
  EXPECT_THAT(Complaint({.protect_patterns = {"a("}}), HasSubstr("missing )"));
  EXPECT_THAT(Complaint({.protect_patterns = {"a*"}}), HasSubstr("matches the empty text"));
}

TEST(ProtectedSpansTest, PartsThatASpanCrossesBecomeOne) {
  const std::string text = "Use `a. B` now. Then go.";
  const std::vector<TextPart> parts = {{0, 7}, {8, 15}, {16, 24}};
  const std::vector<TextPart> joined =
      JoinAcross(parts, SpanFinder({.protect = {"all"}}).Find(text));
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(text.substr(joined[0].begin, joined[0].end), "Use `a. B` now.");
}

}  // namespace
}  // namespace attend
