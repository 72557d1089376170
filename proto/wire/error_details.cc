#include "proto/wire/error_details.h"

#include "proto/wire/message_time.h"
#include "proto/wire/valid_text.h"
#include "tidemark/field_error.h"
#include "tidemark/rpc/v1/error_details.pb.h"

namespace tidemark::wire {
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
  const bool is_of_field = status.GetPayload(kFieldPayload).has_value();
  rpc::v1::ErrorInfo info;
  info.set_domain("tidemark");
  info.set_reason(!limit.empty() ? "LIMIT_EXCEEDED"
                  : is_of_field  ? "INVALID_FIELD"
                                 : absl::StatusCodeToString(status.code()));
  if (!limit.empty()) (*info.mutable_metadata())["limit"] = ValidText(limit);
  rpc::v1::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(
      ValidText(std::string_view(status.message().data(), status.message().size())));
  AddDetail("ErrorInfo", info.SerializeAsString(), details);
  if (is_of_field) {
    const auto [path, description] = WrongFieldOf(status);
    rpc::v1::BadRequest request;
    auto& violation = *request.add_field_violations();
    violation.set_field(path);
    violation.set_description(description);
    AddDetail("BadRequest", request.SerializeAsString(), details);
  }
  if (retry_after > absl::ZeroDuration()) {
    rpc::v1::RetryInfo retry;
    EncodeDuration(retry_after, *retry.mutable_retry_delay());
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
    const auto delay = ParseElapsed(retry.retry_delay(), "retry_delay");
    if (delay.ok()) return *delay;
  }
  return absl::ZeroDuration();
}

}  // namespace tidemark::wire
