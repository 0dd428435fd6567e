#include "serve/host_names.h"

#include <gtest/gtest.h>

#include "attend/error.h"

namespace attend {
namespace {

std::string NameOf(std::string_view text) {
  const auto host = ParseHostName(text);
  return host ? host->name + "|" + host->port : "none";
}

TEST(HostNamesTest, ReadsNamesAddressesAndPorts) {
  EXPECT_EQ(NameOf("localhost"), "localhost|");
  EXPECT_EQ(NameOf("Translate.Example.ORG.:443"), "translate.example.org|443");
  EXPECT_EQ(NameOf("127.0.0.1:5000"), "127.0.0.1|5000");
  EXPECT_EQ(NameOf("[::1]:5000"), "[::1]|5000");
  EXPECT_EQ(NameOf("[0:0:0:0:0:0:0:1]"), "[::1]|");
  EXPECT_EQ(NameOf("x:"), "x|");
}

TEST(HostNamesTest, RefusesWhatIsNoHost) {
  for (const char* text :
       {"",           ".",           "..", ":80",    "a b",      "a/b",   "a@b", "a\"b", "a<b",
        "a,b",        "a..b",        ".a", "a:b",    "a:123456", "a:1:2", "::1", "[::1", "[::1]x",
        "[::1%25lo]", "[localhost]", "[]", "a\r\nb", "\xc3\xa4", "a?b",   "a#b", "a%41"}) {
    EXPECT_EQ(NameOf(text), "none") << text;
  }
  EXPECT_EQ(NameOf(std::string(254, 'a')), "none");
}

bool Allows(const AllowedHosts& hosts, std::string_view text) {
  return hosts.Allows(*ParseHostName(text));
}

TEST(HostNamesTest, LoopbackNamesAreOurs) {
  for (const char* listen : {"127.0.0.1", "::1", "127.0.0.2"}) {
    const AllowedHosts hosts({}, listen);
    for (const char* ours : {"localhost", "LOCALHOST.:1", "a.localhost", "127.0.0.1:5000",
                             "127.9.9.9", "[::1]:5000", "[::ffff:127.0.0.1]"}) {
      EXPECT_TRUE(Allows(hosts, ours)) << ours;
    }
    for (const char* foreign : {"evil.example", "localhost.evil.example", "notlocalhost", "0.0.0.0",
                                "192.168.0.1", "127.0.0.1.evil.example", "[fe80::1]", "[::]"}) {
      EXPECT_FALSE(Allows(hosts, foreign)) << foreign;
    }
  }
}

TEST(HostNamesTest, NamesMayBeAllowed) {
  AllowedHosts hosts({"A.example", "*.b.example", "10.0.0.1", "fd00::1"}, "0.0.0.0");
  hosts.Add("c.example");
  for (const char* ours :
       {"a.example:80", "x.b.example", "10.0.0.1", "[fd00:0::1]:80", "c.example", "localhost"}) {
    EXPECT_TRUE(Allows(hosts, ours)) << ours;
  }
  for (const char* foreign : {"x.a.example", "b.example", "xb.example", "10.0.0.2"}) {
    EXPECT_FALSE(Allows(hosts, foreign)) << foreign;
  }
  EXPECT_TRUE(Allows(AllowedHosts({}, "0.0.0.0"), "any.example"));
  EXPECT_TRUE(Allows(AllowedHosts({"*"}, "127.0.0.1"), "any.example"));
  for (const char* wrong : {"", "a:80", "http://a", "*", "*.", "a/b"}) {
    if (std::string(wrong) == "*") continue;
    EXPECT_THROW(AllowedHosts({wrong}, "127.0.0.1"), Error) << wrong;
  }
}

TEST(HostNamesTest, ReadsPublicUrls) {
  EXPECT_EQ(ParsePublicUrl("").url, "");
  EXPECT_EQ(ParsePublicUrl("https://T.example/a/").url, "https://T.example/a");
  EXPECT_EQ(ParsePublicUrl("https://T.example:444").host, "t.example");
  EXPECT_EQ(ParsePublicUrl("http://[::1]:5000").host, "[::1]");
  for (const char* wrong : {"t.example", "ftp://t", "https://", "https://a@b", "https://a?b",
                            "https://a/#", "https://a/b c", "https://a b"}) {
    EXPECT_THROW(ParsePublicUrl(wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace attend
