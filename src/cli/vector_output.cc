#include "cli/vector_output.h"

#include <iostream>
#include <limits>

#include "base/excerpt.h"

namespace attend {

VectorOutput::VectorOutput(const std::string& path, int64_t width)
    : none_W_(width, std::numeric_limits<float>::quiet_NaN()) {
  if (!path.empty()) rows_.emplace(path, width);
}

void VectorOutput::Add(Json line, std::span<const float> values_W) {
  if (rows_) return rows_->Add(values_W);
  line["embedding"] = FloatsToJson(values_W);
  Print(line);
}

void VectorOutput::AddUnreadable(Json line, const std::string& error) {
  if (rows_) return rows_->Add(none_W_);
  line["error"] = error;
  Print(line);
}

void VectorOutput::Commit() {
  if (rows_) rows_->Commit();
}

void VectorOutput::Print(const Json& line) const { std::cout << Printable(Dump(line)) << '\n'; }

}  // namespace attend
