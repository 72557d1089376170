#include "whatif/advise/cache_replay.h"

#include <algorithm>
#include <list>
#include <memory>

#include "absl/container/flat_hash_map.h"

namespace tidemark::advise {
namespace {

struct Kept {
  std::uint64_t key = 0;
  double bytes = 0;
  std::size_t uses = 1;
};

// Results by their last use, the most recent first.
class Recent {
 public:
  bool Has(std::uint64_t key) const { return at_.contains(key); }
  bool is_empty() const { return kept_.empty(); }
  double bytes() const { return is_empty() ? 0 : bytes_; }
  const std::list<Kept>& all() const { return kept_; }
  void Add(const Kept& kept) {
    kept_.push_front(kept);
    at_[kept.key] = kept_.begin();
    bytes_ += kept.bytes;
  }
  Kept Take(std::uint64_t key) {
    const auto at = at_.find(key);
    const Kept kept = *at->second;
    kept_.erase(at->second);
    at_.erase(at);
    bytes_ -= kept.bytes;
    return kept;
  }
  Kept TakeOldest() { return Take(kept_.back().key); }

 private:
  std::list<Kept> kept_;
  absl::flat_hash_map<std::uint64_t, std::list<Kept>::iterator> at_;
  double bytes_ = 0;
};

class Cache {
 public:
  explicit Cache(double bytes_max) : bytes_max_(bytes_max) {}
  virtual ~Cache() = default;
  virtual bool Has(std::uint64_t key) const = 0;
  virtual void Use(std::uint64_t key) = 0;
  // REQUIRES: the cache does not have it, and it is no larger than the cache.
  virtual void Add(std::uint64_t key, double bytes) = 0;
  std::size_t evictions() const { return evictions_; }

 protected:
  const double bytes_max_;
  std::size_t evictions_ = 0;
};

class RecentOrFrequent : public Cache {
 public:
  RecentOrFrequent(double bytes_max, bool by_frequency)
      : Cache(bytes_max), by_frequency_(by_frequency) {}
  bool Has(std::uint64_t key) const override { return kept_.Has(key); }
  void Use(std::uint64_t key) override {
    Kept kept = kept_.Take(key);
    ++kept.uses;
    kept_.Add(kept);
  }
  void Add(std::uint64_t key, double bytes) override {
    while (!kept_.is_empty() && kept_.bytes() + bytes > bytes_max_) {
      ++evictions_;
      kept_.Take(Victim());
    }
    kept_.Add({.key = key, .bytes = bytes});
  }

 private:
  std::uint64_t Victim() const {
    if (!by_frequency_) return kept_.all().back().key;
    // The last one in the list among equal ones.
    const auto least =
        std::min_element(kept_.all().rbegin(), kept_.all().rend(),
                         [](const Kept& a, const Kept& b) { return a.uses < b.uses; });
    return least->key;
  }
  const bool by_frequency_;
  Recent kept_;
};

class Arc : public Cache {
 public:
  explicit Arc(double bytes_max) : Cache(bytes_max) {}
  bool Has(std::uint64_t key) const override { return once_.Has(key) || often_.Has(key); }
  void Use(std::uint64_t key) override {
    often_.Add(once_.Has(key) ? once_.Take(key) : often_.Take(key));
  }
  void Add(std::uint64_t key, double bytes) override {
    const bool was_once = gone_once_.Has(key);
    const bool was_often = gone_often_.Has(key);
    if (was_once) {
      const double ratio = gone_once_.bytes() > 0 ? gone_often_.bytes() / gone_once_.bytes() : 1;
      once_target_ = std::min(bytes_max_, once_target_ + bytes * std::max(1.0, ratio));
    } else if (was_often) {
      const double ratio = gone_often_.bytes() > 0 ? gone_once_.bytes() / gone_often_.bytes() : 1;
      once_target_ = std::max(0.0, once_target_ - bytes * std::max(1.0, ratio));
    }
    MakeRoom(bytes, was_often);
    if (was_once || was_often) {
      (was_once ? gone_once_ : gone_often_).Take(key);
      often_.Add({.key = key, .bytes = bytes});
      return;
    }
    once_.Add({.key = key, .bytes = bytes});
    while (!gone_once_.is_empty() && once_.bytes() + gone_once_.bytes() > bytes_max_) {
      gone_once_.TakeOldest();
    }
    while (!gone_often_.is_empty() &&
           once_.bytes() + often_.bytes() + gone_once_.bytes() + gone_often_.bytes() >
               2 * bytes_max_) {
      gone_often_.TakeOldest();
    }
  }

 private:
  void MakeRoom(double bytes, bool was_often) {
    while (once_.bytes() + often_.bytes() + bytes > bytes_max_ &&
           !(once_.is_empty() && often_.is_empty())) {
      ++evictions_;
      const bool is_once_over =
          once_.bytes() > once_target_ || (was_often && once_.bytes() >= once_target_);
      if (!once_.is_empty() && (is_once_over || often_.is_empty())) {
        gone_once_.Add(once_.TakeOldest());
      } else {
        gone_often_.Add(often_.TakeOldest());
      }
    }
  }

  Recent once_, often_;            // T1, T2
  Recent gone_once_, gone_often_;  // B1, B2: evicted entries, without their data
  double once_target_ = 0;         // p, bytes
};

std::unique_ptr<Cache> Make(CachePolicy policy, double bytes_max) {
  if (policy == CachePolicy::kArc) return std::make_unique<Arc>(bytes_max);
  return std::make_unique<RecentOrFrequent>(bytes_max, policy == CachePolicy::kLfu);
}

}  // namespace

Replayed Replay(CachePolicy policy, const std::vector<KeepableResults>& queries, double bytes_max) {
  const std::unique_ptr<Cache> cache = Make(policy, bytes_max);
  Replayed replayed;
  for (const KeepableResults& query : queries) {
    const auto found = std::find_if(query.begin(), query.end(), [&](const KeepableResult& result) {
      return cache->Has(result.key);
    });
    if (found != query.end()) {
      ++replayed.hits;
      replayed.saved_seconds += found->benefit_seconds;
      cache->Use(found->key);
      continue;
    }
    const auto fits = std::find_if(query.begin(), query.end(), [&](const KeepableResult& result) {
      return result.bytes <= bytes_max && result.benefit_seconds > 0;
    });
    if (fits == query.end()) continue;
    ++replayed.writes;
    replayed.saved_seconds -= fits->write_seconds;
    cache->Add(fits->key, fits->bytes);
  }
  replayed.evictions = cache->evictions();
  return replayed;
}

}  // namespace tidemark::advise
