#include "cli/attention_view/html_page.h"

#include <string_view>

#include "web/web_files.h"

namespace attend {

std::string HtmlPage(const std::string& page, const std::vector<std::string>& files,
                     const std::vector<std::pair<std::string, std::string>>& texts,
                     const Json& data) {
  std::string text(FindWebFile(page).content);
  const auto put = [&text](const std::string& name, std::string_view what) {
    const std::string mark = "@" + name + "@";
    text.replace(text.find(mark), mark.size(), what);
  };
  for (const std::string& file : files) put(file, FindWebFile(file).content);
  std::string dumped = Dump(data);
  // Inside a script element only "<" could end it.
  for (size_t place = 0; (place = dumped.find('<', place)) != std::string::npos;)
    dumped.replace(place, 1, "\\u003c");
  put("DATA", dumped);  // it and the texts may hold any text, and marks stand before them
  for (auto each = texts.rbegin(); each != texts.rend(); ++each) put(each->first, each->second);
  return text;
}

}  // namespace attend
