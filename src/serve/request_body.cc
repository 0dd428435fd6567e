#include "serve/request_body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"
#include "serve/form.h"
#include "serve/json_request.h"
#include "serve/multipart.h"
#include "serve/refusal.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace attend {
namespace {

[[noreturn]] void RefuseDoubled(const std::string& name) {
  throw Error(ErrorKind::kInput,
              fmt::format("request: {} appears twice; send it once", Excerpt(name)));
}

// 2 of 2.0, which JSON Schema takes for an integer; -1 of 2.5 and of what is too large.
int64_t WholeNumber(double number) {
  constexpr double kLargest = 1e15;
  return number >= 0 && number < kLargest && std::floor(number) == number
             ? static_cast<int64_t>(number)
             : -1;
}

}  // namespace

std::string MediaTypeOf(const HttpRequest& request) {
  const std::string_view type = request.content_type;
  return LowerCase(Trimmed(type.substr(0, type.find(';'))));
}

RequestBody::RequestBody(const HttpRequest& request, std::string_view body) {
  const std::string type = MediaTypeOf(request);
  if (type == "application/json") {
    members_ = ParseJson(body, "request body", kMostJsonValues);
    if (!members_.is_object()) throw Error(ErrorKind::kInput, "request body: expected an object");
    for (auto member = members_.begin(); member != members_.end();)
      member = member->is_null() ? members_.erase(member) : std::next(member);
  } else if (type == "application/x-www-form-urlencoded") {
    if (body.starts_with('{')) {  // curl's default type for whatever it sends
      throw Error(ErrorKind::kInput,
                  "request body: not a form; send JSON with Content-Type: application/json");
    }
    ReadForm(body);
  } else if (type == "multipart/form-data") {
    ReadMultipart(request.content_type, body);
  } else if (!type.empty() || !body.empty()) {
    throw Refusal(415,
                  "expected Content-Type: application/json, application/x-www-form-urlencoded or "
                  "multipart/form-data");
  }
  Json members = std::exchange(members_, Json::object());
  ReadForm(request.query);
  for (auto& [name, value] : members.items()) {
    const Json* found = Member(name);
    if (found != nullptr && *found != value) RefuseDoubled(name);
    members_[name] = std::move(value);
  }
}

// Several q are a list of texts; of all other members there is one.
void RequestBody::Add(const std::string& name, std::string value) {
  const auto found = members_.find(name);
  if (files_.contains(name) || (found != members_.end() && name != "q")) RefuseDoubled(name);
  if (found == members_.end()) {
    members_[name] = std::move(value);
  } else {
    if (!found->is_array()) *found = Json::array({*found});
    found->push_back(std::move(value));
  }
}

void RequestBody::ReadForm(std::string_view form) {
  for (auto& [name, value] : ParseForm(form)) Add(name, std::move(value));
}

void RequestBody::ReadMultipart(std::string_view content_type, std::string_view body) {
  parts_ = true;
  for (FormPart& part : ParseMultipart(content_type, body)) {
    if (part.file_name) {
      UploadedFile file{std::move(*part.file_name), std::move(part.content)};
      const bool added = files_.emplace(part.name, std::move(file)).second;
      if (!added || members_.contains(part.name)) RefuseDoubled(part.name);
      continue;
    }
    if (!IsValidUtf8(part.name) || !IsValidUtf8(part.content)) {
      throw Error(ErrorKind::kInput, "request body: not a valid form: expected UTF-8");
    }
    Add(part.name, std::move(part.content));
  }
}

void RequestBody::CheckMembers(std::span<const std::string_view> known) const {
  const auto check = [&](const std::string& name) {
    if (std::ranges::find(known, name) != known.end()) return;
    throw Error(ErrorKind::kInput, fmt::format("request: '{}' is no member of it, expected {}{}",
                                               Excerpt(name, 60), fmt::join(known, ", "),
                                               DidYouMean(name, {known.begin(), known.end()})));
  };
  for (const auto& [name, _] : members_.items()) check(name);
  for (const auto& [name, _] : files_) check(name);
}

const Json* RequestBody::Member(const std::string& name) const {
  const auto found = members_.find(name);
  return found == members_.end() ? nullptr : &*found;
}

std::string RequestBody::Text(const std::string& name, const char* otherwise) const {
  const Json* found = Member(name);
  if (found != nullptr && found->is_string()) return found->get<std::string>();
  if (found == nullptr && otherwise != nullptr) return otherwise;
  throw Error(ErrorKind::kInput, fmt::format("request: {} is {}, expected a text", name,
                                             found == nullptr ? "missing" : "no text"));
}

int64_t RequestBody::Number(const std::string& name) const {
  const Json* found = Member(name);
  if (found == nullptr) return 0;
  int64_t number = -1;
  if (found->is_number_integer()) number = found->get<int64_t>();
  if (found->is_number_float()) number = WholeNumber(found->get<double>());
  if (found->is_string()) {
    const auto& text = found->get_ref<const std::string&>();
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, number).ptr != end) number = -1;
  }
  if (number >= 0) return number;
  throw Error(ErrorKind::kInput, fmt::format("request: {} is no whole number of at least 0", name));
}

UploadedFile RequestBody::File(const std::string& name) const {
  const auto found = files_.find(name);
  if (found != files_.end()) return found->second;
  const Json* text = parts_ ? Member(name) : nullptr;
  if (text != nullptr && text->is_string()) return {".txt", text->get<std::string>()};
  throw Error(ErrorKind::kInput,
              fmt::format("request: {} is missing, expected a file, in multipart/form-data", name));
}

}  // namespace attend
