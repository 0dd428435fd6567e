#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "base/thread_pool.h"

namespace attend {

std::string OptionName(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

namespace {

std::string FieldName(const std::string& option) {
  std::string name = option.substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// What --help says of a field beside its help: type, range and default.
std::string TypeText(const Field& field) {
  if (const auto* choice = std::get_if<EnumField>(&field.value)) {
    return fmt::format("{}", fmt::join(choice->names, "|"));
  }
  if (field.IsList()) return field.IsNumbers() ? "X..." : "TEXT...";
  if (field.IsBool()) return "true|false";
  if (field.IsText()) return "TEXT";
  return std::holds_alternative<int64_t*>(field.value) ? "N" : "X";
}

std::string HelpText(const Field& field, bool required) {
  const std::string range = field.RangeText(), value = field.ValueText();
  std::vector<std::string> notes;
  if (!range.empty()) notes.push_back(range);
  if (required) notes.emplace_back("required");
  if (!required && !value.empty()) notes.push_back(fmt::format("default {}", value));
  if (field.IsBool() && value == "true")
    notes.push_back(fmt::format("{}=false turns it off", OptionName(field.name)));
  return notes.empty() ? field.help : fmt::format("{} ({})", field.help, fmt::join(notes, "; "));
}

// Where one value would take the place of another one.
void CheckOnce(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_expected_max() > 1 || option->count() <= 1)
      continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: {} is given {} times, expected once", app.get_name(),
                            option->get_name(), option->count()));
  }
}

// `text` as a cell of a Markdown table.
std::string Cell(std::string text) {
  for (size_t bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar + 2)) {
    text.replace(bar, 1, "\\|");
  }
  return text;
}

constexpr size_t kHelpColumn = 36;  // where descriptions begin

// Columns of the terminal, or a usual number of them.
size_t HelpWidth() {
  constexpr size_t kLeast = 60, kUsual = 100;
  struct winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return std::max<size_t>(size.ws_col, kLeast);
}

// Descriptions of options go on in their own column. Examples stay as they are.
std::string WrapHelp(const std::string& help, size_t width) {
  std::string wrapped;
  std::istringstream lines(help);
  bool examples = false;
  for (std::string line; std::getline(lines, line);) {
    examples = examples || line == "Examples:";
    const bool option = line.starts_with("  ") && line.size() > kHelpColumn &&
                        line[kHelpColumn - 1] == ' ' && line[kHelpColumn] != ' ';
    const size_t column = option ? kHelpColumn : 0;
    while (!examples && line.size() > width) {
      const size_t space = line.rfind(' ', width);
      if (space == line.npos || space <= column) break;
      wrapped += line.substr(0, space) + '\n';
      line = std::string(column, ' ') + line.substr(space + 1);
    }
    wrapped += line + '\n';
  }
  return wrapped;
}

// CLI11 takes a value in brackets for a list, but "[MASK]" and "[0-9]" are texts. A mark at its end
// keeps it whole.
constexpr char kMark = '\x1f';

std::string Marked(std::string argument) {
  const size_t value = argument.starts_with("--") ? argument.find('=') + 1 : 0;
  if (value < argument.size() && argument[value] == '[' && argument.back() == ']')
    argument += kMark;
  return argument;
}

std::string Unmarked(std::string value) {
  if (value.ends_with(kMark)) value.pop_back();
  return value;
}

std::vector<std::string> Unmarked(std::vector<std::string> values) {
  for (std::string& value : values) value = Unmarked(std::move(value));
  return values;
}

CLI::Option* AddOption(CLI::App* app, const Field& field, const std::string& help) {
  const std::string name = OptionName(field.name);
  if (field.IsBool()) return app->add_flag(name)->description(help);
  CLI::Option* option = app->add_option(name)->description(help)->type_name(TypeText(field));
  if (field.IsList()) {
    // Which CLI11 follows by "..." itself.
    option->type_name(field.IsNumbers() ? "X" : "TEXT");
    option->type_size(1)->expected(1, -1)->allow_extra_args();
  } else {
    option->type_size(1)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  return option;
}

}  // namespace

int CommonOptions::ThreadCount() const {
  return threads > 0 ? static_cast<int>(threads) : DefaultThreads();
}

