#include "proto/wire/field_error.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "proto/wire/valid_text.h"
#include "tidemark/rpc/v1/error_details.pb.h"

namespace tidemark::next::wire {

absl::Status FieldError(std::string_view path, std::string_view description) {
  rpc::v1::BadRequest request;
  auto& violation = *request.add_field_violations();
  violation.set_field(tidemark::wire::ValidText(path));
  violation.set_description(tidemark::wire::ValidText(description));
  absl::Status status = absl::InvalidArgumentError(
      path.empty() ? violation.description()
                   : absl::StrCat(violation.field(), ": ", violation.description()));
  status.SetPayload(kBadRequestPayload, absl::Cord(request.SerializeAsString()));
  return status;
}

WrongField WrongFieldOf(const absl::Status& status) {
  rpc::v1::BadRequest request;
  const auto payload = status.GetPayload(kBadRequestPayload);
  if (!payload || !request.ParseFromString(std::string(*payload)) ||
      request.field_violations().empty()) {
    return {};
  }
  return {request.field_violations(0).field(), request.field_violations(0).description()};
}

absl::Status FieldErrorWithin(std::string_view prefix, const absl::Status& status) {
  if (!status.GetPayload(kBadRequestPayload)) return status;
  const auto [path, description] = WrongFieldOf(status);
  return FieldError(std::string(prefix) + (path.empty() ? "" : ".") + path, description);
}

}  // namespace tidemark::next::wire
