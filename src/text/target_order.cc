#include "text/target_order.h"

#include <fmt/format.h>

#include <string>

#include "attend/error.h"

namespace attend {
namespace {

constexpr const char* kTargetOrder = "target_order";
constexpr const char* kRightToLeft = "right_to_left";

}  // namespace

bool WritesRightToLeft(const Json& tokenization) {
  const auto found = tokenization.find(kTargetOrder);
  if (found == tokenization.end()) return false;
  if (*found == kRightToLeft) return true;
  throw Error(ErrorKind::kInput,
              fmt::format("the model's tokenization: {} is {}, expected \"{}\", or nothing where "
                          "targets are written from left to right",
                          kTargetOrder, Dump(*found), kRightToLeft));
}

// Directories of other models stay as they were.
void AddTargetOrder(bool right_to_left, Json* tokenization) {
  if (right_to_left) (*tokenization)[kTargetOrder] = kRightToLeft;
}

}  // namespace attend
