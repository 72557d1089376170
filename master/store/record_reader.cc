#include "master/store/record_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

namespace tidemark::store {
namespace {

constexpr std::size_t kReadBufferBytes = 256 << 10;
constexpr std::size_t kSearchBytes = 1 << 20;

// Returns the position of the first nonzero byte, or the size.
std::size_t EndOfZeros(absl::string_view bytes) {
  const std::size_t end = bytes.find_first_not_of('\0');
  return end == absl::string_view::npos ? bytes.size() : end;
}

// Returns true if a frame may begin here, judging by its length, which comes first. Few positions
// pass, so few checksums are computed. Zeros never pass, since no record is empty.
bool MayBeginFrame(const char* bytes) {
  const auto byte = [&](int i) { return std::uint32_t{static_cast<unsigned char>(bytes[i])}; };
  const std::uint32_t length = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
  return length > 0 && length <= kRecordBytesMax;
}

// Returns true if the magic has version 1 or 2, or version 4 if that version is no longer written.
bool IsOfEarlierLayout(absl::string_view magic, const LogKind& kind) {
  const std::size_t letters = kMagicBytes - 1;
  return magic.size() == kMagicBytes && magic.substr(0, letters) == kind.magic.substr(0, letters) &&
         magic[letters] != kind.magic[letters] &&
         (magic[letters] == '1' || magic[letters] == '2' || magic[letters] == '4');
}

// Size of a tick, which is the shortest record.
constexpr std::uint64_t kTickBytesMin = 12;

}  // namespace

std::optional<LogKey> KeyOf(absl::string_view start, const LogKind& kind) {
  if (start.size() < kStartBytes || start.substr(0, kMagicBytes) != kind.magic) return std::nullopt;
  const std::array<LogKey, 2> keys = ReadKeys(start.data());
  if (keys[0] != keys[1] || keys[0] == LogKey::kNone) return std::nullopt;
  return keys[0];
}

LogDamage RecordReader::DamageOf(std::uint64_t at, std::uint64_t bytes, std::uint64_t records) {
  return {.at = at, .bytes = bytes, .records = records, .ticks_max = bytes / kTickBytesMin + 1};
}

std::string RecordReader::Describe(const LogKind& kind, const std::string& path,
                                   const LogDamage& damage) {
  std::string lost = fmt::format("{} records were probably lost", damage.records);
  if (damage.records == 0) lost = "no record was lost, since the log has a copy";
  if (damage.records == 1) lost = "1 record was probably lost";
  return fmt::format("{} {}: damaged at byte {} ({} bytes): {}", std::string(kind.name), path,
                     damage.at, damage.bytes, lost);
}

absl::StatusOr<std::unique_ptr<RecordReader>> RecordReader::Open(const std::string& path,
                                                                 const LogKind& kind) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return absl::ErrnoToStatus(errno,
                               fmt::format("{} {}: cannot open", std::string(kind.name), path));
  }
  std::setvbuf(file, nullptr, _IOFBF, kReadBufferBytes);
  std::unique_ptr<RecordReader> reader(new RecordReader(path, kind, file));
  if (absl::Status status = reader->ReadStart(); !status.ok()) return status;
  return reader;
}

RecordReader::~RecordReader() { std::fclose(file_); }

// Reads up to `bytes` bytes at `at`. Returns the number of bytes read, which is smaller only at the
// end of the file.
absl::StatusOr<std::size_t> RecordReader::ReadAt(std::uint64_t at, char* out, std::size_t bytes) {
  const auto failed = [&] {
    return absl::ErrnoToStatus(
        errno, fmt::format("{} {}: cannot read at byte {}", std::string(kind_.name), path_, at));
  };
  if (at != file_at_ && fseeko(file_, static_cast<off_t>(at), SEEK_SET) != 0) return failed();
  const std::size_t got = std::fread(out, 1, bytes, file_);
  file_at_ = at + got;
  if (got < bytes && std::ferror(file_) != 0) return failed();
  if (got < bytes) std::clearerr(file_);  // The file may grow.
  return got;
}

// Reads the record at `at` into frame_ and payload_, as far as it is complete.
absl::StatusOr<RecordReader::State> RecordReader::ReadRecordAt(std::uint64_t at) {
  std::array<char, 16> bytes;
  absl::StatusOr<std::size_t> got = ReadAt(at, bytes.data(), kFrameBytes);
  if (!got.ok()) return got.status();
  if (*got == 0) return State::kEnd;
  if (*got < kFrameBytes) return State::kCutShort;
  frame_ = ReadFrame(bytes.data(), key_);
  if (frame_.length > kRecordBytesMax || !frame_.is_guarded) return State::kBadFrame;
  payload_.resize(frame_.length);
  got = ReadAt(at + kFrameBytes, payload_.data(), frame_.length);
  if (!got.ok()) return got.status();
  if (*got < frame_.length) return State::kTorn;
  return LogChecksum(payload_, key_) == frame_.checksum ? State::kWhole : State::kBadPayload;
}

