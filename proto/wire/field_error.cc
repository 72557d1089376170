#include "tidemark/field_error.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "proto/wire/valid_text.h"

namespace tidemark {

absl::Status FieldError(std::string_view path, std::string_view description) {
  const std::string field = wire::ValidText(path);
  absl::Status status = absl::InvalidArgumentError(
      absl::StrCat(field, field.empty() ? "" : ": ", wire::ValidText(description)));
  status.SetPayload(kFieldPayload, absl::Cord(field));
  return status;
}

WrongField WrongFieldOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kFieldPayload);
  if (!payload) return {};
  std::string path(*payload);
  const std::string message(status.message());
  // the text after ": "
  std::string description = message.substr(path.empty() ? 0 : path.size() + 2);
  return {std::move(path), std::move(description)};
}

absl::Status FieldErrorWithin(std::string_view prefix, const absl::Status& status) {
  if (!status.GetPayload(kFieldPayload)) return status;
  const auto [path, description] = WrongFieldOf(status);
  return FieldError(std::string(prefix) + (path.empty() ? "" : ".") + path, description);
}

}  // namespace tidemark
