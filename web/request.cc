#include "web/request.h"

#include <fmt/format.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <charconv>

#include "proto/wire/valid_text.h"
#include "transport/listen_address.h"

namespace tidemark::web {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

template <typename Number>
bool ParseNumber(const std::string& text, Number& number) {
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc() && end == last && !text.empty();
}

// Sets a field. Returns the error in the value, or an empty string. Types that no query contains
// are rejected.
std::string Set(const FieldDescriptor& field, const std::string& value, Message& message) {
  const google::protobuf::Reflection& fields = *message.GetReflection();
  const bool is_list = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      is_list ? fields.AddString(&message, &field, value)
              : fields.SetString(&message, &field, value);
      return "";
    case FieldDescriptor::CPPTYPE_UINT32: {
      std::uint32_t number = 0;
      if (is_list || !ParseNumber(value, number)) return "must be a whole number";
      fields.SetUInt32(&message, &field, number);
      return "";
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      if (is_list || (value != "true" && value != "false")) return "must be true or false";
      fields.SetBool(&message, &field, value == "true");
      return "";
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* const known = field.enum_type()->FindValueByName(value);
      if (known == nullptr) return fmt::format("must be a value of {}", field.enum_type()->name());
      is_list ? fields.AddEnum(&message, &field, known) : fields.SetEnum(&message, &field, known);
      return "";
    }
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      google::protobuf::Duration duration;
      google::protobuf::Timestamp instant;
      if (is_list) break;
      if (field.message_type() == google::protobuf::Timestamp::descriptor()) {
        if (!google::protobuf::util::TimeUtil::FromString(value, &instant)) {
          return "must be a timestamp, such as 2026-01-31T12:00:00Z";
        }
        fields.MutableMessage(&message, &field)->CopyFrom(instant);
        return "";
      }
      if (field.message_type() != google::protobuf::Duration::descriptor()) break;
      if (!google::protobuf::util::TimeUtil::FromString(value, &duration)) {
        return "must be seconds, such as 0.5s";
      }
      fields.MutableMessage(&message, &field)->CopyFrom(duration);
      return "";
    }
    default:
      break;
  }
  return "cannot be given in a query";
}

bool IsLocalName(const std::string& host) {
  if (host == "localhost" || host == "[::1]" || transport::IsLocalAddress(host)) return true;
  return transport::IsLocalAddress(host + ":80");  // the port is optional
}

}  // namespace

absl::Status SetFields(const std::vector<std::pair<std::string, std::string>>& untrusted,
                       Message& message) {
  for (const auto& [name, value] : untrusted) {
    Message* within = &message;
    std::string_view rest = name;
    const FieldDescriptor* field = nullptr;
    for (;;) {
      const std::size_t dot = rest.find('.');
      field = within->GetDescriptor()->FindFieldByName(std::string(rest.substr(0, dot)));
      if (field == nullptr || dot == std::string_view::npos) break;
      const bool is_message =
          field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_repeated();
      if (!is_message) {
        field = nullptr;
        break;
      }
      within = within->GetReflection()->MutableMessage(within, field);
      rest.remove_prefix(dot + 1);
    }
    // The name is untrusted and part of a JSON message, so it is quoted in part.
    const std::string shown = name.substr(0, 60);
    if (field == nullptr) {
      return absl::InvalidArgumentError(
          fmt::format("{}: {} has no such field", shown, message.GetDescriptor()->name()));
    }
    if (const std::string fault = Set(*field, value, *within); !fault.empty()) {
      return absl::InvalidArgumentError(fmt::format("{}: {}", shown, fault));
    }
  }
  return absl::OkStatus();
}

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    unsigned value = 0;
    const char* const begin = text.data() + i + 1;
    const auto [end, error] = std::from_chars(begin, begin + 2, value, 16);
    if (error != std::errc() || end != begin + 2) return std::nullopt;
    decoded += static_cast<char>(value);
    i += 2;
  }
  for (const char byte : decoded) {
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) return std::nullopt;
  }
  if (wire::ValidText(decoded) != decoded) return std::nullopt;
  return decoded;
}

std::optional<std::vector<std::string>> PathParts(std::string_view path) {
  std::vector<std::string> parts;
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    std::optional<std::string> decoded = PercentDecoded(part);
    if (part.empty() || !decoded) return std::nullopt;
    parts.push_back(*std::move(decoded));
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return parts;
}

absl::Status CheckOrigin(const HttpRequest& request, bool has_tokens, bool is_local) {
  if (is_local && !has_tokens && !IsLocalName(request.host)) {
    return absl::PermissionDeniedError(
        "without tokens the page serves this host only; open it as localhost or 127.0.0.1");
  }
  const absl::Status other_site =
      absl::PermissionDeniedError("the request comes from a page of another site");
  if (request.fetch_site == "cross-site" || request.fetch_site == "same-site") {
    return other_site;
  }
  if (!request.origin.empty()) {
    const std::size_t scheme_end = request.origin.find("://");
    if (scheme_end == std::string::npos ||
        std::string_view(request.origin).substr(scheme_end + 3) != request.host) {
      return other_site;
    }
  }
  const bool is_safe = request.method == "GET" || request.method == "HEAD";
  if (!is_safe && request.origin.empty() && request.authorization.empty() &&
      !request.session.empty()) {
    return absl::PermissionDeniedError(
        "the request has a cookie and no Origin; send the token as Authorization: Bearer instead");
  }
  return absl::OkStatus();
}

}  // namespace tidemark::web
