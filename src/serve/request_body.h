// What a request of LibreTranslate's routes says, in whichever of its types of body, and in its
// target's query.
#ifndef ATTEND_SERVE_REQUEST_BODY_H_
#define ATTEND_SERVE_REQUEST_BODY_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "serve/http_message.h"

namespace attend {

struct UploadedFile {
  std::string name;
  std::string content;  // any bytes
};

// The type of a request's body without its parameters, in lower case (RFC 9110, section 8.3.1).
std::string MediaTypeOf(const HttpRequest& request);

// Of application/json, application/x-www-form-urlencoded or multipart/form-data, or empty. Members
// may stand in the query too; a null counts as missing. Several q of a form are a list.
class RequestBody {
 public:
  // `body`: the request's, which need not have it any more. Throws Refusal 415 for another type,
  // Error(kInput) for a body or query that is not of its type, or a member that appears twice.
  RequestBody(const HttpRequest& request, std::string_view body);

  // These throw Error(kInput) for what is missing (`otherwise` is null) or of another type.
  std::string Text(const std::string& name, const char* otherwise = nullptr) const;
  // At least 0, and that where it is missing.
  int64_t Number(const std::string& name) const;
  // Of multipart/form-data; a text without a file's name is a .txt.
  UploadedFile File(const std::string& name) const;
  // Throws Error(kInput), which names the nearest known one, for a member or file of another name.
  void CheckMembers(std::span<const std::string_view> known) const;
  // Null where there is none.
  const Json* Member(const std::string& name) const;

 private:
  void Add(const std::string& name, std::string value);
  void ReadForm(std::string_view form);
  void ReadMultipart(std::string_view content_type, std::string_view body);

  Json members_ = Json::object();  // of a form all are texts
  std::map<std::string, UploadedFile> files_;
  bool parts_ = false;  // of multipart/form-data, and not of the query
};

}  // namespace attend

#endif  // ATTEND_SERVE_REQUEST_BODY_H_
