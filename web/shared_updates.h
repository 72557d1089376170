// Encodes the updates of watched jobs as JSON, once for all readers of the same update.
//
// A whole snapshot contains all words. A delta contains the words that differ from its base. An
// update therefore depends only on its snapshot, its base and the view. Data for one reader, such
// as the number of snapshots that it missed, precedes the update.
//
// The last few snapshots of each job and view are kept as bases of deltas, in a bounded number of
// bytes; the oldest are dropped first. A reader that lags too far must resume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "proto/wire/snapshot_delta.h"
#include "tidemark/v1/job_service.pb.h"
#include "web/words.h"

namespace tidemark::web {

// Thread-safe. Callers should get the updates of one job one at a time, so that none is encoded
// twice.
class SharedUpdates {
 public:
  struct Update {
    std::string head;                         // JSON up to the snapshot, for this reader
    std::shared_ptr<const std::string> rest;  // shared by all readers
    std::string resume_token;                 // resume token of a reader that has this update
    std::string json() const { return head + *rest; }  // JobUpdate
  };

  explicit SharedUpdates(WordsOf words_of, std::size_t bytes_max = std::size_t{64} << 20)
      : words_of_(std::move(words_of)), bytes_max_(bytes_max) {}

  // Returns the update for a reader of `job_id` in `view`. `response` is a serialized
  // WatchJobResponse. `before` is the resume token of the reader's last snapshot, or empty. Returns
  // nullopt if the response is invalid or if its base is not kept. The reader must then resume from
  // `before`.
  std::optional<Update> Get(absl::string_view response, const std::string& job_id,
                            tidemark::v1::View view, const std::string& before);

  // Returns the number of encoded updates.
  std::uint64_t made() const;

 private:
  // Snapshots of each job and view. Chosen by hand: most readers are within three updates of each
  // other.
  static constexpr std::size_t kVersionsMax = 3;

  // A whole snapshot and its words.
  struct Known {
    wire::JobReader reader;
    WordChanges words;
  };
  struct Version {
    std::string resume_token;
    std::shared_ptr<const Known> known;  // null if the snapshot was invalid
    std::map<std::uint64_t, std::shared_ptr<const std::string>> rests;  // by base sequence
    std::size_t bytes = 0;
    std::uint64_t number = 0;  // in the order of encoding
  };
  struct Made {
    std::shared_ptr<const std::string> rest;
    std::shared_ptr<const Known> known;
    std::size_t known_bytes = 0;
  };
  using Line = std::deque<Version>;

  // Returns nullopt if the response does not build on `base`.
  std::optional<Made> Make(absl::string_view bytes, const std::shared_ptr<const Known>& base) const;
  // REQUIRES: mutex_ is held, here and below.
  Version* Find(const std::string& line, const std::string& resume_token);
  void Store(const std::string& line, const std::string& resume_token, std::uint64_t base_sequence,
             const Made& made);
  void DropOldest(const std::string& line);

  const WordsOf words_of_;
  const std::size_t bytes_max_;
  mutable std::mutex mutex_;  // guards the rest
  std::map<std::string, Line> lines_;
  std::map<std::uint64_t, std::string> order_;  // lines, by the number of each version
  std::size_t bytes_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace tidemark::web
