#include "hadoop/avro.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace tidemark::hadoop {

struct AvroInput {
  std::istream& stream;
  std::size_t left;  // bytes and parts that the value may still have
  absl::Status status = {};
};

namespace {

using nlohmann::json;

// Hadoop's schema has about 200 types, at most 8 deep.
constexpr std::size_t kDepthMax = 64;
constexpr std::size_t kTypesMax = 10'000;
// Strings are read in pieces of this size, so a wrong length does not allocate memory for bytes
// that do not exist.
constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

absl::Status NoSchema(const std::string& why) {
  return absl::InvalidArgumentError(fmt::format("not an Avro schema: {}", why));
}

std::string MemberText(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

absl::StatusOr<AvroSchema> AvroSchema::Parse(std::string_view text) {
  const json schema = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (schema.is_discarded()) return NoSchema("not JSON");
  AvroSchema parsed;
  const auto root = parsed.Add(schema, "", 0);
  if (!root.ok()) return root.status();
  parsed.root_ = *root;
  return parsed;
}

absl::StatusOr<std::size_t> AvroSchema::Add(const json& schema, const std::string& space,
                                            std::size_t depth) {
  static const auto* const kPrimitives = new std::map<std::string, Kind>{
      {"null", Kind::kNull},    {"boolean", Kind::kBoolean}, {"int", Kind::kInteger},
      {"long", Kind::kInteger}, {"float", Kind::kFloat},     {"double", Kind::kDouble},
      {"bytes", Kind::kBytes},  {"string", Kind::kBytes}};
  if (depth > kDepthMax || types_.size() >= kTypesMax) return NoSchema("too large");
  if (schema.is_string()) {
    const auto name = schema.get<std::string>();
    const auto primitive = kPrimitives->find(name);
    if (primitive != kPrimitives->end()) {
      types_.push_back({.kind = primitive->second, .name = name});
      return types_.size() - 1;
    }
    for (const std::string& full : {space + "." + name, name}) {
      if (const auto known = named_.find(full); known != named_.end()) return known->second;
    }
    return NoSchema("unknown type " + name);
  }
  const std::size_t place = types_.size();
  if (schema.is_array()) {
    types_.push_back({.kind = Kind::kUnion});
    for (const json& branch : schema) {
      const auto part = Add(branch, space, depth + 1);
      if (!part.ok()) return part;
      types_[place].parts.push_back(*part);
    }
    return place;
  }
  if (!schema.is_object() || !schema.contains("type")) return NoSchema("a type is missing");
  const std::string type = MemberText(schema, "type");
  if (type == "array" || type == "map") {
    types_.push_back({.kind = type == "map" ? Kind::kMap : Kind::kArray, .name = type});
    const char* const member = type == "map" ? "values" : "items";
    if (!schema.contains(member)) return NoSchema(fmt::format("{} without {}", type, member));
    const auto part = Add(schema[member], space, depth + 1);
    if (!part.ok()) return part;
    types_[place].parts.push_back(*part);
    return place;
  }
  if (type == "record" || type == "enum" || type == "fixed") {
    return AddNamed(schema, type, space, depth);
  }
  return Add(schema["type"], space, depth + 1);
}

absl::StatusOr<std::size_t> AvroSchema::AddNamed(const json& schema, const std::string& type,
                                                 const std::string& space, std::size_t depth) {
  const std::size_t place = types_.size();
  const std::string name = MemberText(schema, "name");
  const std::size_t dot = name.rfind('.');
  const std::string own_space = MemberText(schema, "namespace");
  std::string in_space = own_space.empty() ? space : own_space;
  if (dot != std::string::npos) in_space = name.substr(0, dot);
  const std::string full =
      dot != std::string::npos || in_space.empty() ? name : in_space + "." + name;
  types_.push_back({.kind = Kind::kRecord, .name = full});
  named_[full] = place;  // A record may contain itself.
  if (type == "fixed") {
    const auto size = schema.find("size");
    if (size == schema.end() || !size->is_number_unsigned()) return NoSchema("fixed without size");
    types_[place].kind = Kind::kFixed;
    types_[place].size = size->get<std::uint64_t>();
    return place;
  }
  const char* const member = type == "enum" ? "symbols" : "fields";
  const auto list = schema.find(member);
  if (list == schema.end() || !list->is_array()) {
    return NoSchema(fmt::format("{} without {}", type, member));
  }
  if (type == "enum") types_[place].kind = Kind::kEnum;
  for (const json& each : *list) {
    if (type == "enum") {
      if (!each.is_string()) return NoSchema("a symbol is not a string");
      types_[place].names.push_back(each.get<std::string>());
      continue;
    }
    if (!each.is_object() || !each.contains("type")) return NoSchema("a field without a type");
    const auto part = Add(each["type"], in_space, depth + 1);
    if (!part.ok()) return part;
    types_[place].names.push_back(MemberText(each, "name"));
    types_[place].parts.push_back(*part);
  }
  return place;
}

namespace {

// Counts `size` bytes, parts or characters of a name. Returns false, and sets the status, if too
// few are left.
bool Spend(std::size_t size, AvroInput& input) {
  if (input.status.ok() && size > input.left) {
    input.status = absl::ResourceExhaustedError("a value is too large");
  }
  if (!input.status.ok()) return false;
  input.left -= size;
  return true;
}

void Damage(const char* what, AvroInput& input) {
  if (input.status.ok()) input.status = absl::DataLossError(what);
}

constexpr const char* kEndsWithinValue = "the file ends within a value";

// Returns the next `count` bytes, or "" with an error.
std::string ReadBytes(std::uint64_t count, AvroInput& input) {
  std::string bytes;
  if (!Spend(count, input)) return bytes;
  while (bytes.size() < count) {
    const std::size_t before = bytes.size();
    const std::size_t piece = std::min<std::size_t>(kPieceBytes, count - before);
    bytes.resize(before + piece);
    input.stream.read(bytes.data() + before, static_cast<std::streamsize>(piece));
    if (static_cast<std::size_t>(input.stream.gcount()) == piece) continue;
    Damage(kEndsWithinValue, input);
    return "";
  }
  return bytes;
}

// Returns a number in Avro's variable-length zigzag form, or 0 with an error.
std::int64_t ReadInteger(AvroInput& input) {
  constexpr unsigned kBits = 64;
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < kBits; shift += 7) {
    if (!Spend(1, input)) return 0;
    const int byte = input.stream.get();
    if (byte == std::istream::traits_type::eof()) {
      Damage(kEndsWithinValue, input);
      return 0;
    }
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) {
      return static_cast<std::int64_t>((number >> 1) ^ (~(number & 1) + 1));
    }
  }
  Damage("a number is too long", input);
  return 0;
}

template <typename Number, typename Bits>
Number ReadReal(AvroInput& input) {
  Bits bits = 0;
  const std::string bytes = ReadBytes(sizeof(Bits), input);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bits |= static_cast<Bits>(static_cast<Bits>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  }
  return std::bit_cast<Number>(bits);
}

// Returns an index below `count`, or 0 with an error.
std::size_t ReadIndex(std::size_t count, AvroInput& input) {
  const std::int64_t index = ReadInteger(input);
  if (index >= 0 && static_cast<std::uint64_t>(index) < count) {
    return static_cast<std::size_t>(index);
  }
  Damage("a value contradicts the schema", input);
  return 0;
}

}  // namespace

