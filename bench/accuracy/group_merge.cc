#include "bench/accuracy/group_merge.h"

#include <algorithm>
#include <utility>

namespace tidemark::bench {

void GroupRecords::Start(std::string_view key) {
  group_key_ = key;
  bytes_.clear();
  value_ends_.clear();
  Rewind();
}

void GroupRecords::Append(std::string_view value) {
  bytes_.append(value);
  value_ends_.push_back(bytes_.size());
}

void GroupRecords::Rewind() {
  next_ = 0;
  next_begin_ = 0;
}

bool GroupRecords::Next() {
  if (next_ == value_ends_.size()) return false;
  key_ = group_key_;
  value_ = std::string_view(bytes_).substr(next_begin_, value_ends_[next_] - next_begin_);
  next_begin_ = value_ends_[next_++];
  return true;
}

GroupMerge::GroupMerge(std::vector<examples::SegmentReader> map_outputs)
    : readers_(std::move(map_outputs)) {
  for (std::uint32_t i = 0; i < readers_.size(); ++i) {
    if (Advance(i)) Push(i);
  }
}

bool GroupMerge::ComesAfter(std::uint32_t a, std::uint32_t b) const {
  const int order = readers_[a].key().compare(readers_[b].key());
  return order != 0 ? order > 0 : a > b;
}

void GroupMerge::Push(std::uint32_t map_task) {
  heap_.push_back(map_task);
  std::push_heap(heap_.begin(), heap_.end(),
                 [this](std::uint32_t a, std::uint32_t b) { return ComesAfter(a, b); });
}

std::uint32_t GroupMerge::Pop() {
  std::pop_heap(heap_.begin(), heap_.end(),
                [this](std::uint32_t a, std::uint32_t b) { return ComesAfter(a, b); });
  const std::uint32_t map_task = heap_.back();
  heap_.pop_back();
  return map_task;
}

bool GroupMerge::Advance(std::uint32_t map_task) {
  if (readers_[map_task].Next()) return true;
  if (status_.ok()) status_ = readers_[map_task].status();
  return false;
}

bool GroupMerge::Next(GroupRecords& group) {
  parts_.clear();
  if (heap_.empty() || !status_.ok()) return false;
  group.Start(readers_[heap_.front()].key());
  while (!heap_.empty() && readers_[heap_.front()].key() == group.group_key()) {
    const std::uint32_t map_task = Pop();
    examples::SegmentReader& reader = readers_[map_task];
    Part part = {.map_task = map_task};
    bool more = true;
    while (more && reader.key() == group.group_key()) {
      group.Append(reader.value());
      part.size_bytes += examples::RecordBytes(reader.key(), reader.value());
      more = Advance(map_task);
    }
    parts_.push_back(part);
    if (more) Push(map_task);
  }
  return status_.ok();
}

}  // namespace tidemark::bench
