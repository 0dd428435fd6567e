#include "base/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {
namespace {

TEST(JsonTest, RefusesDepthRepeatsAndBadUtf8) {
  EXPECT_THROW(ParseJson(std::string(65, '[') + std::string(65, ']'), "f"), Error);
  EXPECT_NO_THROW(ParseJson(std::string(60, '[') + std::string(60, ']'), "f"));
  EXPECT_THROW(ParseJson(R"({"a": 1, "a": 2})", "f"), Error);
  EXPECT_NO_THROW(ParseJson(R"({"a": {"a": 2}, "b": {"a": 3}})", "f"));
  EXPECT_THROW(ParseJson("\"\xff\"", "f"), Error);
  EXPECT_THROW(ParseJson("{} x", "f"), Error);
}

TEST(JsonTest, BoundsMembersAndMessages) {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += fmt::format("\"{}\":0,", i);
  EXPECT_THROW(ParseJson(text + "\"x\":0}", "f"), Error);
  try {
    ParseJson("\"" + std::string(100000, 'x') + "\n", "f");
    FAIL();
  } catch (const Error& error) {
    EXPECT_LT(std::string(error.what()).size(), 400u);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

TEST(JsonTest, DumpRepairsWhatIsNotUtf8) {
  EXPECT_EQ(Dump({{"a", "x\xff\xc3"}, {"b", {1, "\u00e4"}}}),
            "{\"a\":\"x\ufffd\ufffd\",\"b\":[1,\"\u00e4\"]}");
}

TEST(JsonTest, ExcerptCutsBetweenCharacters) {
  EXPECT_EQ(Excerpt("a\nb"), "a?b");
  EXPECT_EQ(Excerpt("x\u00e4\u00e4", 4), "x\u00e4...");
  EXPECT_EQ(Excerpt("x\u00e4", 3), "x\u00e4");
}

TEST(JsonTest, EmptyObjectsAreKeysToo) {
  int64_t layers = 6;
  FieldList inner;
  inner.Add("layers", &layers, 1, 100, "");
  FieldList fields;
  fields.Nest("encoder", inner);
  EXPECT_NO_THROW(FieldsFromJson(ParseJson(R"({"encoder": {}})", "f"), fields, "f"));
  EXPECT_THROW(FieldsFromJson(ParseJson(R"({"encodr": {}})", "f"), fields, "f"), Error);
}

TEST(JsonTest, FieldsRoundTrip) {
  int64_t layers = 6;
  std::string name = "a";
  FieldList inner;
  inner.Add("layers", &layers, 1, 100, "");
  FieldList fields;
  fields.Add("name", &name, "").Nest("encoder", inner);
  const Json object = FieldsToJson(fields);
  EXPECT_EQ(object.dump(), R"({"name":"a","encoder":{"layers":6}})");
  FieldsFromJson(ParseJson(R"({"encoder": {"layers": 2}})", "f"), fields, "f");
  EXPECT_EQ(layers, 2);
  EXPECT_THROW(FieldsFromJson(ParseJson(R"({"encoder": {"layer": 2}})", "f"), fields, "f"), Error);
  EXPECT_THROW(FieldsFromJson(ParseJson(R"({"name": 2})", "f"), fields, "f"), Error);
  EXPECT_THROW(FieldsFromJson(ParseJson(R"({"encoder": {"layers": "2"}})", "f"), fields, "f"),
               Error);
}

}  // namespace
}  // namespace attend
