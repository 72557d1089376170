// A disk in memory that can become full, fail, and lose data that were not synced.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "master/store/disk.h"

namespace tidemark::test {

class FaultyDisk final : public store::Disk {
 public:
  absl::StatusOr<std::unique_ptr<store::AppendFile>> Create(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (!FaultOf(path).ok()) return FaultOf(path);
    files_[path].clear();
    return std::make_unique<File>(*this, path);
  }
  absl::StatusOr<std::unique_ptr<store::AppendFile>> Open(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (!FaultOf(path).ok()) return FaultOf(path);
    return std::make_unique<File>(*this, path);
  }
  absl::Status Remove(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (!fault_.ok()) return fault_;
    files_.erase(path);
    synced_.erase(path);
    return absl::OkStatus();
  }
  absl::StatusOr<std::uint64_t> FreeBytes(const std::string&) override {
    const std::lock_guard lock(mutex_);
    std::uint64_t used = 0;
    for (const auto& [path, content] : files_) used += content.size();
    return capacity_ > used ? capacity_ - used : 0;
  }
  absl::Status Sync(const std::vector<store::AppendFile*>& files) override {
    const std::lock_guard lock(mutex_);
    ++syncs_;
    if (!fault_.ok()) return fault_;
    for (store::AppendFile* file : files) {
      const std::string& path = static_cast<File*>(file)->path;
      if (!FaultOf(path).ok()) return FaultOf(path);
      if (const auto lost = losses_.extract(path); !lost.empty()) {
        files_[path] = synced_[path];
        return lost.mapped();
      }
      synced_[path] = files_[path];
    }
    return absl::OkStatus();
  }

  // Makes every call fail with `fault`. A write fails after half of its bytes. OK repairs the disk.
  void Break(absl::Status fault) {
    const std::lock_guard lock(mutex_);
    fault_ = std::move(fault);
  }
  // Makes every call for one file fail with `fault`.
  void BreakFile(const std::string& path, absl::Status fault) {
    const std::lock_guard lock(mutex_);
    faults_[path] = std::move(fault);
  }
  // Makes the next sync of the file fail and lose its data. Later syncs succeed. Linux behaves like
  // this if a disk rejects a page.
  void LoseAtSync(const std::string& path, absl::Status fault) {
    const std::lock_guard lock(mutex_);
    losses_[path] = std::move(fault);
  }
  // Sets the maximum total size of synced data. Writes are not limited.
  void SetCapacity(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    capacity_ = bytes;
  }
  // Returns the contents that a file would have after a loss of power.
  std::string Synced(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    const auto file = synced_.find(path);
    return file == synced_.end() ? "" : file->second;
  }
  int syncs() const {
    const std::lock_guard lock(mutex_);
    return syncs_;
  }

 private:
  struct File final : store::AppendFile {
    File(FaultyDisk& under, std::string name) : disk(under), path(std::move(name)) {}
    absl::Status WriteAt(std::uint64_t offset, absl::string_view bytes) override {
      const std::lock_guard lock(disk.mutex_);
      const absl::Status fault = disk.FaultOf(path);
      const std::size_t count = fault.ok() ? bytes.size() : bytes.size() / 2;
      std::string& content = disk.files_[path];
      content.resize(std::max<std::size_t>(content.size(), offset + count));
      content.replace(offset, count, bytes.data(), count);
      return fault;
    }
    FaultyDisk& disk;
    const std::string path;
  };

  // Requires mutex_.
  absl::Status FaultOf(const std::string& path) const {
    const auto of_file = faults_.find(path);
    return of_file == faults_.end() || !fault_.ok() ? fault_ : of_file->second;
  }

  mutable std::mutex mutex_;
  absl::Status fault_;
  std::map<std::string, absl::Status> faults_;
  std::map<std::string, absl::Status> losses_;
  std::uint64_t capacity_ = std::uint64_t{1} << 40;
  int syncs_ = 0;
  std::map<std::string, std::string> files_;
  std::map<std::string, std::string> synced_;
};

}  // namespace tidemark::test
