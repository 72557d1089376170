#include "examples/local_mapreduce/merge.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace tidemark::examples {

std::uint64_t KeyPrefix(std::string_view key) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, key.data(), std::min(key.size(), sizeof(bytes)));
  return __builtin_bswap64(bytes);
}

MergedRecords::MergedRecords(std::vector<SegmentReader> segments)
    : segments_(std::move(segments)) {}

bool MergedRecords::Before(const Head& a, const Head& b) {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  return a.segment->key() < b.segment->key();
}

bool MergedRecords::Next() {
  if (!started_) {
    started_ = true;
    for (SegmentReader& segment : segments_) {
      Head head = {.segment = &segment};
      if (Advance(head)) heap_.push_back(head);
    }
    for (std::size_t place = heap_.size() / 2; place-- > 0;) SiftDown(place);
  } else if (!heap_.empty()) {
    // Only now may the segment move on: the record it gave was in use.
    if (!Advance(heap_.front())) {
      heap_.front() = heap_.back();
      heap_.pop_back();
    }
    SiftDown(0);
  }
  if (heap_.empty() || !status_.ok()) return false;
  key_ = heap_.front().segment->key();
  value_ = heap_.front().segment->value();
  return true;
}

bool MergedRecords::Advance(Head& head) {
  if (!head.segment->Next()) {
    if (status_.ok()) status_ = head.segment->status();
    return false;
  }
  head.prefix = KeyPrefix(head.segment->key());
  return true;
}

void MergedRecords::SiftDown(std::size_t place) {
  while (true) {
    std::size_t least = 2 * place + 1;
    if (least >= heap_.size()) return;
    if (least + 1 < heap_.size() && Before(heap_[least + 1], heap_[least])) ++least;
    if (!Before(heap_[least], heap_[place])) return;
    std::swap(heap_[place], heap_[least]);
    place = least;
  }
}

}  // namespace tidemark::examples
