// An object of a tokenizer.json, read so that nothing in it passes unseen.
#ifndef ATTEND_TEXT_JSON_COMPONENT_H_
#define ATTEND_TEXT_JSON_COMPONENT_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/json.h"

namespace attend {

class JsonComponent {
 public:
  // `name` is what messages call it: "model", "normalizer[1]". Throws where the value is no object.
  // Everything that is kept by reference must outlive the component.
  JsonComponent(const SortedJson& value, std::string name, const std::string& where);

  // Refuses every member that is not among them.
  void CheckKeys(std::initializer_list<std::string_view> known) const;

  // The member `type`.
  std::string Type() const { return Text("type"); }
  // The functions throw where the member is missing or of another type. With a second value, that
  // is taken where the member is missing or null.
  std::string Text(const std::string& key) const;
  std::string Text(const std::string& key, const std::string& otherwise) const;
  bool Flag(const std::string& key) const;
  bool Flag(const std::string& key, bool otherwise) const;
  uint64_t Number(const std::string& key) const;
  // An array.
  const SortedJson& List(const std::string& key) const;
  JsonComponent Object(const std::string& key) const;

  // The member; null where it is missing or null.
  const SortedJson* Find(const std::string& key) const;
  const SortedJson& value() const { return value_; }
  const std::string& where() const { return where_; }
  // "model.unk_token"
  std::string NameOf(std::string_view key) const;

  // Throws Error(kInput): "FILE: NAME.KEY is VALUE; expected EXPECTED".
  [[noreturn]] void Refuse(std::string_view key, std::string_view expected) const;
  // Throws Error(kInput): "FILE: MESSAGE".
  [[noreturn]] void Fail(const std::string& message) const;

 private:
  const SortedJson& value_;
  std::string name_;
  const std::string& where_;
};

}  // namespace attend

#endif  // ATTEND_TEXT_JSON_COMPONENT_H_
