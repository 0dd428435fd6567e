// What `attend serve` can be told, and what one request can ask for.
#ifndef ATTEND_SERVE_SERVE_OPTIONS_H_
#define ATTEND_SERVE_SERVE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attend/loaded_model.h"
#include "attend/translator.h"
#include "base/fields.h"
#include "serve/http_server.h"

namespace attend {

// Whether documents of other programs are taken.
enum class DocumentUse { kAuto, kOff };

struct ServeOptions {
  std::vector<std::string> model;            // [NAME=]DIRECTORY
  std::vector<std::string> adapter;          // [NAME=]DIRECTORY, of these models
  std::string models_dir;                    // whose directories are models too; empty: none
  std::vector<std::string> shortlist;        // [NAME=]FILE
  std::vector<std::string> estimator;        // [NAME=]DIRECTORY
  std::vector<std::string> glossary;         // NAME=FILE
  std::vector<std::string> memory;           // [NAME=]FILE
  std::string memory_source, memory_target;  // languages of a TMX; empty: as the file says
  LoadOptions load;                          // of every model
  TranslatorOptions translator;  // of translation alone: protect; the rest is the program's
  HttpOptions http;
  std::vector<std::string> allowed_host;  // names, beside loopback's
  std::string public_url;                 // at which clients reach the service; empty: not known
  std::string api_keys;                   // a file, a key a line; empty: none is asked for
  int64_t max_characters = 0;             // 0: as many as fit into max_body_bytes
  int64_t max_sentences = 1024;
  int64_t max_input_tokens = 0;
  int64_t max_beam_size = 16;
  int64_t queue_sentences = 4096;
  int64_t request_limit = 0;    // of a client, requests a minute; 0: none
  double request_timeout = 60;  // seconds
  DocumentUse documents = DocumentUse::kAuto;
  int64_t document_count = 2;      // at once
  int64_t document_memory = 1024;  // MiB, of each
  // Learning from corrections.
  std::string projects;              // a directory; empty: no
  std::string adaptation_recipe;     // a file; empty: the usual one
  double adaptation_pause = 5;       // seconds without a correction before training begins
  double adaptation_timeout = 7200;  // seconds of a training
  int64_t max_corrections = 10000, max_projects = 16;
  bool log_text = false;
  // What requests for translations that say nothing get; batch_sentences are those of a thread, for
  // every task. An encoder alone takes at most 512 batch_tokens; a language model has 65536 always.
  TranslationOptions translation;
};

// NAME and path of [NAME=]PATH; the name is empty where there is none.
std::pair<std::string, std::string> NameAndPath(const std::string& given);

FieldList Fields(ServeOptions& options);
// The characters that a request may surely have: max_characters, or else as many as fit into
// max_body_bytes in every encoding.
int64_t SureCharacters(const ServeOptions& options);
// Throws Error(kInput) for more characters in a request's texts than max_characters.
void CheckCharacters(const std::vector<std::string>& texts, const ServeOptions& options,
                     const std::vector<std::string>& more = {});
// Throws Error(kUsage) for values that do not go together or are out of range.
void CheckServeOptions(const ServeOptions& options);

}  // namespace attend

#endif  // ATTEND_SERVE_SERVE_OPTIONS_H_
