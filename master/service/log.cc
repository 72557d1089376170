#include "master/service/log.h"

namespace tidemark::service {
namespace {

constexpr absl::Duration kRarely = absl::Seconds(1);

}  // namespace

void Log::Info(const std::string& message, const std::string& job_id, Fields fields) const {
  Emit({LogSeverity::kInfo, message, job_id, std::move(fields)});
}

void Log::Warn(const std::string& message, const std::string& job_id, Fields fields) const {
  Emit({LogSeverity::kWarning, message, job_id, std::move(fields)});
}

void Log::WarnRarely(const std::string& message, absl::Time now, const std::string& job_id,
                     Fields fields) {
  if (!sink_) return;
  {
    const std::lock_guard lock(mutex_);
    Rare& rare = rare_[message];
    if (now >= rare.told_at && now < rare.told_at + kRarely) {
      ++rare.left_out;
      return;
    }
    rare.told_at = now;
    const std::uint64_t left_out = std::exchange(rare.left_out, 0);
    if (left_out > 0) fields.emplace_back("left_out", std::to_string(left_out));
  }
  Warn(message, job_id, std::move(fields));
}

}  // namespace tidemark::service
