#include "base/base64.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

// RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
  const std::pair<std::string, std::string> pairs[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {std::string("\xff\x00\xfe", 3), "/wD+"}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(Base64Of(bytes), text);
    EXPECT_EQ(BytesOfBase64(text), bytes);
  }
}

TEST(Base64, SkipsLineEndsAndRefusesOthers) {
  EXPECT_EQ(BytesOfBase64("Zm9v\r\nYmFy\n"), "foobar");
  for (const char* text : {"Zm9", "Zg=", "Zg", "Zm9v!", "Zg==Zg==", "=", "Z===", "Zm9v-_", "ä"})
    EXPECT_EQ(BytesOfBase64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace attend
