// Models that write their targets from right to left: what Model::tokenization says of it.
#ifndef ATTEND_TEXT_TARGET_ORDER_H_
#define ATTEND_TEXT_TARGET_ORDER_H_

#include "base/json.h"

namespace attend {

// Throws Error(kInput) for a `target_order` that is not known.
bool WritesRightToLeft(const Json& tokenization);
void AddTargetOrder(bool right_to_left, Json* tokenization);

}  // namespace attend

#endif  // ATTEND_TEXT_TARGET_ORDER_H_
