// Words and what HTML keeps do not run into each other when they move.
#include "html/spaces.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "html/html_fixture.h"
#include "text/lines.h"

namespace attend {
namespace {

// One sentence becomes `target`; each link is a source word and a target word.
std::string Moved(const std::string& html, const std::string& target,
                  const std::vector<AlignmentLink>& links) {
  return TranslateHtml(html, [&](const std::string&) {
    Hypothesis hypothesis;
    hypothesis.text = target;
    hypothesis.alignment = links;
    return hypothesis;
  });
}

TEST(HtmlSpacesTest, AnElementThatMovesLeavesAndFindsSpaces) {
  EXPECT_EQ(Moved("the <b>red</b> house", "das Haus rot", {{0, 0}, {2, 1}, {1, 2}}),
            "das Haus <b>rot</b>");
  EXPECT_EQ(Moved("<b>red </b>house, is it", "ist das Haus, rot", {{2, 0}, {1, 2}, {0, 3}}),
            "ist das Haus, <b>rot</b>");
  EXPECT_EQ(Moved("the<b> house </b>is", "ist das Haus", {{2, 0}, {0, 1}, {1, 2}}),
            "ist das <b>Haus</b>");
}

TEST(HtmlSpacesTest, WhatIsKeptGainsSpacesBetweenWords) {
  // The comma that it touched is elsewhere.
  EXPECT_EQ(Moved("<code>x</code>, then go", "Dann gehe", {{1, 0}, {2, 1}}),
            "<code>x</code> Dann gehe");
  EXPECT_EQ(Moved("use <code>x</code>", "x nutzen", {{0, 1}}), "x nutzen <code>x</code>");
  EXPECT_EQ(Moved("use <code>x</code>, then <code>y</code> go", "gehe nutzen", {{3, 0}, {0, 1}}),
            "<code>x</code> <code>y</code> gehe nutzen");
  EXPECT_EQ(
      Moved("one <i translate=no>x</i>-<i translate=no>y</i> two", "zwei eins", {{0, 1}, {2, 0}}),
      "<i translate=no>x</i> <i translate=no>y</i> zwei eins");
  EXPECT_EQ(Moved("see<sup>1</sup> it well", "gut es", {{2, 0}, {1, 1}}), "<sup>1</sup> gut es");
}

TEST(HtmlSpacesTest, WhatIsKeptStaysBeforeItsPunctuation) {
  EXPECT_EQ(Moved("Use <code>x</code>, then go.", "Nutze, dann gehe.", {{0, 0}, {2, 1}, {3, 2}}),
            "Nutze <code>x</code>, dann gehe.");
  EXPECT_EQ(Moved("Use <code>x</code>, then", "Nutze , dann", {{0, 0}, {1, 1}, {2, 2}}),
            "Nutze <code>x</code>, dann");
  EXPECT_EQ(Moved("Use <code>x</code>.", "Nutze.", {{0, 0}}), "Nutze <code>x</code>.");
  EXPECT_EQ(Moved("Use <code>x</code>?", "Nutzt du es?", {{0, 0}, {0, 1}, {0, 2}}),
            "Nutzt du es <code>x</code>?");
  EXPECT_EQ(Moved("see \"<code>x</code> is\" there", "dort \"ist\" sieh", {{3, 0}, {2, 1}, {0, 2}}),
            "dort \"<code>x</code> ist\" sieh");
}

TEST(HtmlSpacesTest, WhatIsKeptStaysInItsBrackets) {
  EXPECT_EQ(Moved("one (<code>x</code>) two", "eins () zwei", {{0, 0}, {1, 1}, {2, 2}}),
            "eins (<code>x</code>) zwei");
  EXPECT_EQ(Moved("one (<code>x</code>) two", "zwei eins()", {{0, 1}, {2, 0}}),
            "zwei eins(<code>x</code>)");
  EXPECT_EQ(Moved("(<code>x</code>) or (<code>y</code>)", "() oder ()", {{1, 1}}),
            "(<code>x</code>) oder (<code>y</code>)");
  EXPECT_EQ(Moved("one (<code>x</code>) two", "eins zwei", {{0, 0}, {2, 1}}),
            "eins <code>x</code> zwei");
  EXPECT_EQ(Moved("one (<code>x</code> two) three", "eins (zwei) drei", {{0, 0}, {2, 1}, {3, 2}}),
            "eins (<code>x</code> zwei) drei");
}

TEST(HtmlSpacesTest, WhatTouchedAWordTouchesItsTranslation) {
  const std::vector<AlignmentLink> reversed = {{2, 0}, {1, 1}, {0, 2}};
  EXPECT_EQ(Moved("one <img>two three", "DREI ZWEI EINS", reversed), "DREI <img>ZWEI EINS");
  EXPECT_EQ(Moved("one two<img> three", "DREI ZWEI, EINS", reversed), "DREI ZWEI<img>, EINS");
  EXPECT_EQ(Moved("one two,<img> three", "DREI ZWEI, EINS", reversed), "DREI ZWEI,<img> EINS");
  EXPECT_EQ(Moved("one two,<img> three", "DREI ZWEI EINS", reversed), "DREI ZWEI <img> EINS");
  EXPECT_EQ(Moved("one re<wbr>do three", "DREI redo EINS", reversed), "DREI re<wbr>do EINS");
  EXPECT_EQ(Moved("one AT&foo;T three", "DREI ATT EINS", reversed), "DREI AT&foo;T EINS");
  EXPECT_EQ(Moved("one two<!-- c --> three", "DREI ZWEI EINS", reversed),
            "DREI ZWEI<!-- c --> EINS");
}

TEST(HtmlSpacesTest, ScriptsWithoutSpacesGainNone) {
  const std::vector<AlignmentLink> one = {{0, 0}, {1, 0}};
  EXPECT_EQ(Moved("use <code>x</code> now", "现在使用", one), "<code>x</code>现在使用");
  EXPECT_EQ(Moved("use <code>x</code>.", "使用。", {{0, 0}}), "使用<code>x</code>。");
  EXPECT_EQ(Moved("use <code>x</code> now", "今使う", {{0, 0}}), "今使う<code>x</code>");
  EXPECT_EQ(Moved("use <code>x</code> now", "ใช้", {{0, 0}}), "ใช้<code>x</code>");
  EXPECT_EQ(Moved("use<sup>1</sup> <b>now</b>", "现在使用", {{0, 0}}),
            "现在使用<sup>1</sup><b></b>");
  EXPECT_EQ(Moved("use <code>x</code> now", "지금 사용", {{0, 1}}), "지금 사용 <code>x</code>");
}

TEST(HtmlSpacesTest, TextFromScriptsWithoutSpacesGainsThem) {
  EXPECT_EQ(Moved("使用<code>x</code>命令", "use the command", {{0, 0}, {0, 1}, {0, 2}}),
            "use the command <code>x</code>");
  EXPECT_EQ(Moved("使用<code>x</code>", "use", {{0, 0}}), "use <code>x</code>");
  EXPECT_EQ(Moved("<code>x</code>使用", "use", {{0, 0}}), "<code>x</code> use");
  const auto translate = [](const std::string& sentence) {
    Hypothesis hypothesis;
    hypothesis.text = sentence == "你好。" ? "Hello." : "World.";
    hypothesis.alignment = {{0, 0}};
    return hypothesis;
  };
  EXPECT_EQ(TranslateHtml("<p>你好。<b>世界。</b></p>", translate), "<p>Hello. <b>World.</b></p>");
  EXPECT_EQ(TranslateHtml("<p><b>你好。世界。</b></p>", translate), "<p><b>Hello. World.</b></p>");
  EXPECT_EQ(TranslateHtml("<p>你好。<code>x</code>世界。</p>", translate),
            "<p>Hello. <code>x</code> World.</p>");
}

TEST(HtmlSpacesTest, QuotationMarksOpenAndClose) {
  EXPECT_FALSE(NeedsSpaceAfter("say \"", false));
  EXPECT_FALSE(NeedsSpaceAfter("„", false));
  EXPECT_FALSE(NeedsSpaceAfter("(“", false));
  EXPECT_TRUE(NeedsSpaceAfter("say“", false));
  EXPECT_TRUE(NeedsSpaceBefore("\"say", false));
  EXPECT_FALSE(NeedsSpaceBefore("\", he", false));
  EXPECT_FALSE(NeedsSpaceBefore("”", false));
  EXPECT_FALSE(NeedsSpaceBefore("!", false));
  EXPECT_TRUE(NeedsSpaceBefore("!", true));
  EXPECT_TRUE(NeedsSpaceBefore("(a", false));
  EXPECT_FALSE(NeedsSpaceAfter("a-", false));
  EXPECT_TRUE(NeedsSpaceAfter("a -", true));
}

// A model that puts words in another order, in capitals, and forgets some links. A punctuation mark
// that is a word for itself goes to the word before it, as models write.
struct Shuffler {
  std::mt19937* random;
  bool with_spaces = true;
  std::string plain;  // what it wrote

