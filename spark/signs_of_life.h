// That tasks live, of which a log says nothing before they end.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::spark {

// Without them a monitor would take the job for silent: its estimate would stand still and at last
// it would be given up. Not thread-safe. Memory: O(1), as 1,000 running tasks at most are told of.
class SignsOfLife {
 public:
  // `source_id`: of the events, other than that of the log's own.
  explicit SignsOfLife(std::string source_id) : source_id_(std::move(source_id)) {}

  // What the log says, in its order.
  void Observe(const Event& event);
  // One of each task that runs, or of the application where none does; none before it opens.
  using Take = absl::FunctionRef<void(Event event)>;
  void Tell(absl::Time at, Take take);

 private:
  const std::string source_id_;
  std::string job_id_;
  std::string run_uid_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> running_;
  std::uint64_t sequence_ = 0;
};

}  // namespace tidemark::spark
