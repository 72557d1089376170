#include "bench/accuracy/printed.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace tidemark::bench {
namespace {

// The order of the columns.
constexpr std::array<std::string_view, 4> kIndicators = {"hadoop", "jobratio", "taskratio",
                                                         "nearestfit"};

struct PrintedRow {
  std::string_view job;
  std::array<double, 4> average;
  std::array<double, 4> largest;
};

// The comments name the data sets in the paper.
constexpr PrintedRow kRows[] = {
    {"word-count", {11.30, 13.02, 13.01, 12.44}, {19.02, 21.34, 21.34, 20.80}},    // wiki
    {"word-count-nc", {6.68, 0.48, 0.53, 0.95}, {16.27, 1.56, 1.56, 3.10}},        // wiki
    {"inverted-index", {6.85, 4.11, 5.88, 8.03}, {13.46, 12.86, 17.65, 18.59}},    // wiki 5K
    {"inverted-index", {7.94, 12.34, 20.16, 1.76}, {17.66, 21.05, 37.31, 5.51}},   // wiki 50K
    {"two-path", {10.91, 39.47, 36.30, 4.90}, {34.23, 87.51, 87.51, 12.34}},       // loc-Gowalla
    {"two-path", {3.04, 9.40, 7.39, 0.76}, {5.53, 16.02, 14.94, 1.73}},            // web-Google
    {"two-path", {14.40, 25.35, 13.86, 1.19}, {36.53, 48.29, 24.60, 2.95}},        // web-Stanford
    {"two-path", {23.12, 31.78, 18.24, 3.09}, {48.20, 58.29, 46.16, 7.15}},        // com-Youtube
    {"two-path", {27.51, 31.84, 22.29, 2.40}, {51.81, 92.29, 91.85, 5.75}},        // web-Berkstan
    {"two-path", {26.21, 26.60, 21.46, 1.07}, {46.30, 66.05, 60.51, 2.33}},        // as-Skitter
    {"triangle-count", {7.18, 0.47, 0.66, 9.24}, {11.74, 1.54, 2.07, 35.23}},      // loc-Gowalla
    {"triangle-count", {1.81, 1.10, 0.53, 0.22}, {4.50, 1.78, 0.79, 0.45}},        // web-Google
    {"triangle-count", {1.92, 0.57, 0.17, 0.10}, {3.98, 0.84, 0.28, 0.29}},        // web-Stanford
    {"triangle-count", {1.55, 0.96, 1.00, 0.90}, {4.34, 1.92, 2.15, 2.01}},        // com-Youtube
    {"triangle-count", {3.30, 0.85, 1.58, 1.44}, {8.77, 2.25, 4.49, 4.37}},        // web-Berkstan
    {"triangle-count", {4.43, 2.78, 2.68, 4.65}, {7.02, 6.19, 5.94, 7.97}},        // as-Skitter
    {"natural-join", {6.53, 3.91, 1.46, 1.40}, {16.41, 7.02, 2.81, 9.58}},         // linear 1.0
    {"natural-join", {25.85, 1.12, 1.14, 2.34}, {48.55, 1.81, 1.81, 5.02}},        // linear 1.5
    {"natural-join", {30.24, 3.55, 3.56, 0.76}, {58.91, 7.37, 7.37, 2.72}},        // linear 2.0
    {"natural-join", {31.81, 45.49, 45.62, 11.11}, {70.17, 95.96, 95.96, 22.77}},  // sl 2.0 1.0
    {"natural-join", {34.10, 48.14, 48.24, 1.68}, {72.84, 97.37, 97.37, 3.73}},    // sl 1.5
    {"matmult-opt", {5.18, 11.16, 10.81, 1.43}, {9.88, 21.59, 20.66, 7.41}},       // skewed
    {"matmult-opt", {7.01, 1.50, 1.36, 0.47}, {12.46, 3.10, 2.84, 0.87}},          // uniform
    {"matmult-rnd", {12.51, 11.94, 11.23, 0.71}, {22.56, 22.26, 21.16, 3.97}},     // skewed
    {"matmult-rnd", {5.75, 0.81, 0.83, 0.30}, {12.38, 1.64, 1.70, 0.49}},          // uniform
    {"matmult-unbal", {38.20, 9.09, 4.65, 0.14}, {77.06, 15.04, 12.05, 2.08}},     // skewed
    {"matmult-unbal", {14.92, 0.61, 0.72, 0.35}, {37.91, 1.31, 1.62, 1.07}}};      // uniform

}  // namespace

std::optional<PrintedError> PrintedErrorOf(const std::string& job, const std::string& indicator) {
  const auto* const column = std::ranges::find(kIndicators, indicator);
  if (column == kIndicators.end()) return std::nullopt;
  const auto i = static_cast<std::size_t>(column - kIndicators.begin());
  PrintedError sum;
  double rows = 0;
  for (const PrintedRow& row : kRows) {
    if (!job.empty() && row.job != job) continue;
    sum.average += row.average[i];
    sum.largest += row.largest[i];
    rows += 1;
  }
  if (rows == 0) return std::nullopt;
  return PrintedError{sum.average / rows, sum.largest / rows};
}

}  // namespace tidemark::bench
