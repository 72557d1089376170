// A disk in memory that fills up, breaks, and forgets what was not synced.
#pragma once

#include <algorithm>
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
    if (!fault_.ok()) return fault_;
    files_[path].clear();
    return std::make_unique<File>(*this, path);
  }
  absl::StatusOr<std::unique_ptr<store::AppendFile>> Open(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (!fault_.ok()) return fault_;
    return std::make_unique<File>(*this, path);
  }
  absl::Status Remove(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (!fault_.ok()) return fault_;
    files_.erase(path);
    synced_.erase(path);
    return absl::OkStatus();
  }
  absl::Status Sync(const std::vector<store::AppendFile*>& files) override {
    const std::lock_guard lock(mutex_);
    ++syncs_;
    if (!fault_.ok()) return fault_;
    for (store::AppendFile* file : files) {
      const std::string& path = static_cast<File*>(file)->path;
      synced_[path] = files_[path];
    }
    return absl::OkStatus();
  }

  // From now on every call fails so, a write after half of its bytes; OK mends the disk.
  void Break(absl::Status fault) {
    const std::lock_guard lock(mutex_);
    fault_ = std::move(fault);
  }
  // What is left of a file after a loss of power.
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
      const std::size_t count = disk.fault_.ok() ? bytes.size() : bytes.size() / 2;
      std::string& content = disk.files_[path];
      content.resize(std::max<std::size_t>(content.size(), offset + count));
      content.replace(offset, count, bytes.data(), count);
      return disk.fault_;
    }
    FaultyDisk& disk;
    const std::string path;
  };

  mutable std::mutex mutex_;
  absl::Status fault_;
  int syncs_ = 0;
  std::map<std::string, std::string> files_;
  std::map<std::string, std::string> synced_;
};

}  // namespace tidemark::test
