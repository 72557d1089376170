// Intermediate records (key and value) in key order, and their key groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tidemark/agent.h"

namespace tidemark::examples {

// Returns the number of bytes that a record adds to the input of a task and to its key group. Map
// and reduce tasks both use this function, so their sizes agree.
inline std::uint64_t RecordBytes(std::string_view key, std::string_view value) {
  return key.size() + value.size();
}

// A stream of records with non-decreasing keys, in byte order.
class SortedRecords {
 public:
  virtual ~SortedRecords() = default;
  // Moves to the next record. Returns false at the end or if status() has an error.
  virtual bool Next() = 0;
  // The key and value are valid until Next().
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  const absl::Status& status() const { return status_; }

 protected:
  std::string_view key_;
  std::string_view value_;
  absl::Status status_;
};

// The values of one key group. They may exceed the memory, so each value can be read only once.
class Values {
 public:
  // Returns the next value, valid until Next(), or nullopt at the end of the group.
  std::optional<std::string_view> Next() {
    if (!AtValue()) return std::nullopt;
    at_record_ = false;
    ++records_;
    bytes_ += RecordBytes(key_, records_of_->value());
    if (watcher_ != nullptr) watcher_->ValueRead(RecordBytes(key_, records_of_->value()));
    return records_of_->value();
  }

 protected:
  Values(SortedRecords& records, ReduceTaskAgent* watcher)
      : records_of_(&records), watcher_(watcher) {}

  // Returns true if the current record exists and belongs to the group.
  bool AtValue() {
    if (!at_record_ && !ended_) {
      at_record_ = records_of_->Next();
      ended_ = !at_record_;
    }
    return at_record_ && records_of_->key() == key_;
  }

  SortedRecords* records_of_;
  ReduceTaskAgent* watcher_;
  std::string key_;
  bool at_record_ = false;  // a record has been fetched but not returned
  bool ended_ = false;
  std::uint64_t records_ = 0;
  std::uint64_t bytes_ = 0;
};

// Iterates over the key groups of sorted records. Reports each group, and each value that is read,
// to `watcher` unless it is null.
class KeyGroups : public Values {
 public:
  KeyGroups(SortedRecords& records, ReduceTaskAgent* watcher) : Values(records, watcher) {}

  // Skips the unread values of this group and moves to the next group. Returns false at the end or
  // if the status of the records has an error.
  bool NextGroup() {
    if (groups_ > 0) EndGroup();
    if (!at_record_ && !ended_) {
      at_record_ = records_of_->Next();
      ended_ = !at_record_;
    }
    if (ended_) return false;
    key_ = records_of_->key();
    ++groups_;
    if (watcher_ != nullptr) watcher_->BeginGroup(key_);
    return true;
  }
  // Returns the key of this group, which is valid until NextGroup().
  std::string_view key() const { return key_; }

  // These functions return the numbers of groups and records so far.
  std::uint64_t groups() const { return groups_; }
  std::uint64_t records() const { return records_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void EndGroup() {
    while (Next()) {
    }
    if (watcher_ != nullptr) watcher_->EndGroup();
  }
  std::uint64_t groups_ = 0;
};

}  // namespace tidemark::examples
