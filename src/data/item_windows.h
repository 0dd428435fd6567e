// Windows over items that are read as training goes, such as pictures or recordings.
#ifndef ATTEND_DATA_ITEM_WINDOWS_H_
#define ATTEND_DATA_ITEM_WINDOWS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/example_source.h"

namespace attend {

// An epoch has every item once, in an order drawn for it. A window is the items that come next.
struct ItemWindows {
  std::string items;   // what they are called: "pictures"
  int64_t size = 0;    // items
  int64_t window = 1;  // items in a window
  uint64_t seed = 1;   // the run's
  uint64_t key = 0;    // tells this order apart from other draws
  // The examples of the items at places [first, end) of an epoch's order; callable on any thread.
  std::function<ExampleTable(const std::vector<int64_t>& order, int64_t epoch, int64_t first,
                             int64_t end)>
      make;
};

// Items of so many bytes that a window has: as many as take some 64 MiB, and not few.
int64_t ItemsInWindow(int64_t bytes);

// As ExampleSource::Open, from window `number` of the epoch on. Throws Error(kInput) for a window
// that there is not.
std::unique_ptr<WindowReader> OpenItemWindows(ItemWindows windows, int64_t epoch, int64_t number,
                                              const WindowPart& part);

}  // namespace attend

#endif  // ATTEND_DATA_ITEM_WINDOWS_H_
