// Functions that store values in files with cereal, for other processes of a job. All processes run
// the same program on the same machine, so the format has no version.
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

// Loads a value. Fails with DataLoss if the file does not contain a complete Value.
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
    // The file is truncated or contains impossible lengths.
  }
  return absl::DataLossError(fmt::format("cannot parse {}", path));
}

}  // namespace tidemark::examples
