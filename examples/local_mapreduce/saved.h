// Values in files, by cereal: what one process of a job leaves for another. Both ends are the same
// program on the same machine, so the form has no version.
#pragma once

#include <cereal/archives/binary.hpp>
#include <exception>
#include <sstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/file_io.h"
#include "fmt/format.h"

namespace tidemark::examples {

template <typename Value>
absl::Status Save(const std::string& path, const Value& value) {
  std::ostringstream bytes;
  cereal::BinaryOutputArchive archive(bytes);
  archive(value);
  return WriteWholeFile(path, bytes.str());
}

// DataLoss: the file is not all of a Value.
template <typename Value>
absl::StatusOr<Value> Load(const std::string& path) {
  absl::StatusOr<std::string> file = ReadWholeFile(path);
  if (!file.ok()) return file.status();
  std::istringstream bytes(*std::move(file));
  Value value;
  try {
    cereal::BinaryInputArchive archive(bytes);
    archive(value);
    if (bytes.peek() == std::istringstream::traits_type::eof()) return value;
  } catch (const std::exception&) {
    // Cut short, or with lengths that nothing can have.
  }
  return absl::DataLossError(fmt::format("cannot parse {}", path));
}

}  // namespace tidemark::examples
