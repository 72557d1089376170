// A number that is known between bounds.
#pragma once

namespace tidemark::advise {

struct Range {
  double lower = 0;
  double expected = 0;
  double upper = 0;

  Range& operator+=(const Range& other) {
    lower += other.lower;
    expected += other.expected;
    upper += other.upper;
    return *this;
  }
  Range& operator-=(const Range& other) { return *this += other * -1; }
  // Of what is the same whatever the rest is, such as what reading takes.
  friend Range operator-(const Range& range, double certain) {
    return {range.lower - certain, range.expected - certain, range.upper - certain};
  }
  // Bounds keep their names whatever the sign of `factor`.
  friend Range operator*(const Range& range, double factor) {
    return {range.lower * factor, range.expected * factor, range.upper * factor};
  }
};

}  // namespace tidemark::advise
