#include "web/accept_encoding.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::web {
namespace {

struct Case {
  const char* name;
  const char* header;
  bool accepts_gzip;
};

class AcceptEncoding : public testing::TestWithParam<Case> {};

TEST_P(AcceptEncoding, AllowsGzipOnlyIfTheHeaderNamesItWithAWeight) {
  EXPECT_EQ(AcceptsGzip(GetParam().header), GetParam().accepts_gzip) << GetParam().header;
}

INSTANTIATE_TEST_SUITE_P(
    Headers, AcceptEncoding,
    testing::Values(Case{"None", "", false}, Case{"Gzip", "gzip", true},
                    Case{"Browser", "gzip, deflate, br, zstd", true},
                    Case{"Identity", "identity", false}, Case{"Others", "deflate, br", false},
                    Case{"AnotherWord", "gzipped, notgzip, x-gzip2", false},
                    Case{"Refused", "gzip;q=0", false},
                    Case{"RefusedInLongForm", "br;q=1.0, GZIP ; Q = 0.000", false},
                    Case{"LowWeight", "identity;q=1, gzip;q=0.001", true},
                    Case{"OtherRefused", "br;q=0, gzip;q=1", true}, Case{"Any", "*", false},
                    Case{"AnyButGzip", "gzip;q=0, *;q=1", false},
                    Case{"EmptyParts", ",, gzip ,", true}, Case{"NoCoding", ";q=1", false}),
    [](const testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace tidemark::web
