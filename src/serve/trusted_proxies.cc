#include "serve/trusted_proxies.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "attend/error.h"
#include "text/ascii.h"

namespace attend {
namespace {

namespace ip = boost::asio::ip;
using ErrorCode = boost::system::error_code;

// An address of IPv4 that is written as one of IPv6 is that of IPv4.
ip::address Plain(const ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

std::vector<std::string_view> Items(std::string_view list) {
  std::vector<std::string_view> items;
  while (true) {
    const size_t comma = std::min(list.find(','), list.size());
    items.push_back(Trimmed(list.substr(0, comma)));
    if (comma == list.size()) return items;
    list.remove_prefix(comma + 1);
  }
}

// As proxies write it: an address, perhaps in brackets, perhaps with a port.
std::optional<ip::address> AddressOf(std::string_view text) {
  if (text.starts_with('[')) {
    text = text.substr(1, text.find(']') - 1);
  } else if (std::ranges::count(text, ':') == 1) {
    text = text.substr(0, text.find(':'));
  }
  ErrorCode error;
  const ip::address address = ip::make_address(std::string(text), error);
  return error ? std::nullopt : std::optional(Plain(address));
}

std::string NetworkOf(const ip::address& address) {
  if (address.is_v4()) return address.to_string();
  return ip::make_network_v6(address.to_v6(), 64).canonical().to_string();
}

bool IsPrefix(std::string_view path) {
  return path.starts_with('/') && !path.starts_with("//") && path.size() <= 1024 &&
         std::ranges::all_of(path, [](unsigned char c) {
           return std::isalnum(c) != 0 || std::string_view("/-._~").find(c) != std::string::npos;
         });
}

// Of the proxy that stands `hops` from us, or of the one before it that tells one.
std::string_view ItemOf(std::string_view list, size_t hops) {
  const std::vector<std::string_view> items = Items(list);
  return items[items.size() - std::min(std::max<size_t>(hops, 1), items.size())];
}

}  // namespace

TrustedProxies::TrustedProxies(const std::vector<std::string>& networks) {
  for (const std::string& given : networks) {
    ErrorCode no_v4, no_v6;
    const bool single = given.find('/') == std::string::npos;
    const ip::network_v4 v4 = ip::make_network_v4(single ? given + "/32" : given, no_v4);
    const ip::network_v6 v6 = ip::make_network_v6(single ? given + "/128" : given, no_v6);
    if (!no_v4) v4_.push_back(v4.canonical());
    if (!no_v6) v6_.push_back(v6.canonical());
    if (no_v4 && no_v6) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("trusted_proxy is '{}', expected an address or a network as "
                              "10.0.0.0/8 or fd00::/8",
                              given));
    }
  }
}

bool TrustedProxies::Trusts(const ip::address& address) const {
  if (address.is_v4()) {
    return std::ranges::any_of(v4_, [&](const ip::network_v4& network) {
      return ip::network_v4(address.to_v4(), network.prefix_length()).canonical() == network;
    });
  }
  ip::address_v6 v6 = address.to_v6();
  v6.scope_id(0);
  return std::ranges::any_of(v6_, [&](const ip::network_v6& network) {
    return ip::network_v6(v6, network.prefix_length()).canonical() == network;
  });
}

ClientFacts TrustedProxies::ClientOf(const ip::address& peer, const Forwarded& forwarded) const {
  ip::address client = Plain(peer);
  ClientFacts facts;
  if (Trusts(client)) {
    size_t hops = 0;
    const auto told = Items(forwarded.client);
    while (hops < told.size() && Trusts(client)) {
      const auto before = AddressOf(told[told.size() - 1 - hops]);
      if (!before) break;
      client = *before;
      ++hops;
    }
    if (LowerCase(ItemOf(forwarded.scheme, hops)) == "https") facts.scheme = "https";
    std::string_view prefix = ItemOf(forwarded.prefix, hops);
    while (prefix.ends_with('/')) prefix.remove_suffix(1);
    if (IsPrefix(prefix)) facts.prefix = prefix;
  }
  facts.address = client.to_string();
  facts.network = NetworkOf(client);
  return facts;
}

}  // namespace attend
