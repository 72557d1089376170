// Encodes and parses messages with one list of fields for each struct.
//
// A struct that corresponds to a message maps its members to fields once:
//
//   template <class Io, ConstOrNot<Range> V>
//   void Fields(Io& io, V& range) {
//     io("median", range.median);
//     io("lower", range.lower);
//     io("upper", range.upper);
//   }
//
// Encode() and Parse() below run this list with an `Io` that writes or reads the message through
// protobuf's reflection. CoversAllFields() finds missing fields, for tests.
//
//   member                                   field
//   bool, std::uint32_t, std::uint64_t       the same; an unset optional field keeps the member
//   double                                   finite; io.Fraction() 0..1, io.Amount() 0 or more
//   std::string                              string, made UTF-8 when it is written
//   enum class                               enum of the same numbers; unknown ones become 0;
//                                            io.FromOne() enum of numbers one greater
//   absl::Duration, absl::Time               google.protobuf.Duration (not negative), Timestamp
//   a struct with Fields()                   its message
//   std::optional of these                   unset if empty
//   std::vector of these                     repeated; of double, repeated float
//
// A list must call `io` in the same order for all values. Takes O(size of the message) time.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/wire/message_time.h"
#include "proto/wire/valid_text.h"
#include "tidemark/field_error.h"

namespace tidemark::wire {

template <typename V, typename T>
concept ConstOrNot = std::same_as<std::remove_const_t<V>, T>;

// A type for which Invalid() is overloaded. Invalid() returns the fault of a struct as a whole, or
// nullptr. Types without such faults need no overload.
template <typename V>
concept HasInvalid = requires(const V& value) {
  { Invalid(value) } -> std::convertible_to<const char*>;
};

using FieldList = std::vector<const google::protobuf::FieldDescriptor*>;

// Finds the field descriptors of a list by their names.
class FieldCollector {
 public:
  explicit FieldCollector(const google::protobuf::Descriptor& message) : message_(message) {}
  template <typename T>
  void operator()(const char* name, const T&) {
    fields_.push_back(message_.FindFieldByName(name));
  }
  void Fraction(const char* name, const auto& value) { (*this)(name, value); }
  void Amount(const char* name, const auto& value) { (*this)(name, value); }
  void NonZero(const char* name, const auto& value) { (*this)(name, value); }
  void FromOne(const char* name, const auto& value) { (*this)(name, value); }
  const FieldList& fields() const { return fields_; }

 private:
  const google::protobuf::Descriptor& message_;
  FieldList fields_;
};

// Finds the field descriptors of each struct only once.
template <typename V>
const FieldList& FieldsOf(const google::protobuf::Descriptor& message) {
  static const FieldList* const kFields = [&] {
    FieldCollector collector(message);
    V value;
    Fields(collector, value);
    return new FieldList(collector.fields());
  }();
  return *kFields;
}

// Returns true if the list of V names every field of its message exactly once, and no other
// fields.
template <typename V>
bool CoversAllFields(const google::protobuf::Descriptor& message) {
  std::vector<bool> is_named(static_cast<std::size_t>(message.field_count()), false);
  for (const auto* field : FieldsOf<V>(message)) {
    if (field == nullptr || is_named[static_cast<std::size_t>(field->index())]) return false;
    is_named[static_cast<std::size_t>(field->index())] = true;
  }
  for (const bool named : is_named) {
    if (!named) return false;
  }
  return true;
}

template <typename V>
void EncodeFields(const V& value, google::protobuf::Message& message);

// Writes the members of one struct.
class FieldWriter {
 public:
  FieldWriter(google::protobuf::Message& message, const FieldList& fields)
      : message_(message), reflection_(*message.GetReflection()), fields_(fields) {}

  template <typename T>
  void operator()(const char*, const T& value) {
    Put(*fields_[next_++], value);
  }
  void Fraction(const char* name, const auto& value) { (*this)(name, value); }
  void Amount(const char* name, const auto& value) { (*this)(name, value); }
  // Writes an enum whose 0 means unspecified in messages only.
  template <typename T>
  void FromOne(const char*, const T& value) {
    reflection_.SetEnumValue(&message_, fields_[next_++], static_cast<int>(value) + 1);
  }
  template <typename T>
  void FromOne(const char* name, const std::optional<T>& value) {
    value ? FromOne(name, *value) : void(++next_);
  }
  // Writes the value unless it is zero.
  void NonZero(const char*, const auto& value) {
    const auto& field = *fields_[next_++];
    if (value != 0) Put(field, value);
  }

 private:
  using Field = google::protobuf::FieldDescriptor;

