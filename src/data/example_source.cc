#include "data/example_source.h"

namespace attend {
namespace {

class TableReader : public WindowReader {
 public:
  TableReader(const ExampleTable* table, int64_t epoch)
      : table_(std::shared_ptr<const void>(), table), epoch_(epoch) {}
  WindowWork Next() override {
    const MakeWindow make = [table = table_] { return Window{table, {}}; };
    return {epoch_++, {}, /*last=*/true, make};
  }

 private:
  std::shared_ptr<const ExampleTable> table_;  // owns nothing
  int64_t epoch_;
};

}  // namespace

std::unique_ptr<WindowReader> OpenTable(const ExampleTable* table, int64_t epoch) {
  return std::make_unique<TableReader>(table, epoch);
}

}  // namespace attend
