// Intermediate records (key, value) in key order, and the key groups they form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tidemark/agent.h"

namespace tidemark::examples {

// What a record counts for, in a task's input and in the size of its key group: on both sides of
// the shuffle, so that what a map task announces is what a reduce task reads.
inline std::uint64_t RecordBytes(std::string_view key, std::string_view value) {
  return key.size() + value.size();
}

// A stream of records whose keys do not decrease, in byte order.
class SortedRecords {
 public:
  virtual ~SortedRecords() = default;
  // Moves to the next record; false: there is none, or status() says what went wrong.
  virtual bool Next() = 0;
  // Valid until Next().
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  const absl::Status& status() const { return status_; }

 protected:
  std::string_view key_;
  std::string_view value_;
  absl::Status status_;
};

// The values of one key group, which may be too many for memory: each can be read once.
class Values {
 public:
  // The next one, valid until Next(); none: the group has ended.
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

  // Whether there is a record at hand and it belongs to the group.
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
  bool at_record_ = false;  // a record has been fetched and not given out
  bool ended_ = false;
  std::uint64_t records_ = 0;
  std::uint64_t bytes_ = 0;
};

// Walks through the key groups of sorted records. A `watcher`, if any, is told of each group and of
// each value when it is read.
class KeyGroups : public Values {
 public:
  KeyGroups(SortedRecords& records, ReduceTaskAgent* watcher) : Values(records, watcher) {}

  // Ends this group, reading what is left of it, and moves to the next; false: there is none, or
  // the status of the records says what went wrong.
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
  // Of this group; valid until NextGroup().
  std::string_view key() const { return key_; }

  // Of all groups so far.
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
