// Who has signed in with a token: a random name stands for it in the cookie, so that the token is
// in no address, no log and no script. Kept in memory: after a restart of the master one signs in
// anew.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace tidemark::web {

// An hour of work and the night after. Taste.
inline constexpr absl::Duration kSessionLife = absl::Hours(12);

class Sessions {
 public:
  explicit Sessions(std::size_t sessions_max = 1000) : sessions_max_(sessions_max) {}

  // The name of a new session, 64 hexadecimal digits from the operating system's source of random
  // numbers; nothing if that fails. The oldest makes room.
  std::optional<std::string> Open(std::string token, absl::Time now);
  // The token; empty: there is no such session, or its time is over.
  std::string TokenOf(const std::string& name, absl::Time now);
  void Close(const std::string& name);

 private:
  struct Session {
    std::string token;
    absl::Time ends_at;
  };
  const std::size_t sessions_max_;
  std::mutex mutex_;
  std::map<std::string, Session> sessions_;
};

}  // namespace tidemark::web