  void Put(const Field& field, const std::string& value) {
    if (!value.empty()) {
      reflection_.SetString(&message_, &field, ValidText(value));
    }
  }
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void Put(const Field& field, T value) {
    if (value == T{} && !field.has_presence()) return;  // This is the default of the field.
    if constexpr (std::is_enum_v<T>) {
      reflection_.SetEnumValue(&message_, &field, static_cast<int>(value));
    } else if constexpr (std::same_as<T, bool>) {
      reflection_.SetBool(&message_, &field, value);
    } else if constexpr (std::same_as<T, std::uint32_t>) {
      reflection_.SetUInt32(&message_, &field, value);
    } else if constexpr (std::same_as<T, std::uint64_t>) {
      reflection_.SetUInt64(&message_, &field, value);
    } else {
      static_assert(std::same_as<T, double>);
      reflection_.SetDouble(&message_, &field, value);
    }
  }
  // A member that is not optional is always present in the message, so readers can distinguish zero
  // from unknown.
  void Put(const Field& field, absl::Duration value) {
    EncodeTo(value, *reflection_.MutableMessage(&message_, &field));
  }
  void Put(const Field& field, absl::Time value) {
    EncodeTo(value, *reflection_.MutableMessage(&message_, &field));
  }
  template <typename T>
  void Put(const Field& field, const std::optional<T>& value) {
    if (!value) return;
    // The field is present even if all members of the struct are zero.
    if constexpr (std::is_class_v<T>) {
      EncodeTo(*value, *reflection_.MutableMessage(&message_, &field));
    } else {
      Put(field, *value);
    }
  }
  template <typename T>
  void Put(const Field& field, const std::vector<T>& values) {
    for (const T& value : values) {
      if constexpr (std::same_as<T, std::string>) {
        reflection_.AddString(&message_, &field, ValidText(value));
      } else if constexpr (std::same_as<T, std::uint32_t>) {
        reflection_.AddUInt32(&message_, &field, value);
      } else if constexpr (std::same_as<T, double>) {
        reflection_.AddFloat(&message_, &field, static_cast<float>(value));
      } else if constexpr (std::is_enum_v<T>) {
        reflection_.AddEnumValue(&message_, &field, static_cast<int>(value));
      } else {
        EncodeTo(value, *reflection_.AddMessage(&message_, &field));
      }
    }
  }
  template <typename T>
  requires std::is_class_v<T>
  void Put(const Field& field, const T& value) {
    EncodeTo(value, *reflection_.MutableMessage(&message_, &field));
  }

  static void EncodeTo(absl::Duration value, google::protobuf::Message& message) {
    EncodeDuration(value, static_cast<google::protobuf::Duration&>(message));
  }
  static void EncodeTo(absl::Time value, google::protobuf::Message& message) {
    EncodeTime(value, static_cast<google::protobuf::Timestamp&>(message));
  }
  template <typename T>
  static void EncodeTo(const T& value, google::protobuf::Message& message) {
    EncodeFields(value, message);
  }

  google::protobuf::Message& message_;
  const google::protobuf::Reflection& reflection_;
  const FieldList& fields_;
  std::size_t next_ = 0;
};

template <typename V>
void EncodeFields(const V& value, google::protobuf::Message& message) {
  FieldWriter writer(message, FieldsOf<V>(*message.GetDescriptor()));
  Fields(writer, value);
}

// The position of a reader and the first fault found.
struct ReaderState {
  // True for untrusted messages, in which unknown enum numbers are errors.
  bool is_strict = false;
  std::vector<std::pair<const google::protobuf::FieldDescriptor*, int>> path;  // -1 if not repeated
  absl::Status status;

  std::string Path() const;
  void Fail(const std::string& description) {
    if (status.ok()) status = FieldError(Path(), description);
  }
};

// Reads the members of one struct. Members with invalid values keep their defaults.
class FieldReader {
 public:
  FieldReader(const google::protobuf::Message& message, const FieldList& fields, ReaderState& state)
      : message_(message), reflection_(*message.GetReflection()), fields_(fields), state_(state) {}

  template <typename T>
  void operator()(const char*, T& value) {
    Read(value, [](double) { return ""; });
  }
  void Fraction(const char*, auto& value) {
    Read(value, [](double read) { return read >= 0 && read <= 1 ? "" : "from 0 to 1"; });
  }
  void Amount(const char*, auto& value) {
    Read(value, [](double read) { return read >= 0 ? "" : "0 or more"; });
  }
  // Keeps the default of an enum that is unspecified or unknown.
  template <typename T>
  void FromOne(const char*, T& value) {
    const Field& field = *fields_[next_++];
    const int number = reflection_.GetEnumValue(message_, &field);
    if (number > 0 && field.enum_type()->FindValueByNumber(number) != nullptr) {
      Set(number - 1, value);
    }
  }
  // Treats an unset field and a field with the value zero as unknown.
  void NonZero(const char*, auto& value) {
    Read(value, [](double read) { return read > 0 ? "" : "positive (or unset if unknown)"; });
  }

