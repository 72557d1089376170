// Times of many key groups at once, and a cost model that is refitted only when its data have
// changed.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "master/forecast/durations/remaining_groups.h"
#include "regression/cost_model.h"

namespace tidemark::durations {

// The predicted time of a set of key groups.
struct GroupTimes {
  std::vector<double> seconds;  // by curve
  double mean = 0;              // mean over the curves
  double noise_variance = 0;    // seconds squared: variance of the key groups around their mean
  // Seconds, an error common to all groups, from sizes above the largest finished group.
  double beyond = 0;
  // Seconds, an error common to all groups, since a sample represents them.
  double sampling = 0;

  explicit GroupTimes(std::size_t curves = 0) : seconds(curves) {}
  void Add(const GroupTimes& other, double factor);
  // Adds an estimate from another model. Its mean is added to every curve.
  void AddApart(const GroupTimes& other, double factor);
};

// Times of many key groups at once, from a cost model.
//
// Each update tabulates the three corrected terms of every curve for each bin. The time of a bin's
// key groups is a second-order expansion around the centre of the bin. Within the bin, it is exact
// to one part in a thousand. For a bin after Spread(), it is exact to the first order of the
// variance.
class GroupTimeTable {
 public:
  // REQUIRES: `model` outlives this object and is not empty.
  explicit GroupTimeTable(const regression::CostModel& model);

  const regression::CostModel& model() const { return *model_; }
  std::size_t curve_count() const { return model_->curves().size(); }
  // Adds the time of the key groups of `load`, with their sizes multiplied by `size_factor`.
  void Add(const BinLoad& load, double size_factor, GroupTimes& times);
  // Adds the time of `count` key groups of one size.
  void AddEqual(double size, double bytes, double count, GroupTimes& times);

  // The rows that are filled. Fill() restores them in a table of an equal model.
  struct Filled {
    std::map<std::uint32_t, double> size_factors;  // by bin
    std::vector<std::uint32_t> equal_bins;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(size_factors, equal_bins);
    }
  };
  Filled filled() const;
  // Fills the rows. Ignores nonexistent bins. REQUIRES: no row is filled.
  void Fill(const Filled& filled);

 private:
  struct Terms {
    double constant = 0;
    double linear = 0;  // seconds per byte
    double power = 0;   // power term at the centre of the bin
  };
  struct Row {
    bool is_filled = false;
    double size_factor = 1;
    double relative_variance = 0;
    double beyond = 0;
    std::vector<Terms> curves;
  };
  Row MakeRow(double centre, double size_factor) const;
  void AddTerms(const Row& row, const BinLoad& load, GroupTimes& times) const;

  const regression::CostModel* model_;
  std::vector<Row> rows_;        // by bin
  std::vector<Row> equal_rows_;  // by bin, without a size factor
};

// A cost model that is refitted only if the number or the amounts of its key groups have changed by
// more than a given fraction. Not thread-safe.
class LazyFit {
 public:
  explicit LazyFit(double growth = kChangeTolerance) : growth_(growth) {}
  LazyFit(const LazyFit&) = delete;  // table_ points to model_
  LazyFit& operator=(const LazyFit&) = delete;

  // Replaces the data. O(bins), plus the cost of a fit if one is due.
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
  // Makes the next Update() fit.
  void Invalidate() { known_ = {}; }

  const regression::CostModel& model() const { return model_; }
  bool empty() const { return model_.empty(); }
  // REQUIRES: !empty()
  GroupTimeTable& table() { return *table_; }

  // Saves the fitted data in a checkpoint (master/facts/checkpoint.h). Fitting them again gives the
  // same model.
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
  std::optional<GroupTimeTable> table_;  // table of model_
};

}  // namespace tidemark::durations
