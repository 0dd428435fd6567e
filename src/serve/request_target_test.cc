#include "serve/request_target.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

std::string Read(std::string_view target) {
  HttpRequest request;
  if (!ReadTarget(target, &request)) return "none";
  return request.host + "|" + request.path + "|" + request.query;
}

TEST(RequestTargetTest, HasPathAndQuery) {
  EXPECT_EQ(Read("/a/b?c=d?e"), "|/a/b|c=d?e");
  EXPECT_EQ(Read("/a?"), "|/a|");
  EXPECT_EQ(Read("//a///b/?x=//"), "|/a/b/|x=//");
}

TEST(RequestTargetTest, MayNameTheHost) {
  EXPECT_EQ(Read("http://h:1/a?b"), "h:1|/a|b");
  EXPECT_EQ(Read("HTTPS://h"), "h|/|");
  EXPECT_EQ(Read("http://h?b"), "h|/|b");
  EXPECT_EQ(Read("http://a@h//b"), "a@h|/b|");
}

TEST(RequestTargetTest, HasNoOtherForm) {
  for (const char* target :
       {"", "*", "a", "h:80", "ftp://h/", "http://", "http:///a", "://h", "?a"})
    EXPECT_EQ(Read(target), "none") << target;
}

TEST(RequestTargetTest, IdsAreTakenOrMade) {
  EXPECT_EQ(RequestId("a-B_9.:/+=@"), "a-B_9.:/+=@");
  EXPECT_EQ(RequestId(std::string(128, 'a')).size(), 128);
  for (const std::string& wrong :
       {std::string(), std::string(129, 'a'), std::string("a b"), std::string("a,b"),
        std::string("a\"b"), std::string("\xc3\xa4"), std::string("a\x1b")}) {
    EXPECT_EQ(RequestId(wrong).size(), 32);
    EXPECT_NE(RequestId(wrong), RequestId(wrong));
  }
}

}  // namespace
}  // namespace attend