  Hypothesis operator()(const std::string& sentence) {
    std::vector<std::string> words;
    size_t begin = 0;
    for (const size_t end : WordEnds(sentence)) {
      begin = sentence.find_first_not_of(" \t", begin);
      words.push_back(sentence.substr(begin, end - begin));
      begin = end;
    }
    std::vector<int64_t> order(words.size());
    std::iota(order.begin(), order.end(), 0);
    const auto closes = [&](int64_t w) {
      return words[w].size() == 1 && std::string(",.;!?").find(words[w]) != std::string::npos;
    };
    do {
      std::shuffle(order.begin(), order.end(), *random);
    } while (closes(order.front()));
    Hypothesis hypothesis;
    int64_t written = 0;
    for (const int64_t w : order) {
      if (written > 0 && with_spaces && !closes(w)) hypothesis.text += ' ';
      if (closes(w)) --written;
      for (const char c : words[w])
        hypothesis.text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      if ((*random)() % 8 > 0) hypothesis.alignment.push_back({w, with_spaces ? written : 0});
      ++written;
    }
    plain = hypothesis.text;
    return hypothesis;
  }
};

// A document of one sentence: words in inline elements, and with `kept` also code and the like.
class RandomDocument {
 public:
  RandomDocument(std::mt19937* random, bool kept) : random_(*random), kept_(kept) {
    Fill(0);
    html += Word();
  }

