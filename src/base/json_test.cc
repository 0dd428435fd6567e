#include "base/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

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

TEST(JsonTest, ValuesMayBeBounded) {
  const std::string text = R"([1, [], {"a": "b"}])";  // five
  EXPECT_EQ(ParseJson(text, "f", 5).size(), 3);
  EXPECT_THROW(ParseJson(text, "f", 4), Error);
}

TEST(JsonTest, SaysWhereAndWhat) {
  const auto message = [](const std::string& text) {
    try {
      ParseJson(text, "f");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("{\n  \"a\": 1,\n  }"),
            "f:3:3: not valid JSON: unexpected '}' after '{\\n  \"a\": 1,\\n  '");
  EXPECT_EQ(message("[1, 2"), "f:1:6: not valid JSON: the text ends too early after '[1, 2'");
  EXPECT_EQ(message(""), "f:1:1: not valid JSON: the text ends too early");
  EXPECT_EQ(message("\"\xff\""), "f:1:2: not valid JSON: unexpected byte 0xFF after '\"'");
  EXPECT_EQ(message("{} x"), "f:1:4: not valid JSON: unexpected 'x' after '{} '");
  EXPECT_EQ(message("[1e999]"), "f: not valid JSON: a number is too large to be stored");
}

TEST(JsonTest, MembersAreThereAndOfTheirType) {
  const Json object = {{"count", 3}, {"name", "x"}};
  EXPECT_EQ(MemberOf<int64_t>(object, "count", "f"), 3);
  const auto message = [](const Json& from, const char* name) {
    try {
      MemberOf<int64_t>(from, name, "f");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(object, "cuont"), "f: member 'cuont' is missing");
  EXPECT_EQ(message(Json::array({1}), "count"), "f: member 'count' is missing");
  EXPECT_EQ(message(object, "name"), "f: member 'name' is \"x\", which it can't be");
}

TEST(JsonTest, BoundsMembersAndMessages) {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += fmt::format("\"{}\":0,", i);
  EXPECT_THROW(ParseJson(text + "\"x\":0}", "f"), Error);
  EXPECT_EQ(ParseSortedJson(text + "\"x\":0}", "f").size(), 5001u);
  EXPECT_THROW(ParseSortedJson(text + "\"7\":0}", "f"), Error);
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

TEST(JsonTest, FloatsHaveTheFewestDigits) {
  EXPECT_EQ(FloatsToJson(std::vector{0.1F, -3.0F, 1e-20F, 16777216.0F, 0.0F}).dump(),
            "[0.1,-3.0,1e-20,16777216.0,0.0]");
  std::vector<float> values;
  uint32_t bits = 1;
  for (int i = 0; i < 20000; ++i) {
    bits = bits * 1664525 + 1013904223;
    const auto value = std::bit_cast<float>(bits);
    if (std::isfinite(value)) values.push_back(value);
  }
  const Json list = Json::parse(FloatsToJson(values).dump());
  size_t long_ones = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    std::string text = list[i].dump();
    EXPECT_EQ(std::strtof(text.c_str(), nullptr), values[i]);
    text.resize(std::min(text.find('e'), text.size()));
    std::erase_if(text, [](char c) { return c == '-' || c == '.'; });
    text.erase(0, text.find_first_not_of('0'));
    long_ones += text.find_last_not_of('0') + 1 > 13;  // 9 digits, but for whole numbers
  }
  EXPECT_LT(long_ones, values.size() / 100);  // of which dump() does not find the shortest form
}

}  // namespace
}  // namespace attend