std::string CommonOptions::DataPath(const std::string& path) const {
  if (path.empty() || path == "-" || std::filesystem::path(path).is_absolute()) return path;
  if (!data_dir.empty()) return (std::filesystem::path(data_dir) / path).string();
  const char* folder = std::getenv("ATTEND_DATA");
  return folder != nullptr && *folder != '\0' ? (std::filesystem::path(folder) / path).string()
                                              : path;
}

Log CommonOptions::MakeLog() const { return StandardErrorLog(quiet); }

FieldList Fields(CommonOptions& options, const std::vector<std::string>& names) {
  FieldList all;
  all.Add("threads", &options.threads, 0, 4096,
          "number of threads; 0: one for each processor, or what the container's CPU quota allows")
      .Add("seed", &options.seed, 0, 1e15, "seed of every random choice")
      .Add("quiet", &options.quiet, "print only warnings and results")
      .Add("json", &options.json, "print the result as JSON on standard output")
      .Add("device", &options.device, "cpu, or cuda[:N]")
      .Add(
          "data_dir", &options.data_dir,
          "folder that relative paths start from; default: $ATTEND_DATA, or the working directory");
  return all.Select(names);
}

void PrintReport(const CommonOptions& common, const Json& report,
                 const std::function<void(const Json&)>& print) {
  if (common.json) {
    std::cout << Printable(Dump(report)) << '\n';
  } else if (print) {
    print(report);
  }
}

void FlushOutput() {
  if (!std::cout.flush() || std::fflush(stdout) != 0)
    throw Error(ErrorKind::kRuntime, "can't write to standard output; is the disk full?");
}

CommandLine::CommandLine(std::string name, std::string summary, std::string examples)
    : name_(std::move(name)), summary_(std::move(summary)), examples_(std::move(examples)) {}

CommandLine& CommandLine::Options(const FieldList& fields) {
  fields_.Nest("", fields);
  for (const Field& field : fields.fields()) {
    if (field.Is(kRequired)) required_.push_back(field.name);
  }
  return *this;
}

CommandLine& CommandLine::Required(const std::vector<std::string>& names) {
  required_.insert(required_.end(), names.begin(), names.end());
  return *this;
}

CommandLine& CommandLine::Positional(std::string name, std::string* value, std::string help,
                                     bool required) {
  positionals_.push_back({std::move(name), value, nullptr, std::move(help), required});
  return *this;
}

CommandLine& CommandLine::Positional(std::string name, std::vector<std::string>* values,
                                     std::string help, bool required) {
  positionals_.push_back({std::move(name), nullptr, values, std::move(help), required});
  return *this;
}

void CommandLine::RefuseExtra(const std::string& extra) const {
  if (extra.rfind('-', 0) != 0) {
    const bool truth = extra == "true" || extra == "false";
    throw Error(ErrorKind::kUsage,
                fmt::format("attend {}: unexpected argument '{}'{}", name_, extra,
                            truth ? "; true and false follow their option after '='" : ""));
  }
  const std::string given = extra.substr(0, extra.find('='));
  std::string field_name = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  std::replace(field_name.begin(), field_name.end(), '-', '_');
  std::string cure = fields_.CureOf(field_name);
  const auto lower = [](unsigned char c) { return static_cast<char>(std::tolower(c)); };
  for (const PositionalArgument& argument : positionals_) {
    if (std::ranges::equal(argument.name, field_name, {}, lower))
      cure = fmt::format("; {} is given without an option", argument.name);
  }
  std::vector<std::string> known = {"--config", "--help"};
  for (const Field& field : fields_.fields()) known.push_back(OptionName(field.name));
  throw Error(ErrorKind::kUsage, fmt::format("attend {}: unknown option '{}'{}", name_, extra,
                                             cure.empty() ? DidYouMean(given, known) : cure));
}

bool CommandLine::IsRequired(const std::string& name) const {
  return std::find(required_.begin(), required_.end(), name) != required_.end();
}

void CommandLine::CheckRequired() const {
  for (const Field& field : fields_.fields()) {
    const bool given = IsSet(field.name) && !(field.IsList() && field.ValueText().empty());
    if (given || !IsRequired(field.name)) continue;
    throw Error(ErrorKind::kUsage, fmt::format("attend {}: {} is missing: {}", name_,
                                               OptionName(field.name), field.help));
  }
}

