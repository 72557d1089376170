// Fuzzes untrusted plans. A plan is either rejected with the path of a field, or remains the same
// after encoding and parsing.
#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "proto/wire/plan_codec.h"
#include "tidemark/field_error.h"
#include "tidemark/plan.h"
#include "tidemark/v1/plan.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace wire = tidemark::wire;
  const google::protobuf::LogSilencer silent;  // protobuf logs text that is not UTF-8.
  tidemark::v1::Plan untrusted;
  if (!untrusted.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto plan = wire::ParsePlan(untrusted);
  if (!plan.ok()) {
    if (tidemark::WrongFieldOf(plan.status()).description.empty()) std::abort();
    return 0;
  }
  if (!tidemark::CheckPlan(*plan).ok()) std::abort();
  tidemark::v1::Plan message;
  wire::EncodePlan(*plan, message);
  const auto again = wire::ParsePlan(message);
  if (!again.ok() || !(*again == *plan)) std::abort();
  return 0;
}
