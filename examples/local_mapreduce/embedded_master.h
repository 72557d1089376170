// A Tidemark master inside the process of the application master, and one watcher of one job.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/job.h"
#include "tidemark/master.h"

namespace tidemark::examples {

class EmbeddedMaster {
 public:
  // `on_snapshot` may be empty.
  static absl::StatusOr<std::unique_ptr<EmbeddedMaster>> Start(
      const MasterOptions& options, const std::string& job_id,
      std::function<void(const Snapshot&)> on_snapshot);
  ~EmbeddedMaster();

  const std::string& address() const { return master_->address(); }
  // Waits until `on_snapshot` has returned from the final snapshot, at most `timeout`.
  void WaitUntilFinal(absl::Duration timeout);

 private:
  explicit EmbeddedMaster(std::unique_ptr<Master> master);

  std::promise<void> final_;
  std::unique_ptr<Master> master_;
  std::unique_ptr<Master::Subscription> subscription_;  // before the master goes, so last here
};

}  // namespace tidemark::examples
