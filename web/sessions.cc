#include "web/sessions.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/escaping.h"

namespace tidemark::web {

std::optional<std::string> Sessions::Open(std::string token, absl::Time now) {
  std::array<unsigned char, 32> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) return std::nullopt;
  std::string name(
      absl::BytesToHexString({reinterpret_cast<const char*>(random.data()), random.size()}));
  const std::lock_guard lock(mutex_);
  std::erase_if(sessions_, [now](const auto& each) { return each.second.ends_at <= now; });
  if (sessions_.size() >= sessions_max_) {
    sessions_.erase(std::min_element(
        sessions_.begin(), sessions_.end(),
        [](const auto& a, const auto& b) { return a.second.ends_at < b.second.ends_at; }));
  }
  sessions_[name] = {std::move(token), now + kSessionLife};
  return name;
}

std::string Sessions::TokenOf(const std::string& name, absl::Time now) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(name);
  return found == sessions_.end() || found->second.ends_at <= now ? "" : found->second.token;
}

void Sessions::Close(const std::string& name) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(name);
}

}  // namespace tidemark::web