 private:
  using Field = google::protobuf::FieldDescriptor;

  template <typename T>
  static void Set(int number, T& value) {
    value = static_cast<T>(number);
  }
  template <typename T>
  static void Set(int number, std::optional<T>& value) {
    value = static_cast<T>(number);
  }

  template <typename T, typename Check>
  void Read(T& value, Check check) {
    const Field& field = *fields_[next_++];
    if (!field.is_repeated() && field.has_presence() && !reflection_.HasField(message_, &field)) {
      return;
    }
    state_.path.emplace_back(&field, -1);
    Get(field, value, check);
    state_.path.pop_back();
  }

  template <typename T, typename Check>
  void Get(const Field& field, std::optional<T>& value, Check check) {
    Get(field, value.emplace(), check);
  }
  template <typename T, typename Check>
  void Get(const Field& field, std::vector<T>& values, Check) {
    const int count = reflection_.FieldSize(message_, &field);
    values.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count && state_.status.ok(); ++i) {
      state_.path.back().second = i;
      if constexpr (std::same_as<T, std::string>) {
        values.push_back(reflection_.GetRepeatedString(message_, &field, i));
      } else if constexpr (std::same_as<T, std::uint32_t>) {
        values.push_back(reflection_.GetRepeatedUInt32(message_, &field, i));
      } else if constexpr (std::same_as<T, double>) {
        values.push_back(reflection_.GetRepeatedFloat(message_, &field, i));
      } else if constexpr (std::is_enum_v<T>) {
        values.push_back(Known<T>(field, reflection_.GetRepeatedEnumValue(message_, &field, i)));
      } else {
        ParseFrom(reflection_.GetRepeatedMessage(message_, &field, i), values.emplace_back());
      }
    }
  }
  template <typename T, typename Check>
  void Get(const Field& field, T& value, Check check) {
    if constexpr (std::same_as<T, std::string>) {
      value = reflection_.GetString(message_, &field);
    } else if constexpr (std::same_as<T, bool>) {
      value = reflection_.GetBool(message_, &field);
    } else if constexpr (std::same_as<T, std::uint32_t>) {
      value = reflection_.GetUInt32(message_, &field);
      Finite(value, check);
    } else if constexpr (std::same_as<T, std::uint64_t>) {
      value = reflection_.GetUInt64(message_, &field);
    } else if constexpr (std::same_as<T, double>) {
      value = Finite(reflection_.GetDouble(message_, &field), check);
    } else if constexpr (std::is_enum_v<T>) {
      value = Known<T>(field, reflection_.GetEnumValue(message_, &field));
    } else {
      ParseFrom(reflection_.GetMessage(message_, &field), value);
    }
  }

  template <typename Check>
  double Finite(double value, Check check) {
    const char* const wanted = std::isfinite(value) ? check(value) : "a finite number";
    if (*wanted == '\0') return value;
    FailNumber(wanted, value);
    return 0;
  }
  template <typename T>
  T Known(const Field& field, int number) {
    if (field.enum_type()->FindValueByNumber(number) != nullptr) return static_cast<T>(number);
    if (state_.is_strict) FailNumber("a value that this version supports", number);
    return T{};
  }
  void FailNumber(const char* wanted, double value);

  void ParseFrom(const google::protobuf::Message& message, absl::Duration& value);
  void ParseFrom(const google::protobuf::Message& message, absl::Time& value);
  template <typename T>
  void ParseFrom(const google::protobuf::Message& message, T& value) {
    FieldReader reader(message, FieldsOf<T>(*message.GetDescriptor()), state_);
    Fields(reader, value);
    if constexpr (HasInvalid<T>) {
      if (const char* what = Invalid(value); what != nullptr) state_.Fail(what);
    }
  }

  const google::protobuf::Message& message_;
  const google::protobuf::Reflection& reflection_;
  const FieldList& fields_;
  ReaderState& state_;
  std::size_t next_ = 0;
};

// Encodes the value. Replaces the contents of `message`.
template <typename V>
void Encode(const V& value, google::protobuf::Message& message) {
  message.Clear();
  EncodeFields(value, message);
}

// Parses a message. Fails with InvalidArgument (FieldError), which names the first wrong field.
template <typename V>
absl::StatusOr<V> Parse(const google::protobuf::Message& message, bool is_strict) {
  ReaderState state{.is_strict = is_strict};
  V value;
  FieldReader reader(message, FieldsOf<V>(*message.GetDescriptor()), state);
  Fields(reader, value);
  if (!state.status.ok()) return state.status;
  return value;
}

}  // namespace tidemark::wire
