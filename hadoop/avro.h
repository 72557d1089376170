// Reads values in the binary form of Apache Avro, whose schema a file contains.
//
//   const auto schema = AvroSchema::Parse(line);
//   while (input.peek() != EOF) auto value = schema->Read(input, kBytesMax);
//
// A value has the form of Avro's JSON encoding: records are objects, and a value of a union is
// {"name of its type": value}, or null. Strings may contain invalid UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::hadoop {

struct AvroInput;

class AvroSchema {
 public:
  // Fails with InvalidArgument if the text is not a schema, or if it is nested too deeply.
  static absl::StatusOr<AvroSchema> Parse(std::string_view json);

  // Reads one value. Fails with DataLoss if the input ends within the value or contradicts the
  // schema. Fails with ResourceExhausted if the value has more than `size_max` bytes, parts
  // and characters of names. A name counts each time that it occurs in the value.
  absl::StatusOr<nlohmann::json> Read(std::istream& input, std::size_t size_max) const;

 private:
  enum class Kind : std::uint8_t {
    kNull,
    kBoolean,
    kInteger,
    kFloat,
    kDouble,
    kBytes,
    kFixed,
    kEnum,
    kArray,
    kMap,
    kUnion,
    kRecord
  };
  struct Type {
    Kind kind = Kind::kNull;
    std::string name;                // in unions
    std::vector<std::string> names;  // symbols or fields
    std::vector<std::size_t> parts;  // types of fields, branches or items, as indexes
    std::uint64_t size = 0;          // of a fixed type
  };

  absl::StatusOr<std::size_t> Add(const nlohmann::json& schema, const std::string& space,
                                  std::size_t depth);
  absl::StatusOr<std::size_t> AddNamed(const nlohmann::json& schema, const std::string& type,
                                       const std::string& space, std::size_t depth);
  nlohmann::json Value(std::size_t type, std::size_t depth, AvroInput& input) const;
  nlohmann::json Items(const Type& type, std::size_t depth, AvroInput& input) const;

  std::vector<Type> types_;
  std::map<std::string, std::size_t> named_;
  std::size_t root_ = 0;
};

}  // namespace tidemark::hadoop
