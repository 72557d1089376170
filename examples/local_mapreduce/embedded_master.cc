#include "examples/local_mapreduce/embedded_master.h"

#include <utility>

namespace tidemark::examples {
namespace {

constexpr absl::Duration kShutdownGrace = absl::Seconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<EmbeddedMaster>> EmbeddedMaster::Start(
    const MasterOptions& options, const std::string& job_id,
    std::function<void(const Snapshot&)> on_snapshot) {
  absl::StatusOr<std::unique_ptr<Master>> master = Master::Start(options);
  if (!master.ok()) return master.status();
  std::unique_ptr<EmbeddedMaster> embedded(new EmbeddedMaster(*std::move(master)));
  auto subscription = embedded->master_->Watch(
      job_id, [on_snapshot = std::move(on_snapshot), self = embedded.get()](const Snapshot& shot) {
        if (on_snapshot) on_snapshot(shot);
        if (shot.is_final) self->final_.set_value();
      });
  if (!subscription.ok()) return subscription.status();
  embedded->subscription_ = *std::move(subscription);
  return embedded;
}

EmbeddedMaster::EmbeddedMaster(std::unique_ptr<Master> master) : master_(std::move(master)) {}

EmbeddedMaster::~EmbeddedMaster() {
  subscription_.reset();
  master_->Shutdown(kShutdownGrace);
}

void EmbeddedMaster::WaitUntilFinal(absl::Duration timeout) {
  final_.get_future().wait_for(absl::ToChronoMilliseconds(timeout));
}

}  // namespace tidemark::examples
