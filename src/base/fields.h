// Declares an option or file field once, for every reader: command line, TOML, JSON, documentation,
// range checks.
//
// A plain struct has one `FieldList Fields(T&)` that names each member with its range and help. A
// FieldList points into the struct it was made from and must not outlive it.
#ifndef ATTEND_BASE_FIELDS_H_
#define ATTEND_BASE_FIELDS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace attend {

// A member that holds one of a few named values.
struct EnumField {
  std::vector<std::string> names;  // by value, from 0
  std::function<size_t()> get;     // position of the present value
  std::function<void(size_t)> set;
};

using FieldPointer = std::variant<bool*, int64_t*, double*, std::string*, std::vector<std::string>*,
                                  std::vector<double>*, std::vector<int64_t>*, EnumField>;

// What an option is beside its name and value: a sum of these.
using Traits = unsigned;
inline constexpr Traits kPath = 1;         // names files; relative ones start from the data folder
inline constexpr Traits kIdentity = 2;     // decides what is computed: another value, another run
inline constexpr Traits kNotCompared = 4;  // what it stands for is compared, not itself
inline constexpr Traits kNotRecorded = 8;  // of one start of the program, and not of a run
inline constexpr Traits kMaking = 16;      // how a file is made: says nothing where one is given
inline constexpr Traits kDerived = 32;     // follows from other values: in files, but no option
inline constexpr Traits kRequired = 64;    // nothing can be done without it

struct Field {
  std::string name;  // snake_case; a nested field's is `outer.inner`
  std::string help;
  FieldPointer value;
  // Of a number, or of each number of a list.
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  Traits traits = 0;
  std::string group = {};  // the heading that --help puts it under; empty: none

  // Sets the value from text as the command line gives it. `where` opens the message of the
  // Error(kConfiguration) thrown for a wrong type or a value out of range: "--dropout",
  // "recipe.toml:7".
  void Parse(std::string_view text, const std::string& where) const;
  // From typed sources (TOML, JSON): a text is right only for a text, one of several names, or a
  // list of one; texts are right for a list of numbers too, as the command line gives them.
  void Set(const std::string& new_value, const std::string& where) const;
  void Set(bool new_value, const std::string& where) const;
  void Set(int64_t new_value, const std::string& where) const;
  void Set(double new_value, const std::string& where) const;
  void Set(const std::vector<std::string>& new_value, const std::string& where) const;
  void Set(const std::vector<double>& new_value, const std::string& where) const;

  bool Is(Traits any_of) const { return (traits & any_of) != 0; }
  bool IsBool() const { return std::holds_alternative<bool*>(value); }
  bool IsText() const { return std::holds_alternative<std::string*>(value); }
  bool IsIntegers() const { return std::holds_alternative<std::vector<int64_t>*>(value); }
  bool IsNumbers() const {
    return IsIntegers() || std::holds_alternative<std::vector<double>*>(value);
  }
  bool IsList() const {
    return IsNumbers() || std::holds_alternative<std::vector<std::string>*>(value);
  }
  std::string TypeName() const;   // "an integer", "text", "a list of numbers", "one of post, pre"
  std::string RangeText() const;  // "0 to 1", "at least 1", or ""
  std::string ValueText() const;  // the present value, as the command line takes it
};

// The fields of one struct, in the order of declaration.
class FieldList {
 public:
  FieldList& Add(std::string name, bool* value, std::string help, Traits traits = 0);
  FieldList& Add(std::string name, std::string* value, std::string help, Traits traits = 0);
  FieldList& Add(std::string name, std::vector<std::string>* value, std::string help,
                 Traits traits = 0);
  FieldList& Add(std::string name, int64_t* value, double min, double max, std::string help,
                 Traits traits = 0);
  FieldList& Add(std::string name, double* value, double min, double max, std::string help,
                 Traits traits = 0);
  FieldList& Add(std::string name, std::vector<double>* value, double min, double max,
                 std::string help, Traits traits = 0);
  FieldList& Add(std::string name, std::vector<int64_t>* value, double min, double max,
                 std::string help, Traits traits = 0);
  // An enum class whose values count from 0, with a name each.
  template <class Enum>
  FieldList& Add(std::string name, Enum* value, std::vector<std::string> names, std::string help,
                 Traits traits = 0) {
    EnumField field{std::move(names), [value] { return static_cast<size_t>(*value); },
                    [value](size_t position) { *value = static_cast<Enum>(position); }};
    return Push({.name = std::move(name),
                 .help = std::move(help),
                 .value = std::move(field),
                 .traits = traits});
  }
  // A text that is one of a few.
  FieldList& Add(std::string name, std::string* value, std::vector<std::string> names,
                 std::string help, Traits traits = 0);
  // The heading of the fields that follow, but for nested ones that have their own.
  FieldList& Group(std::string heading);
  // All fields of `inner`, under `prefix.` where a prefix is given, with these traits too.
  FieldList& Nest(const std::string& prefix, FieldList inner, Traits traits = 0);

  // All fields with one of the traits `of` have the traits `more`, too.
  FieldList& Mark(Traits of, Traits more);

  // A name that is no option, or none any more: giving it is an error that tells the cure.
  FieldList& Replaced(std::string name, std::string cure);

  // The named ones, in the order of `names`. Precondition: they are all there.
  FieldList Select(const std::vector<std::string>& names) const;

  // Those with none of these traits.
  FieldList Without(Traits traits) const;

  const Field* Find(std::string_view name) const;
  // Fields named `table.something` exist.
  bool HasTable(std::string_view table) const;
  // Throws Error(kConfiguration) that names the nearest known field, or the cure of a replaced one;
  // `where` opens the message.
  const Field& Get(std::string_view name, const std::string& where) const;
  // "; " and the cure, where the name was replaced; else "".
  std::string CureOf(std::string_view name) const;
  std::vector<std::string> Names() const;
  const std::vector<Field>& fields() const& { return fields_; }
  void fields() const&& = delete;  // would outlive the list

 private:
  FieldList& Push(Field field);

  std::vector<Field> fields_;
  std::string group_;                                          // of fields to come
  std::vector<std::pair<std::string, std::string>> replaced_;  // name and cure
};

}  // namespace attend

#endif  // ATTEND_BASE_FIELDS_H_
