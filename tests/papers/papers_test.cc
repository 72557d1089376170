#include "master/forecast/papers/papers.h"

#include "tests/test.h"

namespace tidemark::papers::papers_test {
namespace {

TEST(JobMethods, AreCreatedByTheirListedNames) {
  for (const std::string& name : JobMethods()) {
    const auto method = MakeJobMethod(name);
    ASSERT_NE(method, nullptr) << name;
    EXPECT_EQ(method->name(), name);
  }
  EXPECT_EQ(MakeJobMethod("tidemark"), nullptr);
}

}  // namespace
}  // namespace tidemark::papers::papers_test