  std::string html;
  std::vector<std::string> opened;  // tags
  std::set<std::string> shown;      // text of what is kept

 private:
  bool OneIn(unsigned n) { return random_() % n == 0; }
  std::string Word() {
    static const std::vector<std::string> around_words = {"(@)", "\"@\"", "@,", "@;", "(@", "@)"};
    std::string word = fmt::format("w{}q", words_++);
    if (OneIn(5)) {
      std::string around = around_words[random_() % around_words.size()];
      word = around.replace(around.find('@'), 1, word);
    }
    return word;
  }
  void Keep() {
    const std::string text = fmt::format("k{}q", shown.size());
    const std::string name = OneIn(2) ? "code" : "kbd";
    html += fmt::format("<{0}>{1}</{0}>", name, text);
    shown.insert(text);
  }
  void Fill(int depth) {
    static const std::vector<std::string> names = {"b", "i", "a", "span", "u"};
    for (unsigned parts = 1 + random_() % 4; parts > 0; --parts) {
      if (depth < 3 && OneIn(3)) {
        const std::string& name = names[random_() % names.size()];
        const std::string open = fmt::format("<{} class=c{}>", name, opened.size());
        opened.push_back(open);
        const bool inside = html.ends_with(' ') && OneIn(4);  // the space before it
        if (inside) html.pop_back();
        html += open + (inside ? " " : "");
        Fill(depth + 1);
        html += Word() + "</" + name + "> ";
      } else if (kept_ && OneIn(3)) {
        if (OneIn(4)) html += OneIn(2) ? "(" : "\"";
        Keep();
        html += OneIn(3) ? ", " : html[html.size() - 1] == '"' ? "\" " : " ";
      } else {
        html += Word() + " ";
      }
    }
  }

