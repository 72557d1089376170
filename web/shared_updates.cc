#include "web/shared_updates.h"

#include <fmt/format.h>

#include "proto/wire/job_codec.h"
#include "tidemark/web/v1/web.pb.h"
#include "web/json.h"

namespace tidemark::web {
namespace {

// The approximate memory of a stage or another part of a snapshot.
constexpr std::size_t kPartBytes = 512;

std::size_t BytesOf(const Snapshot& snapshot) {
  return kPartBytes * (1 + snapshot.stages.size() + snapshot.children.size() +
                       snapshot.groups.size() + snapshot.named_tasks.size());
}

// Returns the beginning of a JobUpdate, up to its snapshot.
std::string HeadOf(const wire::WatchResponseHead& head) {
  tidemark::v1::WatchJobResponse response;
  response.set_skipped_snapshots(head.skipped_snapshots);
  response.set_resume_token(head.resume_token);
  response.set_restarted(head.restarted);
  std::string json = Json(response);
  json.pop_back();  // the closing brace
  return fmt::format(R"({{"update":{},"snapshot":)", json);
}

}  // namespace

std::optional<SharedUpdates::Made> SharedUpdates::Make(
    absl::string_view bytes, const std::shared_ptr<const Known>& base) const {
  tidemark::v1::WatchJobResponse response;
  if (!response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  const bool is_delta = response.snapshot().base_sequence() != 0;
  auto known = is_delta ? std::make_shared<Known>(*base) : std::make_shared<Known>();
  const absl::StatusOr<Snapshot> whole = known->reader.Take(response);
  if (!whole.ok() && is_delta) return std::nullopt;
  Made made;
  std::string json = Json(response.snapshot()) + "}";
  if (whole.ok()) {
    v1::JobWords words = words_of_(*whole);
    made.known_bytes = BytesOf(*whole) + words.ByteSizeLong();
    known->words.RemoveKnown(words);
    made.known = std::move(known);
    json += R"(,"words":)" + Json(words);
  }
  json += "}";
  made.rest = std::make_shared<const std::string>(std::move(json));
  return made;
}

std::optional<SharedUpdates::Update> SharedUpdates::Get(absl::string_view response,
                                                        const std::string& job_id,
                                                        tidemark::v1::View view,
                                                        const std::string& before) {
  const auto head = wire::ReadWatchResponseHead(response);
  if (!head) return std::nullopt;
  const std::string line = fmt::format("{}/{}", static_cast<int>(view), job_id);
  Update update = {.head = HeadOf(*head), .resume_token = head->resume_token};
  std::shared_ptr<const Known> base;
  {
    const std::lock_guard lock(mutex_);
    if (const Version* version = Find(line, head->resume_token)) {
      const auto rest = version->rests.find(head->base_sequence);
      if (rest != version->rests.end()) {
        update.rest = rest->second;
        return update;
      }
    }
    if (head->base_sequence != 0) {
      const Version* const version = Find(line, before);
      if (version == nullptr || version->known == nullptr) return std::nullopt;
      base = version->known;
    }
  }
  const std::optional<Made> made = Make(response, base);
  if (!made) return std::nullopt;
  update.rest = made->rest;
  const std::lock_guard lock(mutex_);
  ++made_;
  Store(line, head->resume_token, head->base_sequence, *made);
  return update;
}

SharedUpdates::Version* SharedUpdates::Find(const std::string& line,
                                            const std::string& resume_token) {
  const auto known = lines_.find(line);
  if (known == lines_.end()) return nullptr;
  for (Version& version : known->second) {
    if (version.resume_token == resume_token) return &version;
  }
  return nullptr;
}

void SharedUpdates::Store(const std::string& line, const std::string& resume_token,
                          std::uint64_t base_sequence, const Made& made) {
  Version* version = Find(line, resume_token);
  if (version == nullptr) {
    Line& versions = lines_[line];
    version = &versions.emplace_back(Version{
        .resume_token = resume_token, .number = order_.empty() ? 1 : order_.rbegin()->first + 1});
    order_.emplace(version->number, line);
  }
  std::size_t bytes = 0;
  if (version->rests.emplace(base_sequence, made.rest).second) bytes += made.rest->size();
  if (version->known == nullptr && made.known != nullptr) {
    version->known = made.known;
    bytes += made.known_bytes;
  }
  version->bytes += bytes;
  bytes_ += bytes;
  if (lines_[line].size() > kVersionsMax) DropOldest(line);
  while (bytes_ > bytes_max_ && order_.size() > 1) DropOldest(std::string(order_.begin()->second));
}

void SharedUpdates::DropOldest(const std::string& line) {
  const auto versions = lines_.find(line);
  bytes_ -= versions->second.front().bytes;
  order_.erase(versions->second.front().number);
  versions->second.pop_front();
  if (versions->second.empty()) lines_.erase(versions);
}

std::uint64_t SharedUpdates::made() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

}  // namespace tidemark::web
