// A page of the program's files that needs no network: styles, scripts and data stand in it.
#ifndef ATTEND_CLI_ATTENTION_VIEW_HTML_PAGE_H_
#define ATTEND_CLI_ATTENTION_VIEW_HTML_PAGE_H_

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace attend {

// Of the file `page`, in which @NAME@ stands for each of `files` and each of `texts` (name and
// markup), and @DATA@ for `data`.
std::string HtmlPage(const std::string& page, const std::vector<std::string>& files,
                     const std::vector<std::pair<std::string, std::string>>& texts,
                     const Json& data);

}  // namespace attend

#endif  // ATTEND_CLI_ATTENTION_VIEW_HTML_PAGE_H_