json AvroSchema::Items(const Type& type, std::size_t depth, AvroInput& input) const {
  const bool is_map = type.kind == Kind::kMap;
  json items = is_map ? json::object() : json::array();
  for (;;) {
    std::int64_t count = ReadInteger(input);
    if (count < 0) {
      ReadInteger(input);  // size of the block in bytes
      count = count == INT64_MIN ? INT64_MAX : -count;
    }
    if (count == 0 || !input.status.ok()) return items;
    for (; count > 0 && input.status.ok(); --count) {
      if (is_map) {
        const std::int64_t length = ReadInteger(input);
        if (length < 0) Damage("a length is negative", input);
        std::string key = ReadBytes(static_cast<std::uint64_t>(length), input);
        items[std::move(key)] = Value(type.parts[0], depth + 1, input);
      } else {
        items.push_back(Value(type.parts[0], depth + 1, input));
      }
    }
  }
}

json AvroSchema::Value(std::size_t number, std::size_t depth, AvroInput& input) const {
  const Type& type = types_[number];
  if (depth > kDepthMax) Damage("values are nested too deeply", input);
  if (!Spend(1, input)) return nullptr;
  switch (type.kind) {
    case Kind::kNull:
      return nullptr;
    case Kind::kBoolean:
      return ReadBytes(1, input) == std::string(1, '\1');
    case Kind::kInteger:
      return ReadInteger(input);
    case Kind::kFloat:
      return ReadReal<float, std::uint32_t>(input);
    case Kind::kDouble:
      return ReadReal<double, std::uint64_t>(input);
    case Kind::kFixed:
      return ReadBytes(type.size, input);
    case Kind::kBytes: {
      const std::int64_t length = ReadInteger(input);
      if (length < 0) Damage("a length is negative", input);
      return ReadBytes(static_cast<std::uint64_t>(length), input);
    }
    case Kind::kEnum: {
      const std::size_t index = ReadIndex(type.names.size(), input);
      if (!input.status.ok() || !Spend(type.names[index].size(), input)) return nullptr;
      return type.names[index];
    }
    case Kind::kArray:
    case Kind::kMap:
      return Items(type, depth, input);
    case Kind::kUnion: {
      const std::size_t index = ReadIndex(type.parts.size(), input);
      if (!input.status.ok()) return nullptr;
      const std::size_t branch = type.parts[index];
      json value = Value(branch, depth + 1, input);
      const std::string& name = types_[branch].name;
      if (types_[branch].kind == Kind::kNull || !Spend(name.size(), input)) return value;
      json named = json::object();
      named[name] = std::move(value);
      return named;
    }
    case Kind::kRecord:
      break;
  }
  json record = json::object();
  for (std::size_t i = 0; i < type.parts.size() && Spend(type.names[i].size(), input); ++i) {
    record[type.names[i]] = Value(type.parts[i], depth + 1, input);
  }
  return record;
}

absl::StatusOr<json> AvroSchema::Read(std::istream& stream, std::size_t size_max) const {
  AvroInput input = {.stream = stream, .left = size_max};
  json value = Value(root_, 0, input);
  if (!input.status.ok()) return input.status;
  return value;
}

}  // namespace tidemark::hadoop
