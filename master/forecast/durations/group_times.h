// Times of many key groups at once, from a cost model.
//
// For each curve and bin the three terms of the curve with their correction are tabulated once an
// update; the time of all key groups of a bin is then a second-order expansion around its centre:
// exact to a part in a thousand within the bin, and for one whose sizes are Spread() farther to the
// first order of their variance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "master/forecast/durations/remaining_groups.h"
#include "regression/cost_model.h"

namespace tidemark::cost {

// Predicted time of a set of key groups.
struct GroupTimes {
  std::vector<double> seconds;  // by curve
  double mean = 0;              // over the curves
  double noise_variance = 0;    // seconds squared: key groups differ from their mean
  double beyond = 0;            // seconds of uncertainty, all in one direction, from sizes beyond
                                // the largest that has finished

  explicit GroupTimes(std::size_t curves = 0) : seconds(curves) {}
  void Add(const GroupTimes& other, double factor);
  // The same when `other` is by the curves of another model: adds its mean to every curve's.
  void AddApart(const GroupTimes& other, double factor);
};

class GroupTimeTable {
 public:
  // `model` must outlive this; it is not empty.
  explicit GroupTimeTable(const regression::CostModel& model);

  const regression::CostModel& model() const { return *model_; }
  std::size_t curve_count() const { return model_->curves().size(); }
  // Adds the time of the key groups of `load`, each `size_factor` times as large as it says.
  void Add(const BinLoad& load, double size_factor, GroupTimes& times);
  // The same for `count` key groups of one size.
  void AddEqual(double size, double bytes, double count, GroupTimes& times);

  // What is tabulated, from which an equal table of an equal model can be made.
  struct Filled {
    std::map<std::uint32_t, double> size_factors;  // by bin
    std::vector<std::uint32_t> equal_bins;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(size_factors, equal_bins);
    }
  };
  Filled filled() const;
  // REQUIRES: nothing is tabulated yet. Bins that do not exist are left out.
  void Fill(const Filled& filled);

 private:
  struct Terms {
    double constant = 0;
    double linear = 0;  // per byte
    double power = 0;   // at the centre
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
  std::vector<Row> equal_rows_;  // likewise, without a size factor
};

}  // namespace tidemark::cost
