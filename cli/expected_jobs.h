// Which of the jobs that the client of an engine names have reported to the master: a pure record.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::cli {

// Not thread-safe.
class ExpectedJobs {
 public:
  // A job that is named and has not reported for so long is late. An application master starts
  // within a few seconds when there is room for it.
  static constexpr absl::Duration kReportsWithin = absl::Seconds(20);

  // The client named it. Naming it again changes nothing.
  void Name(const std::string& id, absl::Time now);
  // The master knows it; false if that was said before.
  bool Report(const std::string& id);

  // Named and not reported.
  std::vector<std::string> Awaited() const;
  // Those of them that are late, each told once.
  std::vector<std::string> TakeLate(absl::Time now);

 private:
  struct Wait {
    absl::Time since;
    bool is_told = false;
  };
  std::set<std::string> reported_;
  std::map<std::string, Wait> awaited_;
};

}  // namespace tidemark::cli
