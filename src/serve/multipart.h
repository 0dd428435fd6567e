// Bodies of type multipart/form-data (RFC 7578).
#ifndef ATTEND_SERVE_MULTIPART_H_
#define ATTEND_SERVE_MULTIPART_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct FormPart {
  std::string name;
  std::optional<std::string> file_name;  // of a file, as it was sent
  std::string content;                   // any bytes
};

// The parts in order. `content_type` is the header's value, with its boundary. Throws Error(kInput)
// for what is not such a body, ends too soon, has more than 100 parts, or a part without name.
std::vector<FormPart> ParseMultipart(std::string_view content_type, std::string_view body);

}  // namespace attend

#endif  // ATTEND_SERVE_MULTIPART_H_
