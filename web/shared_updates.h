// Makes the updates of watched jobs as JSON, once for all readers who are sent the same.
//
// A whole snapshot contains all words, whatever its reader has. A delta contains the words that
// differ from the words of its base snapshot. An update therefore depends only on its snapshot, its
// base and the view. Other data for a reader, such as the number of snapshots that it missed, is
// put before the update.
//
// The last few snapshots of each job and view are kept, to build deltas on. All together take a
// bounded number of bytes, beyond which the oldest are dropped first. A reader that lags too far
// must resume.
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
#include "proto/wire/job_reader.h"
#include "tidemark/v1/job_service.pb.h"
#include "web/words.h"

namespace tidemark::web {

// Thread-safe. Updates of one job should be made one at a time, so that none is made twice.
class SharedUpdates {
 public:
  struct Update {
    std::string head;                                  // up to the snapshot, of this reader ...
    std::shared_ptr<const std::string> rest;           // ... and the rest, of all readers
    std::string resume_token;                          // of a reader who has it
    std::string json() const { return head + *rest; }  // JobUpdate
  };

  explicit SharedUpdates(WordsOf words_of, std::size_t bytes_max = std::size_t{64} << 20)
      : words_of_(std::move(words_of)), bytes_max_(bytes_max) {}

  // Returns the update of a reader of `job_id` in `view`, who has the snapshot of the resume token
  // `before`, which is empty if this is its first one. `response`: a serialized WatchJobResponse.
  // Returns nullopt if it is invalid, or builds on a snapshot that is not kept: resume from
  // `before`.
  std::optional<Update> Take(absl::string_view response, const std::string& job_id,
                             tidemark::v1::View view, const std::string& before);

  // How many were made.
  std::uint64_t made() const;

 private:
  // Snapshots of each job and view. Chosen by hand: readers are mostly within three updates of each
  // other.
  static constexpr std::size_t kVersionsMax = 3;

  // A whole snapshot, and its words.
  struct Known {
    wire::JobReader reader;
    WordChanges words;
  };
  struct Version {
    std::string resume_token;
    std::shared_ptr<const Known> known;  // null: it could not be read
    std::map<std::uint64_t, std::shared_ptr<const std::string>> rests;  // by base sequence
    std::size_t bytes = 0;
    std::uint64_t number = 0;  // in the order in which they were made
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
  void Keep(const std::string& line, const std::string& resume_token, std::uint64_t base_sequence,
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
