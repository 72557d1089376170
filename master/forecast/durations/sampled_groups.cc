#include "master/forecast/durations/sampled_groups.h"

#include <algorithm>
#include <array>
#include <span>

#include "streaming/size_histogram.h"

namespace tidemark::cost {
namespace {

bool IsFinished(const model::Task& task, const model::TaskAttempt* leading, KeyHash key) {
  if (task.is_over()) return true;
  return leading != nullptr && (leading->reduce->finished_explicit.contains(key) ||
                                leading->reduce->finished_sampled.contains(key));
}

}  // namespace

void SampledGroups::Update(const model::JobRecord& state) {
  explicit_.clear();
  bins_.clear();
  implicit_count_ = 0;
  const streaming::KeySample& sample = state.keys.sample();
  // A sum over some of the map tasks is not exact.
  has_sample_ = sample.below() > 0 && state.map_profiles_missing == 0;
  if (!has_sample_) return;
  const std::span<const model::Task> tasks = state.reduce_tasks();
  std::vector<const model::TaskAttempt*> leading;
  for (const model::Task& task : tasks) leading.push_back(task.leading_attempt());
  std::array<RecentSizes::Bin, streaming::kSizeBins> bins{};
  for (const auto& [key, sampled] : sample.keys()) {
    if (sampled.partition >= tasks.size() ||
        IsFinished(tasks[sampled.partition], leading[sampled.partition], key)) {
      continue;
    }
    const auto size = static_cast<double>(sampled.size_bytes);
    const auto known = static_cast<double>(state.keys.ExplicitBytes(key));
    if (known > 0) {
      explicit_.push_back(
          {key, size, known, state.keys.SlackBytes(key), state.keys.MainMapTask(key)});
    } else {
      RecentSizes::Bin& bin = bins[streaming::SizeBin(sampled.size_bytes)];
      bin.count += 1;
      bin.bytes += size;
      ++implicit_count_;
    }
  }
  // The order in a hash table is not the same everywhere; sums of doubles should be.
  std::sort(explicit_.begin(), explicit_.end(),
            [](const SampledGroup& a, const SampledGroup& b) { return a.key < b.key; });
  for (std::uint32_t b = 0; b < streaming::kSizeBins; ++b) {
    bins[b].bin = b;
    if (bins[b].count > 0) bins_.push_back(bins[b]);
  }
}

}  // namespace tidemark::cost
