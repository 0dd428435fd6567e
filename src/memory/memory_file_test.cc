#include "memory/memory_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "attend/error.h"
#include "base/files.h"

namespace attend {
namespace {

using testing::HasSubstr;

std::string Written(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  WriteFileAtomically(path, text);
  return path;
}

std::string ErrorOf(const std::string& path, const std::string& source = "",
                    const std::string& target = "") {
  try {
    LoadMemory(path, source, target);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "no error";
}

// Units by the source's length.
std::string TextOf(const TranslationMemory& memory) {
  std::string text;
  for (const MemoryUnit& unit : memory.units()) text += unit.source + "|" + unit.target + "\n";
  return text;
}

TEST(MemoryFileTest, ATableHasSourceAndTargetBetweenTabs) {
  const auto path = Written("memory.tsv", "A dog\tEin Hund\tx\r\n\nA big dog\tEin großer\n");
  EXPECT_EQ(TextOf(*LoadMemory(path)), "A dog|Ein Hund\nA big dog|Ein großer\n");
  EXPECT_THAT(ErrorOf(Written("latin1.tsv", "A dog\tEin Hund\nA cat\tgro\xdf\n")),
              HasSubstr("latin1.tsv:2 is not UTF-8; convert the file"));
  EXPECT_THAT([&] { LoadMemory(path, "en", "de"); },
              testing::ThrowsMessage<Error>(HasSubstr("'en' and 'de', and")));
  EXPECT_THAT(ErrorOf(Written("bad.tsv", "A dog\tEin Hund\nA cat\n")),
              HasSubstr("bad.tsv:2: 'A cat' has no tab"));
  EXPECT_THAT(ErrorOf(Written("empty.tsv", "\n")), HasSubstr("no text with its translation"));
  EXPECT_THAT(ErrorOf(testing::TempDir() + "missing.tsv"), HasSubstr("missing.tsv"));
}

std::string Tmx(const std::string& units, const std::string& language = "en-US") {
  return "<?xml version=\"1.0\"?><tmx version=\"1.4\"><header srclang=\"" + language +
         "\" segtype=\"sentence\"/><body>" + units + "</body></tmx>";
}

TEST(MemoryFileTest, ATmxHasTextsWithoutTheirCodes) {
  const auto path = Written("memory.tmx", Tmx("<tu><note>A</note><tuv xml:lang=\"en-us\"><seg>A "
                                              "<bpt i=\"1\">&lt;b></bpt>d<hi>o</hi>g<ept i=\"1\">"
                                              "&lt;/b></ept></seg></tuv>\n<tuv xml:lang=\"DE\">"
                                              "<seg>Ein\nHund &amp; <ph>x<sub>y</sub></ph></seg>"
                                              "</tuv></tu><tu><tuv xml:lang=\"en-US\"><seg>A red "
                                              "cat</seg></tuv></tu>"));
  EXPECT_EQ(TextOf(*LoadMemory(path)), "A dog|Ein Hund &\n");
  EXPECT_EQ(TextOf(*LoadMemory(path, "de", "en")), "Ein Hund &|A dog\n");
  EXPECT_THAT(ErrorOf(path, "fr", "de"),
              HasSubstr("memory.tmx: no text with its translation from 'fr' to 'de'; the file has "
                        "DE, en-US, en-us"));
  EXPECT_THAT(ErrorOf(path, "e"), HasSubstr("no text with its translation from 'e'; the file has"));
  EXPECT_THAT(ErrorOf(path, "", "fr"), HasSubstr("no text with its translation from 'en-US' to "
                                                 "'fr'; the file has"));
  EXPECT_THAT(ErrorOf(Written("none.tmx", Tmx(""))), HasSubstr("its units name no language"));
}

TEST(MemoryFileTest, ATmxIsReadInUtf16Too) {
  std::string wide = "\xff\xfe";
  for (const char c : Tmx("<tu><tuv lang=\"en-US\"><seg>A dog</seg></tuv><tuv lang=\"de\"><seg>Ein "
                          "Hund</seg></tuv></tu>"))
    wide += {c, '\0'};
  EXPECT_EQ(TextOf(*LoadMemory(Written("wide.tmx", wide))), "A dog|Ein Hund\n");
}

TEST(MemoryFileTest, ACompressedTmxIsRefusedByItsName) {
  for (const std::string name : {"units.tmx.gz", "units.TMX.zst"})
    EXPECT_THAT(ErrorOf(testing::TempDir() + name), HasSubstr(name + ": a TMX is not read "
                                                                     "compressed; unpack it"));
}

TEST(MemoryFileTest, AMessageNamesSomeOfManyLanguages) {
  std::string units;
  for (int i = 10; i < 60; ++i)
    units += "<tu><tuv xml:lang=\"l" + std::to_string(i) + "\"><seg>a</seg></tuv></tu>";
  const std::string error = ErrorOf(Written("many.tmx", Tmx(units)), "en", "de");
  EXPECT_THAT(error, HasSubstr("has l10, l11, l12"));
  EXPECT_THAT(error, HasSubstr("l21 and maybe more"));
}

TEST(MemoryFileTest, ATmxThatSaysTooLittleOrIsNoneIsRefused) {
  const std::string three =
      "<tu>\n<tuv xml:lang=\"en\"><seg>a</seg></tuv><tuv xml:lang=\"de\"><seg>b</seg></tuv>"
      "<tuv xml:lang=\"fr\"><seg>c</seg></tuv></tu>";
  const auto path = Written("three.tmx", Tmx(three, "*all*"));
  EXPECT_THAT(ErrorOf(path), HasSubstr("three.tmx:2: the file does not say which language is the "
                                       "source"));
  EXPECT_THAT(ErrorOf(path, "en"), HasSubstr("in 'de' and 'fr'; name one as the target language"));
  EXPECT_EQ(TextOf(*LoadMemory(path, "en", "fr")), "a|c\n");
  EXPECT_THAT(ErrorOf(Written("cut.tmx", Tmx(three).substr(0, 150))),
              HasSubstr("no well-formed XML"));
  EXPECT_THAT(ErrorOf(Written("page.tmx", "<html/>")), HasSubstr("the root is <html>"));
  EXPECT_THAT(ErrorOf(Written("text.tmx", "A dog\tEin Hund\n")), HasSubstr("no well-formed XML"));
  // Entities that grow without end.
  std::string bomb = "<!DOCTYPE tmx [<!ENTITY a0 \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\">";
  for (int i = 1; i < 9; ++i) {
    bomb += "<!ENTITY a" + std::to_string(i) + " \"";
    for (int j = 0; j < 40; ++j) bomb += "&a" + std::to_string(i - 1) + ";";
    bomb += "\">";
  }
  EXPECT_THAT(ErrorOf(Written("bomb.tmx", bomb + "]><tmx><header srclang=\"en\"/><body><tu><tuv "
                                                 "xml:lang=\"en\"><seg>&a8;</seg></tuv></tu></body>"
                                                 "</tmx>")),
              HasSubstr("no well-formed XML"));
}

}  // namespace
}  // namespace attend