// Searches for the first complete record after `from`, which is not the start of a record. Bytes
// may be missing there, so even a complete frame does not determine the next record.
absl::StatusOr<RecordReader::Search> RecordReader::SearchBehind(std::uint64_t from) {
  std::string bytes;
  Search search;
  for (std::uint64_t at = from;;) {
    bytes.resize(kSearchBytes);
    const absl::StatusOr<std::size_t> got = ReadAt(at, bytes.data(), bytes.size());
    if (!got.ok()) return got.status();
    search.is_zeros =
        search.is_zeros && EndOfZeros(absl::string_view(bytes).substr(0, *got)) == *got;
    for (std::size_t i = 0; i + kFrameBytes <= *got; ++i) {
      if (!MayBeginFrame(bytes.data() + i)) continue;
      if (!ReadFrame(bytes.data() + i, key_).is_guarded) continue;
      const absl::StatusOr<State> state = ReadRecordAt(at + i);
      if (!state.ok()) return state.status();
      if (!search.first_frame_at) search.first_frame_at = at + i;
      search.ends_at = at + i;
      if (*state == State::kWhole) return search;
      if (*state == State::kTorn && !search.torn_at) search.torn_at = at + i;
      ++search.frames;
    }
    if (*got < kSearchBytes) {
      search.ends_at = search.torn_at.value_or(at + *got);
      if (search.torn_at) --search.frames;
      return search;
    }
    at += *got - kFrameBytes + 1;
  }
}

absl::Status RecordReader::ReadStart() {
  std::string start(kStartBytes, '\0');
  const absl::StatusOr<std::size_t> got = ReadAt(0, start.data(), start.size());
  if (!got.ok()) return got.status();
  start.resize(*got);
  const absl::string_view magic = absl::string_view(start).substr(0, kMagicBytes);
  if (IsOfEarlierLayout(magic, kind_)) {
    return absl::UnimplementedError(
        fmt::format("{} was written by an earlier version of Tidemark, which this version does not "
                    "read; read it with that version, or move it away",
                    path_));
  }
  const auto unknown = [&] {
    const std::string name(kind_.name);
    return absl::InvalidArgumentError(
        fmt::format("{} is not {} {}, or was written by a newer version of Tidemark", path_,
                    name.starts_with('e') ? "an" : "a", name));
  };
  if (start.size() < kStartBytes) {
    if (magic != kind_.magic) return unknown();
    return absl::DataLossError(
        fmt::format("{} {}: truncated within its header", std::string(kind_.name), path_));
  }
  next_ = offset_ = kStartBytes;
  // If the key is damaged, no record is valid. If the magic is damaged, valid records still
  // identify a log.
  const std::array<LogKey, 2> keys = ReadKeys(start.data());
  is_start_damaged_ = !KeyOf(start, kind_).has_value();
  for (const LogKey key : keys) {
    if (key == LogKey::kNone) continue;
    key_ = key;
    const absl::StatusOr<State> state = ReadRecordAt(next_);
    if (!state.ok()) return state.status();
    if (*state == State::kWhole) return absl::OkStatus();
  }
  if (magic != kind_.magic || key_ == LogKey::kNone) return unknown();
  key_ = keys[0] == LogKey::kNone ? keys[1] : keys[0];
  return absl::OkStatus();
}

// Returns the approximate number of records in `bytes`, from the mean size of the other records;
// at least one.
std::uint64_t RecordReader::RecordsIn(std::uint64_t bytes) const {
  if (records_ == 0) return 1;
  const double mean = static_cast<double>(record_bytes_) / static_cast<double>(records_);
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) / mean)));
}

// If next_ is not the start of a complete record, stores the unreadable part in damage_ and skips
// it. Returns false if the unreadable part is only a torn end.
absl::StatusOr<bool> RecordReader::SkipDamage() {
  const std::uint64_t begin = next_;
  const absl::StatusOr<Search> search = SearchBehind(begin);
  if (!search.ok()) return search.status();
  if (search->ends_at == begin || search->is_zeros) return false;
  next_ = offset_ = search->ends_at;
  // Counts records with complete frames, and estimates the number of records before the first of
  // them.
  const std::uint64_t nameless = search->first_frame_at.value_or(next_) - begin;
  damage_ =
      DamageOf(begin, next_ - begin, search->frames + (nameless > 0 ? RecordsIn(nameless) : 0));
  return true;
}

absl::StatusOr<RecordReader::Found> RecordReader::Next() {
  if (std::exchange(is_start_damaged_, false)) {
    damage_ = {.at = 0, .bytes = kStartBytes};
    return Found::kDamage;
  }
  const absl::StatusOr<State> state = ReadRecordAt(next_);
  if (!state.ok()) return state.status();
  if (*state == State::kEnd) return Found::kEnd;
  if (*state == State::kWhole) {
    record_bytes_ += EndOf(next_) - next_;
    ++records_;
    next_ = offset_ = EndOf(next_);
    return Found::kRecord;
  }
  const absl::StatusOr<bool> is_damage =
      *state == State::kCutShort ? absl::StatusOr<bool>(false) : SkipDamage();
  if (!is_damage.ok()) return is_damage.status();
  if (*is_damage) return Found::kDamage;
  return absl::DataLossError(
      fmt::format("{} {}: torn record at byte {}; all earlier records are intact",
                  std::string(kind_.name), path_, next_));
}

}  // namespace tidemark::store
