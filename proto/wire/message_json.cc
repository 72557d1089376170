#include "proto/wire/message_json.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <cmath>
#include <utility>

#include "absl/strings/escaping.h"
#include "text/ascii_json.h"

namespace tidemark::wire {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::TimeUtil;

// Index that denotes the value of a field that is not repeated.
constexpr int kSingular = -1;

class JsonWriter {
 public:
  std::string Take() { return std::move(json_); }

  void Write(const Message& message) {
    const google::protobuf::Descriptor* const type = message.GetDescriptor();
    if (type == google::protobuf::Duration::descriptor()) {
      return Quote(TimeUtil::ToString(static_cast<const google::protobuf::Duration&>(message)));
    }
    if (type == google::protobuf::Timestamp::descriptor()) {
      return Quote(TimeUtil::ToString(static_cast<const google::protobuf::Timestamp&>(message)));
    }
    const Reflection& reflection = *message.GetReflection();
    json_ += '{';
    bool is_first = true;
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor& field = *type->field(i);
      if (field.has_presence() && !reflection.HasField(message, &field)) continue;
      if (!std::exchange(is_first, false)) json_ += ',';
      json_ += '"';
      json_ += field.name();
      json_ += "\":";
      WriteField(message, field);
    }
    json_ += '}';
  }

 private:
  void WriteField(const Message& message, const FieldDescriptor& field) {
    if (!field.is_repeated()) return WriteValue(message, field, kSingular);
    json_ += field.is_map() ? '{' : '[';
    const Reflection& reflection = *message.GetReflection();
    const int count = reflection.FieldSize(message, &field);
    for (int i = 0; i < count; ++i) {
      if (i > 0) json_ += ',';
      if (field.is_map()) {
        WriteEntry(reflection.GetRepeatedMessage(message, &field, i));
      } else {
        WriteValue(message, field, i);
      }
    }
    json_ += field.is_map() ? '}' : ']';
  }

  // Writes an entry of a map. Quotes keys of all types.
  void WriteEntry(const Message& entry) {
    const FieldDescriptor& key = *entry.GetDescriptor()->map_key();
    const bool is_quoted = key.cpp_type() == FieldDescriptor::CPPTYPE_STRING ||
                           key.cpp_type() == FieldDescriptor::CPPTYPE_INT64 ||
                           key.cpp_type() == FieldDescriptor::CPPTYPE_UINT64;
    if (!is_quoted) json_ += '"';
    WriteValue(entry, key, kSingular);
    if (!is_quoted) json_ += '"';
    json_ += ':';
    WriteValue(entry, *entry.GetDescriptor()->map_value(), kSingular);
  }

  void WriteValue(const Message& message, const FieldDescriptor& field, int index) {
    const Reflection& from = *message.GetReflection();
    const bool is_single = index == kSingular;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return Append(is_single ? from.GetInt32(message, &field)
                                : from.GetRepeatedInt32(message, &field, index));
      case FieldDescriptor::CPPTYPE_UINT32:
        return Append(is_single ? from.GetUInt32(message, &field)
                                : from.GetRepeatedUInt32(message, &field, index));
      case FieldDescriptor::CPPTYPE_INT64:
        return AppendQuoted(is_single ? from.GetInt64(message, &field)
                                      : from.GetRepeatedInt64(message, &field, index));
      case FieldDescriptor::CPPTYPE_UINT64:
        return AppendQuoted(is_single ? from.GetUInt64(message, &field)
                                      : from.GetRepeatedUInt64(message, &field, index));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return AppendReal(is_single ? from.GetDouble(message, &field)
                                    : from.GetRepeatedDouble(message, &field, index));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return AppendReal(is_single ? from.GetFloat(message, &field)
                                    : from.GetRepeatedFloat(message, &field, index));
      case FieldDescriptor::CPPTYPE_BOOL:
        json_ += (is_single ? from.GetBool(message, &field)
                            : from.GetRepeatedBool(message, &field, index))
                     ? "true"
                     : "false";
        return;
      case FieldDescriptor::CPPTYPE_ENUM:
        return WriteEnum(field, is_single ? from.GetEnumValue(message, &field)
                                          : from.GetRepeatedEnumValue(message, &field, index));
      case FieldDescriptor::CPPTYPE_STRING: {
        std::string scratch;
        return WriteText(
            field, is_single ? from.GetStringReference(message, &field, &scratch)
                             : from.GetRepeatedStringReference(message, &field, index, &scratch));
      }
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Write(is_single ? from.GetMessage(message, &field)
                               : from.GetRepeatedMessage(message, &field, index));
    }
  }

  // Writes the name of an enum value, or its number if this version does not define it.
  void WriteEnum(const FieldDescriptor& field, int number) {
    const auto* const value = field.enum_type()->FindValueByNumber(number);
    if (value == nullptr) return Append(number);
    Quote(value->name());
  }

  void WriteText(const FieldDescriptor& field, const std::string& text) {
    Quote(field.type() == FieldDescriptor::TYPE_BYTES ? absl::Base64Escape(text) : text);
  }

  void Append(auto number) { fmt::format_to(std::back_inserter(json_), "{}", number); }
  void AppendQuoted(auto number) { fmt::format_to(std::back_inserter(json_), "\"{}\"", number); }
  // JSON has no literals for NaN and infinity.
  void AppendReal(auto number) {
    if (std::isnan(number)) return Quote("NaN");
    if (std::isinf(number)) return Quote(number > 0 ? "Infinity" : "-Infinity");
    Append(number);
  }
  void Quote(const std::string& text) { json_ += text::QuotedJson(text); }

  std::string json_;
};

}  // namespace

std::string MessageJson(const google::protobuf::Message& message) {
  JsonWriter writer;
  writer.Write(message);
  return writer.Take();
}

}  // namespace tidemark::wire
