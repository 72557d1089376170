// Which alerts were told, in a file, so that a master that is started again tells none twice.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace tidemark::cli {

// A line for each id. Not thread-safe.
class ToldAlerts {
 public:
  // Older ones are forgotten where the file has more than twice as many when it is opened.
  static constexpr std::size_t kKept = 10'000;

  // `path` empty: nothing is kept. A file that cannot be read or written counts as empty; Trouble()
  // says why.
  explicit ToldAlerts(std::string path);
  // As the file had them.
  const std::set<std::string>& ids() const { return ids_; }
  // Before the alert is sent: one that is lost is better than one that comes again and again.
  void Add(const std::string& id);
  const absl::Status& trouble() const { return trouble_; }

 private:
  const std::string path_;
  std::set<std::string> ids_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, &std::fclose};
  absl::Status trouble_;
};

}  // namespace tidemark::cli
