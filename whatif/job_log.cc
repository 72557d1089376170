#include "whatif/job_log.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "master/store/record_reader.h"
#include "spark/remarks.h"

namespace tidemark::cli {

absl::StatusOr<std::unique_ptr<store::EventLogReader>> OpenLogOfMaster(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return nullptr;
  auto reader = store::EventLogReader::Open(path);
  if (absl::IsInvalidArgument(reader.status())) return nullptr;
  return reader;
}

absl::StatusOr<std::unique_ptr<JobLog>> JobLog::Open(const std::string& path,
                                                     spark::MeasuredStages* measured) {
  auto log = std::make_unique<JobLog>();
  log->path_ = path;
  auto of_master = OpenLogOfMaster(path);
  if (!of_master.ok()) return of_master.status();
  log->of_master_ = *std::move(of_master);
  if (log->of_master_ != nullptr) return log;
  auto spark = spark::LogReader::Open(path, {.measured = measured});
  if (!spark.ok()) return spark.status();
  log->spark_ = *std::move(spark);
  return log;
}

absl::StatusOr<std::optional<Event>> JobLog::Next() {
  if (spark_ != nullptr) return spark_->Next();
  for (;;) {
    auto record = of_master_->Next();
    if (!record.ok()) return record.status();
    if (!record->has_value()) return std::nullopt;
    if (auto* const event = std::get_if<Event>(&**record)) return std::move(*event);
    if (const auto* const damage = std::get_if<store::Damage>(&**record)) {
      damages_.push_back(store::RecordReader::Describe(store::kEventLog, path_, *damage));
    }
  }
}

std::vector<std::string> JobLog::Remarks(std::uint64_t refused) const {
  return spark_ != nullptr ? RemarksOn(*spark_, refused) : damages_;
}

}  // namespace tidemark::cli
