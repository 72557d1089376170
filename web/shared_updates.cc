#include "web/shared_updates.h"

#include <utility>

#include "tidemark/web/v1/web.pb.h"
#include "web/json.h"

namespace tidemark::web {
namespace {

// Of a stage or another part of a snapshot, as a value.
constexpr std::size_t kPartBytes = 512;

std::size_t BytesOf(const Snapshot& snapshot) {
  return kPartBytes * (1 + snapshot.stages.size() + snapshot.children.size() +
                       snapshot.groups.size() + snapshot.named_tasks.size());
}

}  // namespace

std::shared_ptr<const SharedUpdates::Update> SharedUpdates::Make(
    const tidemark::v1::WatchJobResponse& response,
    const std::shared_ptr<const Known>& before) const {
  auto known = before ? std::make_shared<Known>(*before) : std::make_shared<Known>();
  v1::JobUpdate event;
  *event.mutable_update() = response;
  // A delta says what has changed; the words are about the whole.
  const absl::StatusOr<Snapshot> whole = known->reader.Take(response);
  if (whole.ok()) *event.mutable_words() = words_of_(*whole);
  // The words are remembered, too.
  const std::size_t bytes = (whole.ok() ? BytesOf(*whole) : 0) + event.words().ByteSizeLong();
  known->told.KeepNews(*event.mutable_words());
  std::string json = Json(event);
  const std::size_t all = bytes + json.size();
  return std::make_shared<const Update>(Update{std::move(json), std::move(known), all});
}

std::shared_ptr<const SharedUpdates::Update> SharedUpdates::Take(
    const tidemark::v1::WatchJobResponse& response, tidemark::v1::View view,
    const std::shared_ptr<const Known>& before) {
  std::string key = std::to_string(view) + "/" + response.SerializeAsString();
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
  }
  std::shared_ptr<const Update> made = Make(response, before);
  const std::lock_guard lock(mutex_);
  const auto [kept, is_new] = kept_.emplace(key, made);
  if (!is_new) return kept->second;
  bytes_ += 2 * key.size() + made->bytes;
  order_.push_back(std::move(key));
  while (bytes_ > bytes_max_) {
    const auto oldest = kept_.find(order_.front());
    bytes_ -= 2 * oldest->first.size() + oldest->second->bytes;
    kept_.erase(oldest);
    order_.pop_front();
  }
  return made;
}

}  // namespace tidemark::web
