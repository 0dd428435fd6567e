// The names that the service goes by: which Host headers are taken.
#ifndef ATTEND_SERVE_HOST_NAMES_H_
#define ATTEND_SERVE_HOST_NAMES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// A host as URLs and Host headers write it: name[:port], an address of IPv6 in brackets.
struct HostName {
  std::string name;  // in small letters, without the dot that may end it; an address as it is usual
  std::string port;  // empty: none
  bool loopback = false;  // localhost, a name below it, or an address of this machine alone
};

// Nothing where `text` is no such host.
std::optional<HostName> ParseHostName(std::string_view text);

// http:// or https://, a host, and perhaps a path. Throws Error(kUsage), which names the option,
// for what is none.
struct PublicUrl {
  std::string url;  // without a slash at its end; empty: none
  std::string host;
};
PublicUrl ParsePublicUrl(const std::string& text);

// A page of another site can give a name of its own the address of a service on this machine, and
// then read what that answers (DNS rebinding); a Host that nobody allowed shows it.
class AllowedHosts {
 public:
  // `allowed`: names, *.example.org for those below one, or * for all. Loopback names are always
  // taken. Where `allowed` is empty and `listen`, the address listened on, is not loopback, all
  // are. Throws Error(kUsage) for what is no name.
  AllowedHosts(const std::vector<std::string>& allowed, const std::string& listen);

  void Add(const std::string& name) { names_.push_back(name); }
  bool Allows(const HostName& host) const;

 private:
  bool all_ = false;
  std::vector<std::string> names_;  // one that begins with a dot stands for those that end in it
};

}  // namespace attend

#endif  // ATTEND_SERVE_HOST_NAMES_H_
