// Writes and reads checkpoints of estimates. A checkpoint restores the state after a Tick() to the
// last bit.
//
// Each class names its fields once, in a member template serialize(). A class that rebuilds a part
// of its state has save() and load() instead. cereal does the rest. Only a program with the same
// fields can read a checkpoint, so every change of a field must increase kCheckpointLayout.
// Otherwise tests/monitor/checkpoint_test.cc fails.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "regression/cost_model.h"
#include "tidemark/event.h"

namespace tidemark::facts {

inline constexpr std::uint32_t kCheckpointLayout = 16;

using CheckpointWriter = cereal::BinaryOutputArchive;
// Throws std::exception if the input is not a checkpoint of this layout.
using CheckpointReader = cereal::BinaryInputArchive;

}  // namespace tidemark::facts

// Serialization of types without a serialize() member.
namespace cereal {

// Stores whole seconds and quarters of a nanosecond, the resolution of absl::Duration.
template <class Archive>
void save(Archive& archive, const absl::Duration& duration) {
  absl::Duration rest;
  const std::int64_t seconds = absl::IDivDuration(duration, absl::Seconds(1), &rest);
  const bool is_infinite =
      duration == absl::InfiniteDuration() || duration == -absl::InfiniteDuration();
  const std::int64_t quarters = is_infinite ? 0 : rest / (absl::Nanoseconds(1) / 4);
  archive(seconds, quarters);
}
template <class Archive>
void load(Archive& archive, absl::Duration& duration) {
  std::int64_t seconds = 0;
  std::int64_t quarters = 0;
  archive(seconds, quarters);
  duration = absl::Seconds(seconds) + quarters * (absl::Nanoseconds(1) / 4);
  if (seconds == std::numeric_limits<std::int64_t>::max()) duration = absl::InfiniteDuration();
  if (seconds == std::numeric_limits<std::int64_t>::min()) duration = -absl::InfiniteDuration();
}

template <class Archive>
void save(Archive& archive, const absl::Time& time) {
  archive(time - absl::UnixEpoch());
}
template <class Archive>
void load(Archive& archive, absl::Time& time) {
  absl::Duration since;
  archive(since);
  time = absl::UnixEpoch() + since;
}

template <class Archive, class Key, class Value>
void save(Archive& archive, const absl::flat_hash_map<Key, Value>& map) {
  archive(make_size_tag(static_cast<size_type>(map.size())));
  for (const auto& [key, value] : map) archive(key, value);
}
template <class Archive, class Key, class Value>
void load(Archive& archive, absl::flat_hash_map<Key, Value>& map) {
  size_type size = 0;
  archive(make_size_tag(size));
  map.clear();
  for (; size > 0; --size) {
    Key key{};
    Value value{};
    archive(key, value);
    map.emplace(std::move(key), std::move(value));
  }
}

}  // namespace cereal

namespace tidemark {

template <class Archive>
void serialize(Archive& archive, GroupBin& bin) {
  archive(bin.bin, bin.count, bin.size_bytes, bin.seconds, bin.seconds_squared, bin.emitted_bytes);
}

template <class Archive>
void serialize(Archive& archive, ExplicitKey& key) {
  archive(key.key, key.size_bytes, key.values);
}

}  // namespace tidemark

namespace tidemark::regression {

template <class Archive>
void serialize(Archive& archive, CostBin& bin) {
  archive(bin.size, bin.count, bin.amount, bin.relative_variance, bin.bytes);
}

}  // namespace tidemark::regression
