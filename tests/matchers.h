// Matchers that the tests of several rooms use.
#pragma once

#include <cmath>
#include <type_traits>

#include "tests/test.h"

namespace tidemark {

// Matches a number, or an optional number that is set, within 1e-6.
MATCHER_P(Near, number, "") {
  if constexpr (std::is_arithmetic_v<std::decay_t<arg_type>>) {
    return std::abs(arg - number) < 1e-6;
  } else {
    return arg.has_value() && std::abs(*arg - number) < 1e-6;
  }
}

// Returns the only element of a container.
template <typename Container>
auto Only(const Container& elements) {
  EXPECT_THAT(elements, SizeIs(1));
  return elements.at(0);
}

}  // namespace tidemark
