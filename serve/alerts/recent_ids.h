// Ids of what was told, so many that the oldest may go.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace tidemark::cli {

// Remembers the newest kKept at least, twice as many at most, beside those that it began with. Not
// thread-safe.
class RecentIds {
 public:
  static constexpr std::size_t kKept = 10'000;

  explicit RecentIds(std::set<std::string> ids = {}) : older_(std::move(ids)) {}

  // Whether it is new.
  bool Insert(const std::string& id) {
    if (newer_.contains(id) || older_.contains(id)) return false;
    if (newer_.size() >= kKept) older_ = std::exchange(newer_, {});
    newer_.insert(id);
    return true;
  }

 private:
  std::set<std::string> newer_;
  std::set<std::string> older_;
};

}  // namespace tidemark::cli
