#include <gtest/gtest.h>

#include "serve/html_fixture.h"
#include "text/lines.h"

namespace attend {
namespace {

// `translate` makes of each sentence its translation, word by word, in the same order.
std::string Translated(const std::string& html, std::string (*translate)(std::string)) {
  return TranslateHtml(html, [translate](const std::string& sentence) {
    Hypothesis hypothesis;
    hypothesis.text = translate(sentence);
    const auto words = std::ssize(WordEnds(hypothesis.text));
    for (int64_t w = 0; w < words; ++w) hypothesis.alignment.push_back({w, w});
    return hypothesis;
  });
}

// Words in capitals, with one space between them, as a model writes.
std::string Capitals(std::string text) {
  std::string capitals;
  for (const char c : text) {
    if (c == ' ' && capitals.ends_with(' ')) continue;
    capitals += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return capitals;
}

TEST(HtmlDocumentTest, WhiteSpaceBesideKeptTagsStays) {
  EXPECT_EQ(Translated("one <img> two", Capitals), "ONE <img> TWO");
  EXPECT_EQ(Translated("one<img> two", Capitals), "ONE<img> TWO");
  EXPECT_EQ(Translated("one <img>two", Capitals), "ONE <img>TWO");
  EXPECT_EQ(Translated("one <img> <!-- a --> two", Capitals), "ONE <img> <!-- a --> TWO");
  EXPECT_EQ(Translated(" <img> one <img> ", Capitals), " <img> ONE <img> ");
  EXPECT_EQ(Translated("<p>one. <wbr> Two <wbr> three.</p>", Capitals),
            "<p>ONE. <wbr> TWO <wbr> THREE.</p>");
}

TEST(HtmlDocumentTest, ATagBehindWhatIsLostGoesToTheEnd) {
  const auto lost = [](std::string) { return std::string("ONE"); };
  EXPECT_EQ(Translated("one <img> two.", lost), "ONE <img>");
  EXPECT_EQ(Translated("one<img> two.", lost), "ONE<img>");
}

TEST(HtmlDocumentTest, LinesOfPreformattedTextStay) {
  const std::string text = "<pre>\n  one two\r\n\tthree\n\n</pre> four\nfive";
  EXPECT_EQ(Translated(text, Capitals), "<pre>\n  ONE TWO\r\n\tTHREE\n\n</pre> FOUR FIVE");
  EXPECT_EQ(Translated("<PRE><b>one\ntwo</b></PRE>", Capitals), "<PRE><b>ONE\nTWO</b></PRE>");
}

TEST(HtmlDocumentTest, WhatIsMarkedAsNotToBeTranslatedIsKept) {
  for (const char* attribute :
       {"translate=no", "translate='no'", "translate = \"NO\"", "TRANSLATE=No", "class=notranslate",
        "class='a notranslate\tb'", "id=x translate=no title=\"it's > that\""}) {
    const std::string kept = std::string("<b ") + attribute + ">two</b>";
    EXPECT_EQ(Translated("one " + kept + " three", Capitals), "ONE " + kept + " THREE");
  }
  for (const char* attribute : {"translate=yes", "title='translate=\"no\"'", "data-translate=no",
                                "translate", "class=notranslated", "class='x-notranslate'",
                                "title=it's", "/", "translate=no/", "=translate=no"}) {
    const std::string open = std::string("<p ") + attribute + ">";
    EXPECT_EQ(Translated(open + "two</p>", Capitals), open + "TWO</p>");
  }
}

TEST(HtmlDocumentTest, WhatIsKeptEndsWhereItsElementDoes) {
  for (const char* kept :
       {"<code>x</code>", "<code>x<!-- </code> -->y</code>", "<code>x <code>y</code> z</code>",
        "<br translate=no>", "<hr class=notranslate>", "<code>x", "<i translate=no>x <b>y</b>"}) {
    EXPECT_EQ(Translated(std::string("one ") + kept + "</p><p>two</p>", Capitals),
              std::string("ONE ") + kept + "</p><p>TWO</p>");
  }
  EXPECT_EQ(Translated("<p translate=no>one<p>two</p>three", Capitals),
            "<p translate=no>one<p>TWO</p>THREE");
  EXPECT_EQ(Translated("<ul><li translate=no>one<li>two</ul>", Capitals),
            "<ul><li translate=no>one<li>TWO</ul>");
  EXPECT_EQ(Translated("<td class=notranslate><div>one</div><td>two", Capitals),
            "<td class=notranslate><div>one</div><td>TWO");
  EXPECT_EQ(Translated("<li translate=no><p>one</p><ul><li>x</ul><li>two", Capitals),
            "<li translate=no><p>one</p><ul><li>x</ul><li>TWO");
  EXPECT_EQ(Translated("<div><b translate=no>one</div>two", Capitals),
            "<div><b translate=no>one</div>TWO");
  const std::string script = "<div translate=no><script>'<div>'</script><p>one</p></div><p>";
  EXPECT_EQ(Translated(script + "two", Capitals), script + "TWO");
}

// Each end is found in one pass: a look at all that follows, for each, would take hours.
TEST(HtmlDocumentTest, ElementsWithoutEndsTakeLinearTime) {
  for (const char* part : {"<code>x<p>", "<li translate=no>x", "<svg><path><b>"}) {
    std::string html;
    while (html.size() < 1 << 22) html += part;
    HtmlDocument(html).Join({});
  }
}

TEST(HtmlDocumentTest, CodeIsKept) {
  for (const char* name : {"code", "kbd", "samp", "var", "svg", "math", "CODE"}) {
    const std::string kept = std::string("<") + name + "><b>two</b> x</" + name + ">";
    EXPECT_EQ(Translated("one " + kept + " three", Capitals), "ONE " + kept + " THREE");
  }
  for (const char* raw : {"<script>if (a <b '</script>", "<style>a{}</STYLE >",
                          "<script>document.write('<script>')</script>"}) {
    const std::string html = std::string("<p>one</p>") + raw;
    EXPECT_EQ(Translated(html + "<p>two</p>", Capitals),
              "<p>ONE</p>" + (raw + std::string("<p>TWO</p>")));
  }
  // Tags that close something else are the script's own, however many stand there.
  std::string script = "<script>";
  while (script.size() < 1 << 20) script += "</a </scripts </scrip/";
  script += "</x></script>";
  EXPECT_EQ(Translated(script + "<p>two</p>", Capitals), script + "<p>TWO</p>");
}

}  // namespace
}  // namespace attend