  std::mt19937& random_;
  const bool kept_;
  int words_ = 0;
};

// The text between tags. Counts opening tags in `opened`; each closing tag closes the last one
// that is open.
std::string TextOf(const std::string& html, std::map<std::string, int>* opened) {
  std::string text;
  std::vector<std::string> open;
  for (size_t at = 0; at < html.size();) {
    if (html[at] != '<') {
      text += html[at++];
      continue;
    }
    const size_t end = html.find('>', at) + 1;
    const std::string tag = html.substr(at, end - at);
    at = end;
    if (tag[1] == '/') {
      EXPECT_FALSE(open.empty()) << html;
      if (open.empty()) return text;
      EXPECT_EQ(tag.substr(2, tag.size() - 3), open.back()) << html;
      open.pop_back();
    } else {
      ++(*opened)[tag];
      open.push_back(tag.substr(1, tag.find_first_of(" >") - 1));
    }
  }
  EXPECT_TRUE(open.empty()) << html;
  return text;
}

TEST(HtmlSpacesTest, ElementsThatMoveLeaveThePlainTranslation) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const RandomDocument document(&random, false);
    Shuffler shuffler{&random, i % 4 > 0};
    const std::string html = TranslateHtml(document.html, std::ref(shuffler));
    SCOPED_TRACE(document.html + "\n" + html);
    std::map<std::string, int> opened;
    EXPECT_EQ(TextOf(html, &opened), shuffler.plain);
    for (const std::string& tag : document.opened) EXPECT_GE(opened[tag], 1) << tag;
    if (HasFailure()) break;
  }
}

// The letters and digits that stand together.
std::vector<std::string> Runs(const std::string& text) {
  std::vector<std::string> runs;
  bool inside = false;
  for (const char c : text) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (letter && !inside) runs.emplace_back();
    if (letter) runs.back() += c;
    inside = letter;
  }
  return runs;
}

TEST(HtmlSpacesTest, WordsAndWhatIsKeptAreNeverGlued) {
  std::mt19937 random(2);
  for (int i = 0; i < 4000; ++i) {
    const RandomDocument document(&random, true);
    Shuffler shuffler{&random};
    const std::string html = TranslateHtml(document.html, std::ref(shuffler));
    SCOPED_TRACE(document.html + "\n" + html);
    std::map<std::string, int> opened;
    const std::string text = TextOf(html, &opened);
    for (const std::string& tag : document.opened) EXPECT_GE(opened[tag], 1) << tag;
    std::vector<std::string> found = Runs(text), want = Runs(shuffler.plain);
    want.insert(want.end(), document.shown.begin(), document.shown.end());
    std::ranges::sort(found);
    std::ranges::sort(want);
    EXPECT_EQ(found, want);
    EXPECT_EQ(text.find("  "), std::string::npos);
    for (const char* closing : {" ,", " ;", " )"})
      EXPECT_TRUE(text.find(closing) == std::string::npos ||
                  shuffler.plain.find(closing) != std::string::npos);
    // Without what is kept, the translation is what it was.
    std::string without = text, plain = shuffler.plain;
    for (const std::string& kept : document.shown) without.erase(without.find(kept), kept.size());
    std::erase(without, ' ');
    std::erase(plain, ' ');
    EXPECT_EQ(without, plain);
    if (HasFailure()) break;
  }
}

TEST(HtmlSpacesTest, TextWithoutSpacesGainsNoneAnywhere) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const RandomDocument document(&random, true);
    const std::string html = TranslateHtml(document.html, [&](const std::string& sentence) {
      Hypothesis hypothesis;
      const int64_t words = CountWords(sentence);
      for (int64_t w = 0; w < words; ++w) {
        hypothesis.text += w % 3 == 2 ? "、" : "字";
        if (random() % 4 > 0) hypothesis.alignment.push_back({w, 0});
      }
      hypothesis.text += "。";
      return hypothesis;
    });
    SCOPED_TRACE(document.html + "\n" + html);
    std::map<std::string, int> opened;
    const std::string text = TextOf(html, &opened);
    const size_t first = text.find("字"), last = text.rfind("。");  // around them stays what stood
    ASSERT_LT(first, last);
    for (size_t at = first; (at = text.find(' ', at)) < last; ++at)
      EXPECT_TRUE(text[at - 1] == 'q' && text[at + 1] == 'k') << at;  // between two that are kept
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace attend
