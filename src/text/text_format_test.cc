#include "text/text_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

TEST(ForeignFormat, IsNamedByWhatAFileBeginsWith) {
  const std::pair<std::string, const char*> cases[] = {
      {"%PDF-1.7\n", "PDF"},
      {"\x1F\x8B\x08\x00"s, ".gz"},
      {"\x28\xB5\x2F\xFDxx", ".zst"},
      {"PK\x03\x04....word/document.xml", ".docx"},
      {"PK\x03\x04....xl/workbook.xml", ".xlsx"},
      {"PK\x03\x04....mimetypeapplication/vnd.oasis.opendocument.text", "OpenDocument"},
      {"PK\x03\x04....[Content_Types].xml", "ZIP"},
      {std::string(257, 'a') + "ustar", "tar"},
      {"\xFF\xFEH\0i\0\n\0"s, "UTF-16"},
      {"\xFE\xFF\x4E\x2D\0\n"s, "UTF-16"},
      {"\xFF\xFE\0\0h\0\0\0i\0\0\0"s, "UTF-32"},
      {"\0\0\0T\0\0\0h\0\0\0e\0\0\0 "s, "UTF-32"},
      {"T\0h\0e\0 \0h\0o\0u\0s\0e\0"s, "UTF-16"},
      {"<?xml version=\"1.0\"?>\n<!-- x > y -->\n<tmx version=\"1.4\">", "TMX"},
      {"<tmx version=\"1.4\">\n<header/>", "TMX"},
      {"\xEF\xBB\xBF<?xml version=\"1.0\"?><xliff version=\"1.2\">", "XLIFF"},
      {"<?xml version=\"1.0\"?>\n<feed>", "XML"},
      {"<!DOCTYPE html>\n<html lang=\"en\">\n<head>", "HTML"},
      {"<HTML>\n<BODY>\nx", "HTML"},
      {"<refset setid=\"a\">\n<doc>", "SGML"},
      {"{\n  \"text\": \"a\",\n  \"b\": [1, 2", "JSON"},
      {"[{\"text\": \"a\"}]\n", "JSON"},
      {"{\"text\": \"a\"}\n{\"text\": \"b\"}\n", "JSON lines"},
      {"the house\tdas Haus\nold\talt\n", "2 columns"},
      {"a\tb\tc\nd\te\tf\n\ng\th\ti", "3 columns"},
      {"a\tb\r\nc\td\r\n", "2 columns"}};
  for (const auto& [bytes, named] : cases) EXPECT_THAT(ForeignFormat(bytes), HasSubstr(named));
}

TEST(ForeignFormat, SentencesAreNone) {
  for (const std::string& text : {""s,
                                  "a house\n"s,
                                  "one\tline with a tab\n"s,
                                  "a\tb\nno tab here\nc\td\n"s,
                                  "a\tb\nc\td\te\n"s,
                                  "\tindented\n\ttext\n"s,
                                  "<b>Bold</b> words\nand more\n"s,
                                  "<html> is a tag\nof pages\n"s,
                                  "<p>A paragraph</p>\n<p>Another</p>\n"s,
                                  "{name} has {n} files\n"s,
                                  "{\n"s,
                                  "[1] He said\n"s,
                                  "[\"Hello\", he said]\n"s,
                                  "{}\n"s,
                                  "[]\n"s,
                                  "< 5 is less\n"s,
                                  "<tmx> is a format\n"s,
                                  "\xFF\xFE malformed\n"s,
                                  "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"s,
                                  "a\0b\0\n"s,
                                  "PK is short\n"s,
                                  "BZh, a name\n"s,
                                  "{\"quoted\"} braces\n"s})
    EXPECT_EQ(ForeignFormat(text), "") << text;
}

}  // namespace
}  // namespace attend
