#include "master/forecast/placement/root.h"

#include "tests/test.h"

namespace tidemark::placement::root_test {
namespace {

struct Found {
  double x = 0;
  int calls = 0;
};

template <class Function>
Found Find(const Function& f, double low, double high, double tolerance = 1e-12, int rounds = 60) {
  Found found;
  const auto counted = [&](double x) {
    ++found.calls;
    return f(x);
  };
  found.x = RootOf(counted, low, high, tolerance, rounds);
  return found;
}

// If the value of the kept bound counted half in each round, the search would take about as many
// calls as bisection: 46 to 50.
TEST(RootOf, NeedsFewCalls) {
  const Found hyperbola = Find([](double x) { return 1 / x - 3; }, 0.01, 1);
  EXPECT_NEAR(hyperbola.x, 1.0 / 3, 1e-12);
  EXPECT_LE(hyperbola.calls, 20);
  const Found growth = Find([](double x) { return std::exp(8 * x) - 20; }, 0, 1);
  EXPECT_NEAR(growth.x, std::log(20) / 8, 1e-12);
  EXPECT_LE(growth.calls, 20);
}

TEST(RootOf, FindsTheCornerOfAPiecewiseLinearFunction) {
  const Found found =
      Find([](double x) { return std::min(5 * x, 1.0) + std::min(x, 0.9) - 1.2; }, 0, 1);
  EXPECT_NEAR(found.x, 0.2, 1e-12);
}

TEST(RootOf, ReturnsTheBetterBoundWithoutASolution) {
  EXPECT_EQ(Find([](double x) { return x + 1; }, 0, 4).x, 0);
  EXPECT_EQ(Find([](double x) { return x - 5; }, 0, 4).x, 4);
  EXPECT_EQ(Find([](double) { return std::nan(""); }, 0, 4).calls, 2);
}

TEST(RootOf, ABoundWithinTheToleranceIsASolution) {
  const Found found = Find([](double x) { return x - 1e-4; }, 0, 4, 1e-3);
  EXPECT_EQ(found.x, 0);
  EXPECT_EQ(found.calls, 2);
}

TEST(RootOf, ReturnsTheBestOfLimitedCalls) {
  const auto step = [](double x) { return x < 0.7 ? -1.0 : 0.1; };
  const Found found = Find(step, 0, 1, 1e-12, 5);
  EXPECT_EQ(found.calls, 7);
  EXPECT_GE(found.x, 0.7);
}

}  // namespace
}  // namespace tidemark::placement::root_test
