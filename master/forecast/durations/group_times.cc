#include "master/forecast/durations/group_times.h"

#include <algorithm>
#include <cmath>

namespace tidemark::durations {
void GroupTimes::Add(const GroupTimes& other, double factor) {
  for (std::size_t k = 0; k < seconds.size(); ++k) seconds[k] += factor * other.seconds[k];
  mean += factor * other.mean;
  noise_variance += factor * other.noise_variance;
  beyond += factor * other.beyond;
  sampling += factor * other.sampling;
}

void GroupTimes::AddApart(const GroupTimes& other, double factor) {
  if (seconds.size() == other.seconds.size()) return Add(other, factor);
  for (double& of_curve : seconds) of_curve += factor * other.mean;
  mean += factor * other.mean;
  noise_variance += factor * other.noise_variance;
  beyond += factor * other.beyond;
  sampling += factor * other.sampling;
}

GroupTimeTable::GroupTimeTable(const regression::CostModel& model)
    : model_(&model), rows_(streaming::kSizeBins), equal_rows_(streaming::kSizeBins) {}

GroupTimeTable::Row GroupTimeTable::MakeRow(double centre, double size_factor) const {
  const double size = centre * size_factor;
  Row row = {.is_filled = true,
             .size_factor = size_factor,
             .relative_variance = model_->RelativeVariance(size),
             .beyond = model_->Beyond(size)};
  const std::vector<regression::CostCorrection> corrections = model_->Corrections(size);
  row.curves.reserve(curve_count());
  for (std::size_t k = 0; k < curve_count(); ++k) {
    const regression::CostCurve& curve = model_->curves()[k];
    const auto& [factor, shift] = corrections[k];
    row.curves.push_back({factor * curve.a + shift,
                          factor * curve.l * size_factor / model_->bytes_scale(),
                          factor * curve.b * std::pow(size / model_->scale(), curve.c)});
  }
  return row;
}

void GroupTimeTable::Add(const BinLoad& load, double size_factor, GroupTimes& times) {
  if (load.count <= 0) return;
  Row& row = rows_[load.bin];
  if (!row.is_filled || std::abs(size_factor / row.size_factor - 1) > kChangeTolerance) {
    row = MakeRow(BinCentre(load.bin), size_factor);
  }
  AddTerms(row, load, times);
}

void GroupTimeTable::AddEqual(double size, double bytes, double count, GroupTimes& times) {
  if (!(count > 0) || !(size > 0)) return;
  const std::uint32_t bin = FeatureBin(size);
  const double x = std::log(std::max(1.0, size) / BinCentre(bin));
  Row& row = equal_rows_[bin];
  if (!row.is_filled) row = MakeRow(BinCentre(bin), 1);
  AddTerms(row, {bin, count, count * bytes, count * x, count * x * x}, times);
}

GroupTimeTable::Filled GroupTimeTable::filled() const {
  Filled filled;
  for (std::uint32_t bin = 0; bin < rows_.size(); ++bin) {
    if (rows_[bin].is_filled) filled.size_factors[bin] = rows_[bin].size_factor;
    if (equal_rows_[bin].is_filled) filled.equal_bins.push_back(bin);
  }
  return filled;
}

void GroupTimeTable::Fill(const Filled& filled) {
  for (const auto& [bin, size_factor] : filled.size_factors) {
    if (bin < rows_.size()) rows_[bin] = MakeRow(BinCentre(bin), size_factor);
  }
  for (const std::uint32_t bin : filled.equal_bins) {
    if (bin < equal_rows_.size()) equal_rows_[bin] = MakeRow(BinCentre(bin), 1);
  }
}

void GroupTimeTable::AddTerms(const Row& row, const BinLoad& load, GroupTimes& times) const {
  double mean = 0;
  for (std::size_t k = 0; k < row.curves.size(); ++k) {
    const Terms& terms = row.curves[k];
    const regression::CostCurve& curve = model_->curves()[k];
    const double powers =
        load.count + curve.c * load.log_sum + 0.5 * curve.c * curve.c * load.log_square_sum;
    const double seconds = std::max(
        0.0, terms.constant * load.count + terms.linear * load.bytes + terms.power * powers);
    times.seconds[k] += seconds;
    mean += curve.probability * seconds;
  }
  times.mean += mean;
  times.noise_variance += row.relative_variance * mean * mean / load.count;
  times.beyond += row.beyond * mean;
}

}  // namespace tidemark::durations
