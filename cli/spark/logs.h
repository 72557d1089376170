// Follows the Spark event logs for a master.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "spark/log_follower.h"
#include "tidemark/log.h"
#include "tidemark/master.h"

namespace tidemark::cli {

// Polls the logs once a second on its own thread.
class SparkLogs {
 public:
  // `master` outlives this object.
  SparkLogs(const std::string& folder, Master& master, LogSink log);
  ~SparkLogs();
  SparkLogs(const SparkLogs&) = delete;
  SparkLogs& operator=(const SparkLogs&) = delete;

 private:
  void Run();
  void Report(const Event& event);

  Master& master_;
  const LogSink log_;
  spark::LogFollower follower_;
  // Status codes of logged rejections by job.
  absl::flat_hash_map<std::string, absl::flat_hash_set<absl::StatusCode>> rejections_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool is_stopped_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace tidemark::cli
