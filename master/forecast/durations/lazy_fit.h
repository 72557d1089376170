// A cost model that is fitted anew only when there is something new to learn: when the key groups
// it knows have become more, or their amounts have moved, by more than a given part. Between two
// fits it answers from what it was fitted to. Not thread-safe.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "master/forecast/durations/group_times.h"
#include "regression/cost_model.h"

namespace tidemark::cost {

class LazyFit {
 public:
  explicit LazyFit(double growth = kChangeTolerance) : growth_(growth) {}
  LazyFit(const LazyFit&) = delete;  // the table points at the model
  LazyFit& operator=(const LazyFit&) = delete;

  // O(bins), and a fit when it is due.
  void Update(std::vector<regression::CostBin> bins) {
    const Known known = KnownOf(bins);
    if (known_.count > 0 && bins.size() == bin_count_ && IsNear(known.count, known_.count) &&
        IsNear(known.amount, known_.amount)) {
      return;
    }
    known_ = known;
    bin_count_ = bins.size();
    table_.reset();
    model_ = regression::CostModel::Fit(std::move(bins));
    if (!model_.empty()) table_.emplace(model_);
  }
  // The next Update() fits.
  void Forget() { known_ = {}; }

  const regression::CostModel& model() const { return model_; }
  bool empty() const { return model_.empty(); }
  // REQUIRES: !empty()
  GroupTimeTable& table() { return *table_; }

  // For checkpoints (master/facts/checkpoint.h): what was fitted, from which the same model
  // follows.
  template <class Archive>
  void save(Archive& archive) const {
    archive(known_.count, known_.amount, bin_count_,
            std::vector<regression::CostBin>(model_.bins().begin(), model_.bins().end()));
    if (table_) archive(table_->filled());
  }
  template <class Archive>
  void load(Archive& archive) {
    std::vector<regression::CostBin> bins;
    archive(known_.count, known_.amount, bin_count_, bins);
    table_.reset();
    model_ = regression::CostModel::Fit(std::move(bins));
    if (model_.empty()) return;
    GroupTimeTable::Filled filled;
    archive(filled);
    table_.emplace(model_).Fill(filled);
  }

 private:
  struct Known {
    double count = 0;
    double amount = 0;
  };
  static Known KnownOf(const std::vector<regression::CostBin>& bins) {
    Known known;
    for (const regression::CostBin& bin : bins) {
      known.count += bin.count;
      known.amount += bin.count * bin.amount;
    }
    return known;
  }
  bool IsNear(double now, double before) const {
    return std::abs(now - before) <= growth_ * std::abs(before);
  }

  const double growth_;
  Known known_;
  std::size_t bin_count_ = 0;
  regression::CostModel model_;
  std::optional<GroupTimeTable> table_;  // of model_
};

}  // namespace tidemark::cost
