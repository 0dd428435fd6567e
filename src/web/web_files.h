// The files of the program's web pages, which the build put into it.
#ifndef ATTEND_WEB_WEB_FILES_H_
#define ATTEND_WEB_WEB_FILES_H_

#include <span>
#include <string_view>

namespace attend {

struct WebFile {
  std::string_view name;  // "page.js"
  std::string_view type;  // what Content-Type says
  std::string_view content;
};

std::span<const WebFile> WebFiles();
// A file that is there.
const WebFile& FindWebFile(std::string_view name);

}  // namespace attend

#endif  // ATTEND_WEB_WEB_FILES_H_
