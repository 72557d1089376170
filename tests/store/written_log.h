// An event log that a test writes record by record.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "master/store/event_log.h"
#include "master/store/log_record.h"
#include "proto/wire/encode_event.h"

namespace tidemark::store {

class WrittenLog {
 public:
  static absl::StatusOr<std::unique_ptr<WrittenLog>> Create(const std::string& path,
                                                            const std::string& job_id,
                                                            const JobMonitorOptions& options) {
    const LogKey key = NewLogKey();
    std::string start;
    EncodeLogStart(job_id, options, /*name_space=*/"", key, start);
    auto writer = EventLogWriter::Begin(path, start, key);
    if (!writer.ok()) return writer.status();
    return std::make_unique<WrittenLog>(*std::move(writer), key);
  }
  WrittenLog(std::unique_ptr<EventLogWriter> writer, LogKey key)
      : writer_(std::move(writer)), key_(key) {}

  LogKey key() const { return key_; }
  absl::Status Append(const Event& event) {
    std::string record;
    EncodeReceived(wire::EncodeEvent(event), event.arrived_at, key_, record);
    return AppendEncoded(record);
  }
  absl::Status AppendRefused(const std::string& reason, const AcceptedSequence& event = {}) {
    std::string record;
    EncodeRefused(reason, event, key_, record);
    return AppendEncoded(record);
  }
  // Appends a tick, and passes all appended records to the operating system.
  absl::Status AppendTick(absl::Time at) {
    std::string record;
    EncodeTick(at, key_, record);
    if (absl::Status status = AppendEncoded(record); !status.ok()) return status;
    return writer_->Flush();
  }
  absl::Status AppendEncoded(const std::string& record) { return writer_->AppendEncoded(record); }
  absl::Status Flush() { return writer_->Flush(); }

 private:
  const std::unique_ptr<EventLogWriter> writer_;
  const LogKey key_;
};

}  // namespace tidemark::store
