#include <gtest/gtest.h>

#include "html/html_fixture.h"
#include "text/lines.h"

namespace attend {
namespace {

// `translate` makes of each sentence its translation, word by word, in the same order.
std::string Translated(const std::string& html, std::string (*translate)(const std::string&)) {
  return TranslateHtml(html, [translate](const std::string& sentence) {
    Hypothesis hypothesis;
    hypothesis.text = translate(sentence);
    const auto words = std::ssize(WordEnds(hypothesis.text));
    for (int64_t w = 0; w < words; ++w) hypothesis.alignment.push_back({w, w});
    return hypothesis;
  });
}

// Words in capitals, with one space between them, as a model writes.
std::string Capitals(const std::string& text) {
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
  for (const std::string comment :
       {"<!-->", "<!--->", "<!---->", "<!-- a --!>", "<!-- a -- > --->", "<!-- <!-- -->"}) {
    EXPECT_EQ(Translated("one <img> " + comment + " two", Capitals),
              "ONE <img> " + comment + " TWO");
  }
  EXPECT_EQ(Translated(" <img> one <img> ", Capitals), " <img> ONE <img> ");
  EXPECT_EQ(Translated("<p>one. <wbr> Two <wbr> three.</p>", Capitals),
            "<p>ONE. <wbr> TWO <wbr> THREE.</p>");
}

TEST(HtmlDocumentTest, ATagBehindWhatIsLostGoesToTheEnd) {
  const auto lost = [](const std::string&) { return std::string("ONE"); };
  EXPECT_EQ(Translated("one <img> two.", lost), "ONE <img>");
  EXPECT_EQ(Translated("one<img> two.", lost), "ONE<img>");
}

TEST(HtmlDocumentTest, WordsWithoutAlignmentAreTakenInTheirOrder) {
  const auto remembered = [](const std::string&) {
    Hypothesis hypothesis;
    hypothesis.text = "EINS ZWEI DREI VIER";
    return hypothesis;
  };
  EXPECT_EQ(TranslateHtml("<b>one two</b>", remembered), "<b>EINS ZWEI DREI VIER</b>");
  EXPECT_EQ(TranslateHtml("one <b>two</b>", remembered), "EINS ZWEI <b>DREI VIER</b>");
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

// Tags and `kept` are as they were, at the same places.
void ExpectKept(const std::string& html, const std::string& kept) {
  std::string want = Capitals(html);
  const size_t at = html.find(kept);
  ASSERT_NE(at, html.npos) << kept;
  want.replace(at, kept.size(), kept);
  for (size_t tag = 0; (tag = html.find('<', tag)) != html.npos;) {
    const size_t end = html.find('>', tag) + 1;
    want.replace(tag, end - tag, html.substr(tag, end - tag));
    tag = end;
  }
  EXPECT_EQ(Translated(html, Capitals), want);
}

TEST(HtmlDocumentTest, WhatIsKeptEndsWhereItsElementDoes) {
  const std::string end = "</p><p>two</p>";
  for (const char* kept :
       {"<code>x</code>", "<code>x <code>y</code> z</code>", "<code>x",
        "<i translate=no>x <b>y</b>", "<code>x<br>y</code>", "<math><mi>x</mi><mo>=</mo></math>",
        "<svg><g><text>x</text></g></svg>"}) {
    ExpectKept("<p>one " + (kept + end), kept);
  }
  for (const char* kept : {"<br translate=no>", "<hr class=notranslate>"}) {
    ExpectKept("one " + (kept + end), kept);
  }
  EXPECT_EQ(Translated("one <code>x<!-- </code> --></code> two", Capitals),
            "ONE <code>x<!-- </code> --></code> TWO");
  EXPECT_EQ(Translated("<div translate=no><script>'<div>'</script><p>x</div>two", Capitals),
            "<div translate=no><script>'<div>'</script><p>x</div>TWO");
  ExpectKept("<b>one <code>x</b> y</code> two", "x</b> y");
  ExpectKept("<font><p class=notranslate>x</font> y</p>two", "x</font> y");
}

TEST(HtmlDocumentTest, EndTagsMayBeLeftOut) {
  ExpectKept("<p translate=no>x<p>two</p>three", "x");
  ExpectKept("<p translate=no>x<br>y</p>two", "x<br>y");
  ExpectKept("<ul><li translate=no>x<li>two</ul>", "x");
  ExpectKept("<ul><li translate=no><p>x<ul><li>y</ul>z<li>two</ul>", "<p>x<ul><li>y</ul>z");
  ExpectKept("<table><td class=notranslate><div>x</div><td>two</table>", "<div>x</div>");
  ExpectKept("<table><thead translate=no><tr><th>x<tbody><tr><td>two</table>", "<tr><th>x");
  ExpectKept("<table><thead><tr><th>one<tbody translate=no><tr><td>x<tr><td>y</table>two",
             "<tr><td>x<tr><td>y");
  ExpectKept("<select><option>one<optgroup translate=no><option>x<option>y</select>two",
             "<option>x<option>y");
  ExpectKept("<div><table translate=no><tr><td>x</div></td><td>y</table></div>two",
             "<tr><td>x</div></td><td>y");
  ExpectKept("<div><b translate=no>x</div>two", "x");
  ExpectKept("<div translate=no><p>x</p></div><p>two", "<p>x</p>");
}

// Each end is found in one pass: a look at all that follows, for each, would take hours.
TEST(HtmlDocumentTest, ElementsWithoutEndsTakeLinearTime) {
  const std::pair<const char*, const char*> texts[] = {{"<code>x<p>", "two"},
                                                       {"<li translate=no>x", "<li>two"},
                                                       {"<svg><path><b>", "<p>two"},
                                                       {"<i>x<p><b></i>", "<p>two"},
                                                       {"<td></div>", "two"}};
  for (const auto& [part, last] : texts) {
    std::string html;
    while (html.size() < 1 << 22) html += part;
    const HtmlDocument document(html + last);
    ASSERT_GT(document.segments(), 0);
    EXPECT_EQ(document.Text(document.segments() - 1), "two");
  }
}

// Its sentences' words in reverse.
std::string Reversed(const std::string& html) {
  return TranslateHtml(html, [](const std::string& sentence) {
    Hypothesis hypothesis;
    const std::vector<size_t> ends = WordEnds(sentence);
    size_t end = sentence.size();
    for (int64_t w = std::ssize(ends) - 1; w >= 0; --w) {
      const size_t begin = w > 0 ? sentence.find_first_not_of(' ', ends[w - 1]) : 0;
      hypothesis.alignment.push_back({w, std::ssize(ends) - 1 - w});
      hypothesis.text += Capitals(sentence.substr(begin, end - begin)) + (w > 0 ? " " : "");
      end = w > 0 ? ends[w - 1] : 0;
    }
    return hypothesis;
  });
}

TEST(HtmlDocumentTest, WhatIsKeptStaysInItsElement) {
  for (const char* html :
       {"<p><a href=\"/\"><img></a> one two</p>", "<a><i class=icon></i> one two</a> three",
        "<li><label><input> one</label></li>", "<a>one two <img></a> three",
        "<b>one <!-- --> two</b> three", "<u><a><img></a></u> one",
        "<a href=/><img>one<div>two</div></a>", "<u><img><a>one.</a><a>Two</a></u>",
        "one <i class=star></i><i class=star></i> two", "one <i></i><img> two",
        "<i class=icon></i><img> one"}) {
    ExpectKept(html, "");
  }
  EXPECT_EQ(Translated("<i>one <span translate=no>x</span></i> two", Capitals),
            "<i>ONE <span translate=no>x</span></i> TWO");
  EXPECT_EQ(Translated("<a><code>f()</code></a> one", Capitals), "<a><code>f()</code></a> ONE");
  EXPECT_EQ(Reversed("one <a id=x>two <img> three</a>"), "<a id=x><img> THREE TWO</a> ONE");
}

TEST(HtmlDocumentTest, SiblingsWithoutSpaceStaySiblings) {
  ExpectKept("<a>one two.</a><a>Three four.</a>", "");
  for (const char* html :
       {"<nav><a>One</a><a>Two three</a><a>four</a></nav>", "<a>one</a><!-- --><a>two</a>",
        "<a><span>One</span></a><a><span>Two</span></a>", "<a><img>One</a><a><img>Two</a>",
        "<span>we met Alice</span><span>, who left.</span>"}) {
    ExpectKept(html, "");
  }
  EXPECT_EQ(Translated("<a>one</a><a>\xC3\x9C two</a>", Capitals), "<a>ONE</a><a>\xC3\x9C TWO</a>");
  EXPECT_EQ(Reversed("<span>one</span><span>&nbsp;two three</span>"),
            "<span>THREE TWO</span> <span>ONE</span>");
  EXPECT_EQ(Reversed("<span>one two.</span><span>three four</span>"),
            "<span>TWO. ONE</span><span>FOUR THREE</span>");
  EXPECT_EQ(Translated("<b>one</b><b>two</b> three", Capitals), "<b>ONETWO</b> <b></b>THREE");
  EXPECT_EQ(Translated("<u><a>one.</a><a>two</a></u> three", Capitals),
            "<u><a>ONE.</a><a>TWO</a></u> THREE");
}

TEST(HtmlDocumentTest, TagsInsideWords) {
  ExpectKept("one <em>two</em>. three", "");
  ExpectKept("<b>one</b>, two (<i>three</i>)!", "");
  EXPECT_EQ(Reversed("one two<sup>1</sup>. three"), "THREE TWO<sup>1</sup>. ONE");
  EXPECT_EQ(Reversed("one two.<sup>[1]</sup> three four"), "FOUR THREE TWO.<sup>[1]</sup> ONE");
  EXPECT_EQ(Reversed("<p>one<a id=f href=#1>1</a> two"), "<p>TWO ONE<a id=f href=#1>1</a>");
  ExpectKept("one two.<sup>[1]</sup><sup>[2]</sup> Three four.", "");
  EXPECT_EQ(Translated("one<sup><b>1</sup></b> two", Capitals), "<sup><b>ONE1</b></sup> TWO");
  EXPECT_EQ(Translated("c&oelig;ur it&#146;s", Capitals), "C\xC5\x93UR IT\xE2\x80\x99S");
  // Some names stand without a semicolon; the longest counts.
  EXPECT_EQ(Translated("&copy 2026 &frac12cup &notin; &notit; AT&T a&nbspb &alpha", Capitals),
            "\u00a9 2026 \u00bdCUP \u2209 \u00acIT; AT&amp;T A B &amp;ALPHA");
  // The first, the last and the longest of the standard's names; one of two characters.
  EXPECT_EQ(Translated("a&AElig;b&zwnj;c&CounterClockwiseContourIntegral;d&bne;e", Capitals),
            "A\u00c6B\u200cC\u2233D=\u20e5E");
  EXPECT_EQ(Translated("one &NewLine; two &nosuchname; three", Capitals),
            "ONE &NewLine; TWO &nosuchname; THREE");
  EXPECT_EQ(Translated("one H<sub>2</sub>O", Capitals), "ONE H<sub>2</sub>O");
  EXPECT_EQ(Translated("a<b>b</b>c one", Capitals), "<b>ABC</b> ONE");
  EXPECT_EQ(Translated("&nbsp;<b>one</b>&nbsp;two\xC2\xA0<i>three</i>", Capitals),
            " <b>ONE</b> TWO <i>THREE</i>");
}

TEST(HtmlDocumentTest, AnElementThatPartsHasOneId) {
  EXPECT_EQ(Reversed("<b id='x' class=c>one two</b> <i>three</i> <b ID=y>four</b>"),
            "<b ID=y>FOUR</b> <i>THREE</i> <b id='x' class=c>TWO ONE</b>");
  const auto parted = [](const std::string&) { return std::string("one two three"); };
  const std::string html = "<b id='x' class=c>one <i>two</i> three</b>";
  EXPECT_EQ(Translated(html, parted), html);
}

TEST(HtmlDocumentTest, PartsOfAWordAreJoinedWithoutASpace) {
  const HtmlDocument document("<p>abcdef</p>");
  const std::vector<Hypothesis> hypotheses = {{.text = "ABC"}, {.text = "DEF"}};
  const auto best = [&](size_t part) -> const Hypothesis& { return hypotheses[part]; };
  std::vector<TextPart> parts = {{.begin = 0, .end = 3}, {.begin = 3, .end = 6}};
  EXPECT_EQ(document.Join({document.Translate(0, parts, best)}), "<p>ABC DEF</p>");
  parts[1].in_word = true;
  EXPECT_EQ(document.Join({document.Translate(0, parts, best)}), "<p>ABCDEF</p>");
}

TEST(HtmlDocumentTest, TitlesAndCustomElementsAreText) {
  ExpectKept("<title>one</title><p>two <my-part data-x=1>three</my-part> four", "");
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
