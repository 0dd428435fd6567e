// What tests look at in errors.
#ifndef ATTEND_MODEL_ERROR_FIXTURE_H_
#define ATTEND_MODEL_ERROR_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>

#include "attend/error.h"

namespace attend {

// The one-line message of the Error(kInput) that the call gives, or "".
template <class Call>
std::string InputErrorOf(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << error.what();
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  return "";
}

}  // namespace attend

#endif  // ATTEND_MODEL_ERROR_FIXTURE_H_
