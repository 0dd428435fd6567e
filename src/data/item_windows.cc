#include "data/item_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "attend/error.h"
#include "base/random.h"

namespace attend {
namespace {

class ItemReader : public WindowReader {
 public:
  ItemReader(ItemWindows windows, int64_t epoch, int64_t number, const WindowPart& part)
      : windows_(std::move(windows)), epoch_(epoch), number_(number), part_(part) {
    if (number < 0 || number * windows_.window >= windows_.size) {
      throw Error(ErrorKind::kInput,
                  fmt::format("the data position is not one of these {0}: it is window {1} of "
                              "{2} {0} each, of {3} {0}",
                              windows_.items, number, windows_.window, windows_.size));
    }
    DrawOrder();
  }

  WindowWork Next() override {
    WindowWork work;
    work.epoch = epoch_;
    work.start = {number_, {}};
    const int64_t begin = number_ * windows_.window;
    const int64_t count = std::min(windows_.window, windows_.size - begin);
    const int64_t first = begin + count * part_.index / part_.count;
    const int64_t end = begin + count * (part_.index + 1) / part_.count;
    work.make = [make = windows_.make, order = order_, epoch = epoch_, first, end] {
      return Window{std::make_shared<const ExampleTable>(make(*order, epoch, first, end)), {}};
    };
    work.last = begin + count == windows_.size;
    ++number_;
    if (work.last) {
      number_ = 0;
      ++epoch_;
      DrawOrder();
    }
    return work;
  }

 private:
  void DrawOrder() {
    std::vector<int64_t> order(windows_.size);
    std::iota(order.begin(), order.end(), 0);
    Random{windows_.seed, static_cast<uint64_t>(epoch_), windows_.key}.Shuffle(&order);
    order_ = std::make_shared<const std::vector<int64_t>>(std::move(order));
  }

  ItemWindows windows_;
  int64_t epoch_, number_;
  WindowPart part_;
  std::shared_ptr<const std::vector<int64_t>> order_;
};

}  // namespace

int64_t ItemsInWindow(int64_t bytes) {
  constexpr int64_t kWindowBytes = int64_t{1} << 26, kMinWindow = 64;
  return std::max(kMinWindow, kWindowBytes / std::max<int64_t>(bytes, 1));
}

std::unique_ptr<WindowReader> OpenItemWindows(ItemWindows windows, int64_t epoch, int64_t number,
                                              const WindowPart& part) {
  return std::make_unique<ItemReader>(std::move(windows), epoch, number, part);
}

}  // namespace attend
