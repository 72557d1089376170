// Settings as numbers of which the log of a time is taken to be a linear function (correction.h):
// by powers of two where amounts multiply, 0 and 1 where something is on or off. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "whatif/phases/settings.h"
#include "whatif/phases/task.h"

namespace tidemark::phases {

// Memory and files of a shuffle matter, where they do, over many doublings.
inline constexpr double kOfManyDoublings = 0.25;

// Of less than 1: 0.
double Log2(double value);

// Of a stage, followed by `others`.
std::vector<double> LevelsOf(const Settings& settings, double data_bytes, const Stage& stage,
                             const std::vector<double>& others);
// Of a whole run, likewise: as many.
std::vector<double> LevelsOfWhole(const Settings& settings, double data_bytes,
                                  const std::vector<double>& others);

// By level: those of one group are learnt together how much they matter.
std::vector<std::size_t> GroupsOf(std::size_t others);

}  // namespace tidemark::phases
