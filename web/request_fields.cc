#include "web/request_fields.h"

#include <fmt/format.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <charconv>
#include <string_view>

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

// What is wrong with the value; empty: nothing. A type that no request has in its query is refused.
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
          return "must be an instant, such as 2026-01-31T12:00:00Z";
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
  return "cannot be given in an address";
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
    // The name is a stranger's, and ends in JSON: it is not quoted at length.
    const std::string shown = name.substr(0, 60);
    if (field == nullptr) {
      return absl::InvalidArgumentError(
          fmt::format("{}: {} has no such field", shown, message.GetDescriptor()->name()));
    }
    if (const std::string wrong = Set(*field, value, *within); !wrong.empty()) {
      return absl::InvalidArgumentError(fmt::format("{}: {}", shown, wrong));
    }
  }
  return absl::OkStatus();
}

}  // namespace tidemark::web
