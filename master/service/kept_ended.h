// Which of those that have ended makes room for another, of jobs or of workflows: the oldest of
// the reporter that keeps the most. So room is made among one's own as soon as one keeps more than
// others do, and none loses what has ended to one that keeps more.
//
// Not thread-safe. ToForget() is O(reporters), the rest O(log n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tidemark::service {

class KeptEnded {
 public:
  struct One {
    std::string reporter;
    std::uint64_t number = 0;  // in the order in which they began
    std::string id;
  };

  // Something of `reporter` is kept from now on, and no more; whether it has ended or not.
  void Enter(const std::string& reporter);
  void Leave(const std::string& reporter);

  // It has ended, and may be forgotten from now on, or may not any more.
  void Add(const One& one);
  void Remove(const std::string& reporter, std::uint64_t number);

  // What makes room for one more of `reporter`; empty: nothing may.
  std::optional<One> ToForget(const std::string& reporter) const;
  // The oldest that `reporter` itself has.
  std::optional<One> OldestOf(const std::string& reporter) const;

 private:
  struct Reporter {
    std::size_t kept = 0;
    std::map<std::uint64_t, std::string> ended;  // ids by number
  };
  static One Oldest(const std::string& name, const Reporter& reporter) {
    return {name, reporter.ended.begin()->first, reporter.ended.begin()->second};
  }

  std::map<std::string, Reporter> reporters_;
};

}  // namespace tidemark::service
