// A document of another program, read and written by a process of the Python package. Documents are
// taken for hostile: the process has limits, a folder of its own, and ends when nobody waits.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_DOCUMENT_PROCESS_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_DOCUMENT_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/python_interpreter.h"
#include "serve/request_body.h"
#include "serve/tasks/translation/document_folder.h"

namespace attend {

struct DocumentLimits {
  int64_t memory_bytes = int64_t{1} << 30;  // of the process
  int64_t file_bytes = int64_t{64} << 20;   // of what it writes: texts, and the translated document
  int64_t processor_seconds = 60;
};

// For one thread. Beside what each function says, all throw Refusal 504 once nobody waits, 413 for
// what takes too much memory, time or room, and Error(kRuntime) where the process fails.
class DocumentProcess {
 public:
  // Starts it. `wanted` is asked 20 times a second: false, and it is killed.
  DocumentProcess(PythonInterpreter python, const DocumentLimits& limits,
                  std::function<bool()> wanted);
  // Kills it, and removes its folder.
  ~DocumentProcess();
  DocumentProcess(const DocumentProcess&) = delete;
  DocumentProcess& operator=(const DocumentProcess&) = delete;

  // By file ending, such as ".docx", why its documents can't be read; empty: they can.
  Json Formats();
  // The texts of the document, each as HTML; once. Empty languages: what the document says. Throws
  // Error(kInput) for one that is damaged, refused or not what its name says.
  std::vector<std::string> Read(const UploadedFile& file, const std::string& source_language,
                                const std::string& target_language);
  // The document with each of its texts replaced; once, after Read.
  std::string Write(const std::vector<std::string>& translations);

 private:
  void SetLimits() const;
  void End();
  // The answer to one request, a line each.
  Json Ask(const Json& request);
  std::string ReadLine();
  [[noreturn]] void ThrowRefused(const Json& answer) const;
  [[noreturn]] void ThrowTooMuchMemory() const;
  [[noreturn]] void ThrowNonsense() const;
  // The process has ended before its time.
  [[noreturn]] void ThrowEnded();

  const DocumentLimits limits_;
  const std::function<bool()> wanted_;
  DocumentFolder folder_;
  std::string path_, name_;           // of the document: here, and as the client calls it
  pid_t process_ = 0;                 // 0: it has ended
  int requests_ = -1, answers_ = -1;  // ends of pipes
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_DOCUMENT_PROCESS_H_
