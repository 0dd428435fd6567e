#include "base/fields.h"

#include <gtest/gtest.h>

#include "attend/error.h"

namespace attend {
namespace {

enum class Colour { kRed, kGreen };

struct Options {
  int64_t count = 3;
  double rate = 0.5;
  bool flag = false;
  std::string name = "x";
  Colour colour = Colour::kRed;
  std::vector<double> weights;
  std::vector<int64_t> ids;
};

FieldList Fields(Options& options) {
  FieldList fields;
  fields.Add("count", &options.count, 1, 10, "how many")
      .Add("rate", &options.rate, 0, 1, "how fast")
      .Add("flag", &options.flag, "whether")
      .Add("name", &options.name, "which")
      .Add("colour", &options.colour, {"red", "green"}, "what colour")
      .Add("weights", &options.weights, 0, 10, "how much of each")
      .Add("ids", &options.ids, 0, 99, "which ones");
  return fields;
}

std::string MessageOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kConfiguration);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(FieldsTest, SetsEveryTypeFromText) {
  Options options;
  const FieldList fields = Fields(options);
  fields.Get("count", "t").Parse("7", "t");
  fields.Get("rate", "t").Parse("1e-1", "t");
  fields.Get("flag", "t").Parse("true", "t");
  fields.Get("name", "t").Parse("a b", "t");
  fields.Get("colour", "t").Parse("green", "t");
  EXPECT_EQ(options.count, 7);
  EXPECT_EQ(options.rate, 0.1);
  EXPECT_TRUE(options.flag);
  EXPECT_EQ(options.name, "a b");
  EXPECT_EQ(options.colour, Colour::kGreen);
  EXPECT_EQ(fields.Get("colour", "t").ValueText(), "green");
}

TEST(FieldsTest, RefusesWrongTypesAndRanges) {
  Options options;
  const FieldList fields = Fields(options);
  EXPECT_EQ(MessageOf([&] { fields.Get("count", "t").Parse("7x", "f.toml:2"); }),
            "f.toml:2: count is '7x', expected an integer, 1 to 10");
  EXPECT_EQ(MessageOf([&] { fields.Get("count", "t").Set(int64_t{11}, "t"); }),
            "t: count is 11, expected an integer, 1 to 10");
  EXPECT_EQ(MessageOf([&] { fields.Get("rate", "t").Parse("nan", "t"); }),
            "t: rate is nan, expected a number, 0 to 1");
  EXPECT_EQ(MessageOf([&] { fields.Get("colour", "t").Parse("blue", "t"); }),
            "t: colour is 'blue', expected one of red, green");
}

TEST(FieldsTest, ListsOfNumbersComeFromNumbersAndFromText) {
  Options options;
  const FieldList fields = Fields(options);
  const Field& weights = fields.Get("weights", "t");
  using Texts = std::vector<std::string>;
  weights.Set(Texts{"1", "0.25"}, "t");
  EXPECT_EQ(options.weights, (std::vector<double>{1, 0.25}));
  weights.Set(std::vector<double>{2, 3}, "t");
  EXPECT_EQ(options.weights, (std::vector<double>{2, 3}));
  weights.Set(int64_t{5}, "t");
  EXPECT_EQ(options.weights, (std::vector<double>{5}));
  weights.Parse("4", "t");
  EXPECT_EQ(weights.ValueText(), "4");
  for (const std::string wrong : {"", "x", "1x", "-1", "nan", "1e9"}) {
    EXPECT_EQ(
        MessageOf([&] { weights.Set(Texts{"1", wrong}, "t"); }).find("t: weights is a list with "),
        0u)
        << wrong;
  }
  EXPECT_EQ(MessageOf([&] { weights.Set(std::vector<double>{1, 11}, "t"); }),
            "t: weights is a list with 11, expected a list of numbers, 0 to 10");
  EXPECT_EQ(MessageOf([&] { fields.Get("rate", "t").Set(std::vector<double>{1}, "t"); }),
            "t: rate is a list, expected a number, 0 to 1");
}

TEST(FieldsTest, ListsOfIntegersHoldNothingElse) {
  Options options;
  const FieldList fields = Fields(options);
  const Field& ids = fields.Get("ids", "t");
  ids.Set(std::vector<double>{7, 42}, "t");
  EXPECT_EQ(options.ids, (std::vector<int64_t>{7, 42}));
  EXPECT_EQ(ids.ValueText(), "7,42");
  EXPECT_EQ(MessageOf([&] { ids.Set(std::vector<double>{1, 0.5}, "t"); }),
            "t: ids is a list with 0.5, expected a list of integers, 0 to 99");
  EXPECT_EQ(MessageOf([&] { ids.Set(std::vector<double>{100}, "t"); }),
            "t: ids is a list with 100, expected a list of integers, 0 to 99");
  ids.Set(std::vector<std::string>{}, "t");
  EXPECT_TRUE(options.ids.empty());
}

TEST(FieldsTest, TraitsAreOfAFieldAndOfWhatItIsNestedIn) {
  Options options;
  std::string path;
  FieldList inner;
  inner.Add("path", &path, "where", kPath).Add("count", &options.count, 1, 10, "how many");
  FieldList fields;
  fields.Nest("inner", inner, kIdentity).Add("flag", &options.flag, "whether", kNotRecorded);
  EXPECT_EQ(fields.Find("inner.path")->traits, kPath | kIdentity);
  EXPECT_EQ(fields.Find("inner.count")->traits, kIdentity);
  EXPECT_EQ(fields.Without(kPath | kNotRecorded).Names(), std::vector<std::string>{"inner.count"});
}

TEST(FieldsTest, NamesTheNearest) {
  Options options;
  EXPECT_EQ(MessageOf([&] { Fields(options).Get("conut", "t"); }),
            "t: unknown option 'conut'; did you mean 'count'?");
  EXPECT_EQ(MessageOf([&] { Fields(options).Get("cost", "t"); }), "t: unknown option 'cost'");
}

}  // namespace
}  // namespace attend
