// Which files the service translates, by their names and by what they begin with.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_FILE_CHECK_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_FILE_CHECK_H_

#include <string>
#include <vector>

#include "serve/request_body.h"

namespace attend {

// ".txt" and others, which the service reads itself.
const std::vector<std::string>& FileSuffixes();
// ".docx" and others, which the Python package reads.
const std::vector<std::string>& DocumentSuffixes();
bool IsDocument(const std::string& suffix);
// Of a file's name, in lower case: ".txt", say; "" where it has none.
std::string SuffixOf(const std::string& name);

// Throws Error(kInput) for a name with another suffix, and for another format under this name;
// documents are taken as they are. The content may be the file's first 64 KiB.
void CheckFileFormat(const UploadedFile& file);
// Throws Error(kInput) as well for text that is not UTF-8, or has NUL characters.
void CheckWholeFile(const UploadedFile& file);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_FILE_CHECK_H_
