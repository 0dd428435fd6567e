// One command's options and arguments: from FieldLists to CLI11, TOML (--config) and --help.
#ifndef ATTEND_CLI_COMMAND_LINE_H_
#define ATTEND_CLI_COMMAND_LINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/log.h"

namespace CLI {
class App;
}

namespace attend {

// Options that commands share; each command lists those that mean something to it.
struct CommonOptions {
  int64_t threads = 0;  // 0: as many as the machine has
  int64_t seed = 1;
  bool quiet = false;
  bool json = false;
  std::string device = "cpu";
  std::string data_dir;  // empty: ATTEND_DATA, or the working directory

  int ThreadCount() const;
  // `path` if it is absolute, empty or "-", else under data_dir.
  std::string DataPath(const std::string& path) const;
  Log MakeLog() const;
};

// The named ones of CommonOptions: "threads", "seed", "quiet", "json", "device", "data_dir".
FieldList Fields(CommonOptions& options, const std::vector<std::string>& names);

// On standard output: with --json `report` on one line, else what `print` makes of it, if anything.
void PrintReport(const CommonOptions& common, const Json& report,
                 const std::function<void(const Json&)>& print = nullptr);

// What was written to std::cout so far reaches standard output; throws Error(kRuntime) where it
// can't.
void FlushOutput();

// --copy-updates of copy_updates.
std::string OptionName(std::string name);

class CommandLine {
 public:
  // `examples`: whole command lines, one a line, for --help.
  CommandLine(std::string name, std::string summary, std::string examples);

  // Options `--snake-name`, in a TOML file under snake_name. The FieldList's struct must outlive
  // Parse.
  CommandLine& Options(const FieldList& fields);
  // Names of options, as in a TOML file, without which Parse throws, beside those of this trait.
  CommandLine& Required(const std::vector<std::string>& names);
  CommandLine& Positional(std::string name, std::string* value, std::string help,
                          bool required = true);
  // One or more, or any number.
  CommandLine& Positional(std::string name, std::vector<std::string>* values, std::string help,
                          bool required = true);

  // Reads `arguments` (without program and command name); a TOML file given with --config first,
  // then the command line over it. Returns false after printing --help to standard output. Throws
  // Error(kUsage) or Error(kConfiguration).
  bool Parse(const std::vector<std::string>& arguments);
  // Reads what is given of these options alone, by command line or file, and passes over all else,
  // what is required and --help included.
  void ParseThese(const std::vector<std::string>& arguments);
  // What `--help-markdown` prints as the last argument: this command's part of docs/options.md.
  void PrintMarkdown() const;
  // The option was given, by command line or file.
  bool IsSet(const std::string& name) const { return set_.count(name) > 0; }

 private:
  // Returns false after printing --help.
  bool Read(const std::vector<std::string>& arguments, bool these_alone, CLI::App* app);
  [[noreturn]] void RefuseExtra(const std::string& extra) const;
  void PrintMarkdown(const Field& field) const;
  // Headings of the options, in the order of declaration; "" first, for those that have none.
  std::vector<std::string> Groups() const;
  bool IsRequired(const std::string& name) const;
  void CheckRequired() const;

  struct PositionalArgument {
    std::string name;
    std::string* value = nullptr;
    std::vector<std::string>* values = nullptr;
    std::string help;
    bool required = true;
  };
  std::string name_, summary_, examples_;
  FieldList fields_;
  std::vector<std::string> required_;
  std::vector<PositionalArgument> positionals_;
  std::set<std::string> set_;
};

// What a file may have: a key of many dots makes as many tables inside each other, which toml++
// frees by recursion.
constexpr size_t kMaxTomlBytes = size_t{1} << 17;

// Sets `fields` from TOML text of at most kMaxTomlBytes: tables nest names with dots. Returns the
// names that were set. Throws Error(kConfiguration) with `where:line`, naming the nearest known
// field for an unknown one unless those are passed over.
std::set<std::string> FieldsFromToml(std::string_view text, const FieldList& fields,
                                     const std::string& where, bool pass_over_others = false);

// A command of the program: `attend NAME ...`.
struct Command {
  const char* name;
  const char* summary;
  int (*run)(const std::vector<std::string>& arguments);  // returns the exit status
};

// "0.1.0 (0123456789ab)": the version and the commit.
std::string ProgramVersion();

// Runs the command that argv names; prints --help and --version; turns Error into one line on
// standard error and an exit status (2 usage and configuration, 3 input, 1 else). A closed pipe
// ends quietly. `more_libraries` follows what --version names.
int RunProgram(const std::vector<Command>& commands, int argc, char** argv,
               const std::string& more_libraries = "");

}  // namespace attend

#endif  // ATTEND_CLI_COMMAND_LINE_H_
