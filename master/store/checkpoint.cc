#include "master/store/checkpoint.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/string_view.h"
#include "master/store/disk.h"
#include "master/store/event_log.h"
#include "master/store/log_record.h"
#include "proto/wire/job_codec.h"
#include "tidemark/storage/v1/event_log.pb.h"

namespace tidemark::store {
namespace {

constexpr absl::string_view kMagic = "TIDECHK3";
// One record, which is whole or of no use: nothing to find behind damage.
constexpr LogKey kKey{1};

}  // namespace

std::string CheckpointPath(const std::string& log_path) {
  const absl::string_view extension = kEventLogExtension;
  return log_path.substr(0, log_path.size() - extension.size()) + ".tidemark-checkpoint";
}

absl::Status WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint) {
  storage::v1::Checkpoint message;
  wire::EncodeSnapshot(checkpoint.newest, *message.mutable_snapshot());
  message.set_monitor(checkpoint.monitor);
  std::string bytes(kMagic);
  EncodeFramed(message.SerializeAsString(), kKey, bytes);
  const std::string next = path + ".next";
  MakePrivateFile(next);
  std::ofstream file(next, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) {
    std::filesystem::rename(next, path, error);
    if (!error) return absl::OkStatus();
  }
  const int reason = error ? error.value() : errno;
  std::filesystem::remove(next, error);
  return absl::ErrnoToStatus(reason, fmt::format("checkpoint {}: cannot write", path));
}

std::optional<Checkpoint> ReadCheckpoint(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // Not by iterators: those throw where the disk cannot be read.
  std::ostringstream read;
  read << file.rdbuf();
  const std::string bytes = std::move(read).str();
  if (file.bad() || bytes.size() < kMagic.size() + kFrameBytes) return std::nullopt;
  if (absl::string_view(bytes).substr(0, kMagic.size()) != kMagic) return std::nullopt;
  const Frame frame = ReadFrame(bytes.data() + kMagic.size(), kKey);
  const auto payload = absl::string_view(bytes).substr(kMagic.size() + kFrameBytes);
  if (frame.length != payload.size() || frame.checksum != LogChecksum(payload, kKey))
    return std::nullopt;
  storage::v1::Checkpoint message;
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
    return std::nullopt;
  absl::StatusOr<Snapshot> newest = wire::ParseSnapshot(message.snapshot());
  if (!newest.ok()) return std::nullopt;
  return Checkpoint{*std::move(newest), std::move(*message.mutable_monitor())};
}

}  // namespace tidemark::store
