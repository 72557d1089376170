#include "master/service/kept_ended.h"

namespace tidemark::service {

void KeptEnded::Enter(const std::string& reporter) { ++reporters_[reporter].kept; }

void KeptEnded::Leave(const std::string& reporter) {
  const auto known = reporters_.find(reporter);
  if (--known->second.kept == 0) reporters_.erase(known);
}

void KeptEnded::Add(const One& one) { reporters_[one.reporter].ended.emplace(one.number, one.id); }

void KeptEnded::Remove(const std::string& reporter, std::uint64_t number) {
  const auto known = reporters_.find(reporter);
  if (known != reporters_.end()) known->second.ended.erase(number);
}

std::optional<KeptEnded::One> KeptEnded::OldestOf(const std::string& reporter) const {
  const auto known = reporters_.find(reporter);
  if (known == reporters_.end() || known->second.ended.empty()) return std::nullopt;
  return Oldest(reporter, known->second);
}

std::optional<KeptEnded::One> KeptEnded::ToForget(const std::string& reporter) const {
  const auto own = reporters_.find(reporter);
  const std::size_t own_kept = own == reporters_.end() ? 0 : own->second.kept;
  // Somebody else only if it keeps more, and would not keep less afterwards.
  auto most = reporters_.end();
  for (auto other = reporters_.begin(); other != reporters_.end(); ++other) {
    if (other->second.ended.empty() || other->second.kept <= own_kept) continue;
    if (most == reporters_.end() || other->second.kept > most->second.kept) most = other;
  }
  if (most != reporters_.end()) return Oldest(most->first, most->second);
  return OldestOf(reporter);
}

}  // namespace tidemark::service
