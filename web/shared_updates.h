// Updates of watched jobs as JSON, made once for all who watch the same.
//
// What a reader is sent depends on the response of the master and on what the reader knows, which
// is the same for all who got that snapshot before: a delta names it. So an update is found by the
// bytes of its response, and with it what its reader knows afterwards.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "proto/wire/job_reader.h"
#include "tidemark/v1/job_service.pb.h"
#include "web/words.h"

namespace tidemark::web {

// Thread-safe.
class SharedUpdates {
 public:
  // What a reader knows: the whole snapshot, and the words that it was told.
  struct Known {
    wire::JobReader reader;
    WordChanges told;
  };
  struct Update {
    std::string json;                    // JobUpdate
    std::shared_ptr<const Known> known;  // afterwards
    std::size_t bytes = 0;               // that all of it takes, estimated
  };

  // What is kept takes about `bytes_max`, however large snapshots are.
  explicit SharedUpdates(WordsOf words_of, std::size_t bytes_max = std::size_t{8} << 20)
      : words_of_(std::move(words_of)), bytes_max_(bytes_max) {}

  // `before`: what the reader knew; null: nothing. `view`: that it asked for.
  std::shared_ptr<const Update> Take(const tidemark::v1::WatchJobResponse& response,
                                     tidemark::v1::View view,
                                     const std::shared_ptr<const Known>& before);

 private:
  std::shared_ptr<const Update> Make(const tidemark::v1::WatchJobResponse& response,
                                     const std::shared_ptr<const Known>& before) const;

  const WordsOf words_of_;
  const std::size_t bytes_max_;
  std::mutex mutex_;  // guards the rest
  std::map<std::string, std::shared_ptr<const Update>> kept_;
  std::deque<std::string> order_;  // their keys, the oldest first
  std::size_t bytes_ = 0;
};

}  // namespace tidemark::web
