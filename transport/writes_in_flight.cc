#include "transport/writes_in_flight.h"

#include <limits>

#include "absl/container/flat_hash_set.h"

namespace tidemark::transport {

void WritesInFlight::Begin(const std::shared_ptr<Writer>& writer, const std::string& job_id,
                           const Bytes& bytes) {
  std::vector<std::weak_ptr<Writer>> cut;
  {
    const std::lock_guard lock(mutex_);
    EndLocked(writer.get());
    Held& held = held_[bytes.data];
    if (held.writes++ == 0) {
      held.size = bytes.size;
      bytes_ += bytes.size;
    }
    writes_[writer.get()] = {writer, job_id, bytes.data, ++begun_};
    while (bytes_ > bytes_max_) {
      const void* const data = ToCut(bytes.data);
      if (data == nullptr) break;
      absl::erase_if(writes_, [&](const auto& entry) {
        if (entry.second.data != data) return false;
        cut.push_back(entry.second.writer);
        Release(data);
        return true;
      });
    }
  }
  for (const std::weak_ptr<Writer>& each : cut) {
    if (const std::shared_ptr<Writer> alive = each.lock()) alive->CutWrite();
  }
}

void WritesInFlight::Release(const void* data) {
  const auto held = held_.find(data);
  if (--held->second.writes > 0) return;
  bytes_ -= held->second.size;
  held_.erase(held);
}

const void* WritesInFlight::ToCut(const void* newest) const {
  absl::flat_hash_map<std::string, std::size_t> of_jobs;
  absl::flat_hash_set<const void*> counted;
  for (const auto& [writer, write] : writes_) {
    if (write.data != newest && counted.insert(write.data).second) {
      of_jobs[write.job_id] += held_.at(write.data).size;
    }
  }
  const std::string* largest = nullptr;
  std::size_t most = 0;
  for (const auto& [job_id, bytes] : of_jobs) {
    if (largest == nullptr || bytes > most || (bytes == most && job_id < *largest)) {
      largest = &job_id;
      most = bytes;
    }
  }
  const void* oldest = nullptr;
  std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [writer, write] : writes_) {
    const bool is_of_largest = write.data != newest && write.job_id == *largest;
    if (is_of_largest && write.number < number) {
      oldest = write.data;
      number = write.number;
    }
  }
  return oldest;
}

void WritesInFlight::End(const Writer* writer) {
  const std::lock_guard lock(mutex_);
  EndLocked(writer);
}

void WritesInFlight::EndLocked(const Writer* writer) {
  const auto write = writes_.find(writer);
  if (write == writes_.end()) return;
  Release(write->second.data);
  writes_.erase(write);
}

bool WritesInFlight::IsCounted(const Writer* writer) const {
  const std::lock_guard lock(mutex_);
  return writes_.contains(writer);
}

std::size_t WritesInFlight::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace tidemark::transport