void CommandLine::PrintMarkdown() const {
  std::cout << fmt::format("## attend {}\n\n{}.\n\n```bash\n{}\n```\n\n", name_, summary_,
                           examples_);
  for (const PositionalArgument& argument : positionals_) {
    std::cout << fmt::format("`{}`: {}.\n\n", argument.name, argument.help);
  }
  constexpr const char* kHead = "| option | takes | default | what |\n|---|---|---|---|\n";
  std::cout << kHead << "| `--config` | FILE | | TOML file with options; the command line wins |\n";
  for (const std::string& group : Groups()) {
    if (!group.empty()) std::cout << fmt::format("\n### {}: {}\n\n{}", name_, group, kHead);
    for (const Field& field : fields_.fields()) {
      if (field.group == group) PrintMarkdown(field);
    }
  }
}

void CommandLine::PrintMarkdown(const Field& field) const {
  const std::string range = field.RangeText(), value = field.ValueText();
  const std::string given = IsRequired(field.name) ? "required"
                            : value.empty()        ? ""
                                                   : "`" + Cell(value) + "`";
  std::cout << fmt::format("| `{}` | {}{} | {} | {} |\n", OptionName(field.name),
                           Cell(TypeText(field)), range.empty() ? "" : ", " + range, given,
                           Cell(field.help));
}

std::vector<std::string> CommandLine::Groups() const {
  std::vector<std::string> groups = {""};
  for (const Field& field : fields_.fields()) {
    if (std::find(groups.begin(), groups.end(), field.group) == groups.end())
      groups.push_back(field.group);
  }
  return groups;
}

bool CommandLine::Parse(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.back() == "--help-markdown") {
    PrintMarkdown();
    return false;
  }
  CLI::App app(summary_, "attend " + name_);
  app.get_formatter()->column_width(kHelpColumn);
  app.footer("Examples:\n" + examples_);
  for (const PositionalArgument& argument : positionals_) {
    CLI::Option* option = argument.value != nullptr
                              ? app.add_option(argument.name, *argument.value)
                              : app.add_option(argument.name, *argument.values);
    option->description(argument.help)->type_name("")->required(argument.required);
  }
  if (!Read(arguments, /*these_alone=*/false, &app)) return false;
  for (const PositionalArgument& argument : positionals_) {
    if (argument.value != nullptr) *argument.value = Unmarked(*argument.value);
    if (argument.values != nullptr) *argument.values = Unmarked(*argument.values);
  }
  CheckRequired();
  return true;
}

void CommandLine::ParseThese(const std::vector<std::string>& arguments) {
  CLI::App app(summary_, "attend " + name_);
  app.set_help_flag();
  Read(arguments, /*these_alone=*/true, &app);
}

bool CommandLine::Read(const std::vector<std::string>& arguments, bool these_alone, CLI::App* app) {
  app->allow_extras();
  std::string config;
  app->add_option("--config", config, "TOML file with options; the command line wins")
      ->type_name("FILE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  std::vector<std::pair<const Field*, CLI::Option*>> options;
  for (const Field& field : fields_.fields()) {
    const std::string help = HelpText(field, IsRequired(field.name));
    options.emplace_back(&field, AddOption(app, field, help));
    if (!field.group.empty()) options.back().second->group(field.group);
  }
  try {
    std::vector<std::string> backwards(arguments.rbegin(), arguments.rend());
    std::ranges::transform(backwards, backwards.begin(), Marked);
    app->parse(std::move(backwards));
  } catch (const CLI::CallForHelp&) {
    std::cout << WrapHelp(app->help(), HelpWidth());
    return false;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::kUsage,
                fmt::format("attend {}: {}; see attend {} --help", name_, error.what(), name_));
  }
  if (!these_alone && !app->remaining().empty()) RefuseExtra(Unmarked(app->remaining().front()));
  CheckOnce(*app);
  if (!config.empty())
    set_ = FieldsFromToml(ReadFile(config, kMaxTomlBytes), fields_, config, these_alone);
  for (const auto& [field, option] : options) {
    if (option->count() == 0) continue;
    const std::string where = OptionName(field->name);
    const std::vector<std::string> values = Unmarked(option->results());
    if (field->IsList()) {
      field->Set(values, where);
    } else {
      field->Parse(values.back(), where);
    }
    set_.insert(FieldName(where));
  }
  return true;
}

}  // namespace attend
