// What a unit of a resource takes a stage that always had neighbours: from how the wait for it went
// with how many waited.
#pragma once

#include <optional>

namespace tidemark::blame {

// Sums over the time in which tasks of a stage waited for a resource that serves them meanwhile, on
// a host. At an instant they get w units a second, each after y seconds of waiting, in a crowd of
// c: one of them, counted whole, and what all others there wait, seconds a second. A wait that is
// not told beside units that are counts as none.
struct Crowding {
  double seconds = 0;
  double units = 0;            // sum of w
  double wait_seconds = 0;     // w y
  double waits_squared = 0;    // w y^2
  double crowds_squared = 0;   // w c^2
  double waits_by_crowds = 0;  // w y c

  // For so many seconds they wait `wait_rate` seconds a second and get `unit_rate` units a second.
  // REQUIRES: all are positive; crowd >= 1.
  void Pass(double for_seconds, double wait_rate, double unit_rate, double crowd);
  Crowding& operator+=(const Crowding& other);
};

// Where a resource serves those that wait evenly, y = s c; least squares give s = sum of w y c /
// sum of w c^2, the seconds that a unit takes alone. Empty unless that explains the waits so much
// better than a time that does not depend on the crowd that it is 20 times as likely, by normal
// errors: (seconds / 10 - 1) ln(squared errors of the constant / of the line) >= 2 ln 20. So
// nothing is said where the crowd never changed, or the wait did not go with it.
std::optional<double> ServiceSeconds(const Crowding& crowding);

}  // namespace tidemark::blame
