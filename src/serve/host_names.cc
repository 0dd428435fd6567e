#include "serve/host_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "attend/error.h"
#include "text/ascii.h"

namespace attend {
namespace {

namespace ip = boost::asio::ip;
constexpr size_t kLongestName = 253;  // RFC 1035
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789.-_";

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of(kDigits) == std::string_view::npos;
}

// Of the address in brackets.
bool ReadAddress(const std::string& text, HostName* host) {
  boost::system::error_code error;
  const ip::address_v6 address = ip::make_address_v6(text, error);
  if (error || text.find('%') != std::string::npos) return false;
  host->name = fmt::format("[{}]", address.to_string());
  host->loopback = address.is_loopback() || (address.is_v4_mapped() &&
                                             make_address_v4(ip::v4_mapped, address).is_loopback());
  return true;
}

bool ReadName(std::string name, HostName* host) {
  if (name.ends_with('.')) name.pop_back();
  if (name.empty() || name.size() > kLongestName || name.starts_with('.') ||
      name.find("..") != std::string::npos ||
      name.find_first_not_of(kNameCharacters) != std::string::npos) {
    return false;
  }
  boost::system::error_code error;
  const ip::address_v4 address = ip::make_address_v4(name, error);
  host->loopback =
      name == "localhost" || name.ends_with(".localhost") || (!error && address.is_loopback());
  host->name = std::move(name);
  return true;
}

}  // namespace

std::optional<HostName> ParseHostName(std::string_view text) {
  HostName host;
  const size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return std::nullopt;
  const size_t colon = text.find(':', bracket);
  if (colon != std::string_view::npos) {
    host.port = text.substr(colon + 1);
    if (!host.port.empty() && !IsPort(host.port)) return std::nullopt;
    text = text.substr(0, colon);
  }
  const std::string name = LowerCase(text);
  const bool read =
      bracket == 0 ? ReadName(name, &host)
                   : name.size() == bracket + 1 && ReadAddress(name.substr(1, bracket - 1), &host);
  return read ? std::optional(std::move(host)) : std::nullopt;
}

PublicUrl ParsePublicUrl(const std::string& text) {
  if (text.empty()) return {};
  PublicUrl found{text, ""};
  while (found.url.ends_with('/')) found.url.pop_back();
  const size_t begin = found.url.find("://");
  const std::string scheme = LowerCase(found.url.substr(0, begin));
  if (begin != std::string::npos && (scheme == "http" || scheme == "https")) {
    const size_t path = std::min(found.url.find('/', begin + 3), found.url.size());
    const auto host = ParseHostName(found.url.substr(begin + 3, path - begin - 3));
    if (host && found.url.find_first_of("?#\"\\<> ", path) == std::string::npos) {
      found.host = host->name;
      return found;
    }
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("public_url is '{}', expected one as https://example.org/translate, "
                          "without ? and #",
                          text));
}

AllowedHosts::AllowedHosts(const std::vector<std::string>& allowed, const std::string& listen) {
  boost::system::error_code error;
  const ip::address address = ip::make_address(listen, error);
  all_ = allowed.empty() && (error || !address.is_loopback());
  for (const std::string& given : allowed) {
    const bool below = given.starts_with("*.");
    const bool bare = !given.starts_with('[') && std::ranges::count(given, ':') > 1;  // IPv6
    const auto host =
        ParseHostName(bare ? fmt::format("[{}]", given) : given.substr(below ? 2 : 0));
    if (given == "*") {
      all_ = true;
    } else if (host && host->port.empty()) {
      names_.push_back((below ? "." : "") + host->name);
    } else {
      throw Error(ErrorKind::kUsage,
                  fmt::format("allowed_host is '{}', expected a name without port as "
                              "translate.example.org, *.example.org, or * for all",
                              given));
    }
  }
}

bool AllowedHosts::Allows(const HostName& host) const {
  return all_ || host.loopback || std::ranges::any_of(names_, [&](const std::string& name) {
           return name.starts_with('.') ? host.name.ends_with(name) : host.name == name;
         });
}

}  // namespace attend
