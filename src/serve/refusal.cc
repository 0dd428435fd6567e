#include "serve/refusal.h"

#include <fmt/format.h>

#include <new>

namespace attend {
namespace {

HttpResponse FailureResponse(ErrorForm form, const std::string& message,
                             const std::string& failure) {
  HttpResponse response = ErrorResponse(form, 500, message);
  response.failure = failure;
  return response;
}

}  // namespace

HttpResponse ResponseTo(const std::exception_ptr& error, ErrorForm form) {
  try {
    std::rethrow_exception(error);
  } catch (const Refusal& refusal) {
    return ErrorResponse(form, refusal.status, refusal.what(), refusal.headers);
  } catch (const UnknownModel& unknown) {
    return ErrorResponse(form, form == ErrorForm::kOpenAi ? 404 : 400, unknown.what());
  } catch (const Error& failed) {
    if (failed.kind() != ErrorKind::kRuntime) return ErrorResponse(form, 400, failed.what());
    return FailureResponse(form, failed.what(), failed.what());
  } catch (const std::bad_alloc&) {
    HttpResponse response =
        BusyResponse(form, "out of memory; send less text at once, or take a smaller beam_size", 5);
    response.failure = "out of memory";
    return response;
  } catch (const std::exception& failed) {
    return FailureResponse(form, fmt::format("internal error: {}", failed.what()), failed.what());
  }
}

bool Attempt(const std::shared_ptr<Exchange>& exchange, const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const std::exception&) {
    const std::exception_ptr error = std::current_exception();
    try {
      exchange->Answer(ResponseTo(error, exchange->request().errors));
    } catch (const std::bad_alloc&) {  // the exchange's limit answers
    }
    return false;
  }
}

}  // namespace attend
