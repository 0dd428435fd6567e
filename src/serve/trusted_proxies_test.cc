#include "serve/trusted_proxies.h"

#include <gtest/gtest.h>

#include <boost/asio/ip/address.hpp>

#include "attend/error.h"

namespace attend {
namespace {

ClientFacts FactsOf(const std::string& peer, const Forwarded& forwarded) {
  const TrustedProxies proxies({"10.0.0.0/8", "192.168.1.1", "fd00::/8"});
  return proxies.ClientOf(boost::asio::ip::make_address(peer), forwarded);
}

std::string ClientOf(const std::string& peer, const std::string& told) {
  return FactsOf(peer, {.client = told}).address;
}

TEST(TrustedProxiesTest, OnlyTrustedProxiesAreBelieved) {
  EXPECT_EQ(ClientOf("10.1.2.3", "1.2.3.4"), "1.2.3.4");
  EXPECT_EQ(ClientOf("192.168.1.1", "1.2.3.4"), "1.2.3.4");
  EXPECT_EQ(ClientOf("192.168.1.2", "1.2.3.4"), "192.168.1.2");
  EXPECT_EQ(ClientOf("::ffff:10.1.2.3", "1.2.3.4"), "1.2.3.4");
  EXPECT_EQ(ClientOf("fd00::5", "2001:db8::1"), "2001:db8::1");
  EXPECT_EQ(ClientOf("fe80::5", "2001:db8::1"), "fe80::5");
  EXPECT_EQ(ClientOf("::ffff:8.8.8.8", ""), "8.8.8.8");
}

TEST(TrustedProxiesTest, TheClientIsTheLastAddressThatIsNoProxy) {
  EXPECT_EQ(ClientOf("10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2"), "1.2.3.4");
  EXPECT_EQ(ClientOf("10.0.0.1", "6.6.6.6, 1.2.3.4,10.0.0.2 , fd00::7"), "1.2.3.4");
  EXPECT_EQ(ClientOf("10.0.0.1", "10.0.0.3, 10.0.0.2"), "10.0.0.3");
  EXPECT_EQ(ClientOf("10.0.0.1", ""), "10.0.0.1");
  EXPECT_EQ(ClientOf("10.0.0.1", "1.2.3.4, nonsense"), "10.0.0.1");
  EXPECT_EQ(ClientOf("10.0.0.1", "1.2.3.4, unknown, 10.0.0.2"), "10.0.0.2");
  EXPECT_EQ(ClientOf("10.0.0.1", "1.2.3.4:5678"), "1.2.3.4");
  EXPECT_EQ(ClientOf("10.0.0.1", "[2001:db8::1]:5678"), "2001:db8::1");
  EXPECT_EQ(ClientOf("10.0.0.1", "[2001:db8::1]"), "2001:db8::1");
  for (const char* odd : {"[", "]", "[]", ":", ",,,", "1.2.3", "\xff", "1.2.3.4\r\n"})
    EXPECT_EQ(ClientOf("10.0.0.1", odd), "10.0.0.1") << odd;
}

TEST(TrustedProxiesTest, SchemeAndPrefixAreTold) {
  const ClientFacts facts = FactsOf(
      "10.0.0.1", {.client = "1.2.3.4, 10.0.0.2", .scheme = "HTTPS, http", .prefix = "/a/b/"});
  EXPECT_EQ(facts.scheme, "https");
  EXPECT_EQ(facts.prefix, "/a/b");
  EXPECT_EQ(FactsOf("10.0.0.1", {.scheme = "https"}).scheme, "https");
  EXPECT_EQ(FactsOf("10.0.0.1", {.scheme = "javascript"}).scheme, "http");
  EXPECT_EQ(FactsOf("1.2.3.4", {.scheme = "https", .prefix = "/a"}).scheme, "http");
  EXPECT_EQ(FactsOf("1.2.3.4", {.scheme = "https", .prefix = "/a"}).prefix, "");
  for (const char* wrong : {"a", "//evil.example", "/a\"b", "/a b", "/\r\n", "https://x"})
    EXPECT_EQ(FactsOf("10.0.0.1", {.prefix = wrong}).prefix, "") << wrong;
}

TEST(TrustedProxiesTest, ALimitCountsNetworksOfIpv6) {
  EXPECT_EQ(FactsOf("2001:db8::1:2:3:4", {}).network, "2001:db8::/64");
  EXPECT_EQ(FactsOf("1.2.3.4", {}).network, "1.2.3.4");
}

TEST(TrustedProxiesTest, WhatIsNoNetworkIsRefused) {
  for (const char* wrong : {"", "10.0.0.0/33", "10.0.0.0/", "fd00::/129", "example.org", "10.0.0/8",
                            "10.0.0.0/-1", "10.0.0.0/8/8"})
    EXPECT_THROW(TrustedProxies({wrong}), Error) << wrong;
}

}  // namespace
}  // namespace attend
