#include "base/json.h"

#include <gtest/gtest.h>

#include "attend/error.h"

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
