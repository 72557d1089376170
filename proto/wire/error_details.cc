#include "proto/wire/error_details.h"

#include "proto/wire/field_error.h"
#include "proto/wire/message_time.h"
#include "proto/wire/valid_text.h"
#include "tidemark/rpc/v1/error_details.pb.h"

namespace tidemark::next::wire {
namespace {

constexpr char kTypePrefix[] = "type.googleapis.com/google.rpc.";

void AddDetail(const std::string& type, const std::string& bytes, rpc::v1::Status& details) {
  google::protobuf::Any& any = *details.add_details();
  any.set_type_url(kTypePrefix + type);
  any.set_value(bytes);
}

}  // namespace

std::string EncodeErrorDetails(const absl::Status& status, const std::string& limit,
                               absl::Duration retry_after) {
  const auto bad_request = status.GetPayload(kBadRequestPayload);
  rpc::v1::ErrorInfo info;
  info.set_domain("tidemark");
  info.set_reason(!limit.empty() ? "LIMIT_EXCEEDED"
                  : bad_request  ? "INVALID_FIELD"
                                 : absl::StatusCodeToString(status.code()));
  if (!limit.empty()) (*info.mutable_metadata())["limit"] = tidemark::wire::ValidText(limit);
  rpc::v1::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(tidemark::wire::ValidText(
      std::string_view(status.message().data(), status.message().size())));
  AddDetail("ErrorInfo", info.SerializeAsString(), details);
  if (bad_request) AddDetail("BadRequest", std::string(*bad_request), details);
  if (retry_after > absl::ZeroDuration()) {
    rpc::v1::RetryInfo retry;
    tidemark::wire::EncodeDuration(retry_after, *retry.mutable_retry_delay());
    AddDetail("RetryInfo", retry.SerializeAsString(), details);
  }
  return details.SerializeAsString();
}

absl::Duration RetryAfterOf(const absl::Status& status) {
  const auto bytes = status.GetPayload(kErrorDetailsPayload);
  rpc::v1::Status details;
  if (!bytes || !details.ParseFromString(std::string(*bytes))) return absl::ZeroDuration();
  for (const google::protobuf::Any& any : details.details()) {
    rpc::v1::RetryInfo retry;
    if (any.type_url() != kTypePrefix + std::string("RetryInfo")) continue;
    if (!retry.ParseFromString(any.value())) continue;
    const auto delay = tidemark::wire::ParseElapsed(retry.retry_delay(), "retry_delay");
    if (delay.ok()) return *delay;
  }
  return absl::ZeroDuration();
}

}  // namespace tidemark::next::wire
