#include "serve/form.h"

#include <gtest/gtest.h>

#include "attend/error.h"

namespace attend {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

TEST(FormTest, MembersAreDecodedInOrder) {
  EXPECT_EQ(ParseForm("q=A+dog%2C%20runs%26+%C3%bc&q=2&&empty=&bare&=x&a=b=c"),
            (Members{{"q", "A dog, runs& \u00fc"},
                     {"q", "2"},
                     {"empty", ""},
                     {"bare", ""},
                     {"", "x"},
                     {"a", "b=c"}}));
  EXPECT_TRUE(ParseForm("").empty());
}

TEST(FormTest, WhatIsNoFormIsAnError) {
  for (const char* body : {"q=%", "q=%4", "q=%4&a=b", "q=%zz", "q=%+1", "q=%-1", "q=%ff", "%=1"}) {
    EXPECT_THROW(ParseForm(body), Error) << body;
  }
}

TEST(FormTest, MembersAreCounted) {
  std::string form;
  for (int i = 0; i < 100; ++i) form += "a&";
  EXPECT_EQ(ParseForm(form).size(), 100);
  EXPECT_THROW(ParseForm(form + "b"), Error);
}

TEST(FormTest, PathsAreBytesAndHavePlusSigns) {
  EXPECT_EQ(DecodePath("a%20b+c%2fd%2B"), "a b+c/d+");
  EXPECT_EQ(DecodePath("%ff"), "\xff");
  for (const char* cut : {"%", "a%2", "%2x", "%%20"}) EXPECT_EQ(DecodePath(cut), std::nullopt);
}

}  // namespace
}  // namespace attend
