#include "hadoop/history_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace tidemark::hadoop {
namespace {

using nlohmann::json;

constexpr std::string_view kText = "Avro-Json";
constexpr std::string_view kBinary = "Avro-Binary";

// Returns the type and the fields of an event in Avro's form:
// {"type":"AM_STARTED","event":{"org.apache.hadoop...AMStarted":{...}}}. Returns nullopt for any
// other value.
std::optional<HistoryRecord> RecordIn(json value) {
  if (!value.is_object()) return std::nullopt;
  const auto type = value.find("type");
  const auto event = value.find("event");
  if (type == value.end() || !type->is_string() || event == value.end()) return std::nullopt;
  // Without this check, values of no bytes would never end.
  if (type->get_ref<const std::string&>().empty()) return std::nullopt;
  if (!event->is_object() || event->size() != 1) return std::nullopt;
  json& fields = event->begin().value();
  if (!fields.is_object()) return std::nullopt;
  return HistoryRecord{type->get<std::string>(), std::move(fields)};
}

std::string_view WithoutReturn(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

bool IsHistoryFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string first(kBinary.size() + 1, '\0');
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  first.resize(static_cast<std::size_t>(file.gcount()));
  const std::string_view line = WithoutReturn(std::string_view(first).substr(0, first.find('\n')));
  return line == kText || line == kBinary;
}

absl::StatusOr<std::unique_ptr<HistoryFile>> HistoryFile::Open(std::unique_ptr<std::istream> input,
                                                               IsStopped is_stopped) {
  auto file =
      std::unique_ptr<HistoryFile>(new HistoryFile(std::move(input), std::move(is_stopped)));
  std::string line;
  file->ReadLine(line);
  if (absl::Status read = file->CheckInput(); !read.ok()) return read;
  const std::string_view form = WithoutReturn(line);
  if (form != kText && form != kBinary) {
    return absl::InvalidArgumentError(
        "not a history file of a MapReduce job: its first line is neither Avro-Json nor "
        "Avro-Binary");
  }
  const bool is_binary = form == kBinary;
  file->ReadLine(line);
  if (absl::Status read = file->CheckInput(); !read.ok()) return read;
  if (!is_binary) return file;
  auto schema = AvroSchema::Parse(line);
  if (!schema.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("line 2: {}", std::string(schema.status().message())));
  }
  file->schema_ = *std::move(schema);
  return file;
}

absl::Status HistoryFile::CheckInput() const {
  if (is_stopped_ && is_stopped_()) return absl::CancelledError("reading was stopped");
  if (input_->bad()) return absl::UnavailableError("the file cannot be read to its end");
  return absl::OkStatus();
}

// Reads a line without its end. A line of more than kRecordBytesMax bytes is skipped, unless
// reading is stopped.
HistoryFile::Line HistoryFile::ReadLine(std::string& line) {
  line.clear();
  constexpr int kEnd = std::istream::traits_type::eof();
  bool is_too_long = false;
  for (int byte = input_->get();; byte = input_->get()) {
    if (byte == kEnd && line.empty() && !is_too_long) return Line::kNone;
    if (byte == kEnd || byte == '\n') {
      ++line_;
      if (is_too_long) return Line::kTooLong;
      return byte == kEnd ? Line::kLast : Line::kWhole;
    }
    if (line.size() < kRecordBytesMax) {
      line.push_back(static_cast<char>(byte));
    } else {
      is_too_long = true;
      if (is_stopped_ && is_stopped_()) return Line::kTooLong;
    }
  }
}

void HistoryFile::CountBroken(bool is_last) {
  if (is_last) {
    is_cut_ = true;
    return;
  }
  if (broken_lines_++ == 0) first_broken_line_ = line_;
}

absl::StatusOr<std::optional<HistoryRecord>> HistoryFile::NextLine() {
  std::string line;
  for (;;) {
    const Line read = ReadLine(line);
    if (read == Line::kNone || !CheckInput().ok()) return std::nullopt;
    if (read != Line::kTooLong) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      auto record = RecordIn(json::parse(line, nullptr, /*allow_exceptions=*/false));
      if (record) return record;
    }
    CountBroken(read == Line::kLast);
  }
}

absl::StatusOr<std::optional<HistoryRecord>> HistoryFile::Next() {
  auto record = schema_ ? NextValue() : NextLine();
  if (absl::Status status = CheckInput(); !status.ok()) return status;
  return record;
}

absl::StatusOr<std::optional<HistoryRecord>> HistoryFile::NextValue() {
  if (input_->peek() == std::istream::traits_type::eof()) return std::nullopt;
  auto value = schema_->Read(*input_, kRecordBytesMax);
  ++values_;
  std::optional<HistoryRecord> record;
  if (value.ok()) record = RecordIn(*std::move(value));
  if (record) return record;
  if (input_->eof()) {
    is_cut_ = true;
    return std::nullopt;
  }
  return absl::DataLossError(
      fmt::format("event {}: {}; the remaining events are not read", values_,
                  value.ok() ? "it is not an event" : std::string(value.status().message())));
}

}  // namespace tidemark::hadoop
