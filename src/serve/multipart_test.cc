#include "serve/multipart.h"

#include <gtest/gtest.h>

#include "attend/error.h"

namespace attend {
namespace {

constexpr const char* kType = "multipart/form-data; boundary=xYx";

std::string Part(const std::string& head, const std::string& content) {
  return "--xYx\r\n" + head + "\r\n\r\n" + content + "\r\n";
}

std::string Disposition(const std::string& attributes) {
  return "Content-Disposition: form-data; " + attributes;
}

TEST(MultipartTest, PartsAreReadInOrder) {
  const std::string bytes("a\r\n--xY\0\r\n\r\n\xff", 13);
  const auto parts = ParseMultipart(
      kType, Part(Disposition("name=\"q\""), "A dog; \"runs\"") +
                 Part(Disposition("name=empty"), "") +
                 Part("content-type: text/plain\r\nCONTENT-DISPOSITION: form-data; name=\"file\"; "
                      "filename=\"a; b=c.txt\"",
                      bytes) +
                 "--xYx--\r\n");
  ASSERT_EQ(parts.size(), 3);
  EXPECT_EQ(parts[0].name, "q");
  EXPECT_EQ(parts[0].content, "A dog; \"runs\"");
  EXPECT_FALSE(parts[0].file_name);
  EXPECT_EQ(parts[1].name, "empty");
  EXPECT_EQ(parts[1].content, "");
  EXPECT_EQ(parts[2].name, "file");
  EXPECT_EQ(parts[2].file_name, "a; b=c.txt");
  EXPECT_EQ(parts[2].content, bytes);
}

TEST(MultipartTest, BoundariesMayBeQuotedAndFileNamesExtended) {
  const std::string head = Disposition("name=\"file\"; filename*=utf-8''%C3%BC.txt");
  const auto parts = ParseMultipart("Multipart/form-data; charset=x; Boundary=\"x Y;\"",
                                    "--x Y;\r\n" + head + "\r\n\r\n1\r\n--x Y;--");
  ASSERT_EQ(parts.size(), 1);
  EXPECT_EQ(parts[0].file_name, "utf-8''%C3%BC.txt");
  EXPECT_EQ(parts[0].content, "1");
  EXPECT_TRUE(ParseMultipart(kType, "--xYx--").empty());
}

TEST(MultipartTest, WhatIsNoSuchBodyIsAnError) {
  const std::string good = Part(Disposition("name=\"q\""), "A dog");
  EXPECT_EQ(ParseMultipart(kType, good + "--xYx--").size(), 1);
  for (const std::string& body :
       {std::string(), std::string("--xYx"), good, good + "--xYx", "\r\n" + good + "--xYx--",
        Part(Disposition("filename=\"q\""), "A dog") + "--xYx--", Part("", "A dog") + "--xYx--",
        Part(Disposition("name=\"q\"\r\nContent-Transfer-Encoding: base64"), "QQ==") + "--xYx--",
        "--xYx \r\n" + good.substr(7) + "--xYx--", std::string("--xYx\r\n\r\n--xYx--")}) {
    EXPECT_THROW(ParseMultipart(kType, body), Error) << body;
  }
  std::string many;
  for (int i = 0; i < 100; ++i) many += good;
  EXPECT_EQ(ParseMultipart(kType, many + "--xYx--").size(), 100);
  EXPECT_THROW(ParseMultipart(kType, many + good + "--xYx--"), Error);
  for (const char* type :
       {"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary"}) {
    EXPECT_THROW(ParseMultipart(type, good + "--xYx--"), Error) << type;
  }
  EXPECT_THROW(ParseMultipart(std::string(kType) + std::string(70, 'x'), good), Error);
}

}  // namespace
}  // namespace attend
