// What proxies tell of a client, where they may be believed.
#ifndef ATTEND_SERVE_TRUSTED_PROXIES_H_
#define ATTEND_SERVE_TRUSTED_PROXIES_H_

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <string>
#include <vector>

namespace attend {

// Headers of a request as they were sent; several of one name joined by commas.
struct Forwarded {
  std::string client, scheme, prefix;  // X-Forwarded-For, -Proto, -Prefix
};

struct ClientFacts {
  std::string address;          // as text; empty once the client is gone
  std::string network;          // of IPv6 the first 64 bits: a client may use all the rest
  std::string scheme = "http";  // by which the client asks: http or https
  std::string prefix;           // of paths at the proxy; empty, or as /translate
};

class TrustedProxies {
 public:
  // Networks as 10.0.0.0/8 or fd00::/8, or single addresses. Throws Error(kUsage) for others.
  explicit TrustedProxies(const std::vector<std::string>& networks);

  // `peer` is the other end of the connection. If it is a trusted proxy, the client is the last
  // address of X-Forwarded-For that is not one: the client may have invented the earlier ones.
  ClientFacts ClientOf(const boost::asio::ip::address& peer, const Forwarded& forwarded) const;

 private:
  bool Trusts(const boost::asio::ip::address& address) const;

  std::vector<boost::asio::ip::network_v4> v4_;
  std::vector<boost::asio::ip::network_v6> v6_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TRUSTED_PROXIES_H_
