#include "master/waits/cluster_records.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tidemark::waits {
namespace {

// Time within which a driver fills a slot that became free. Chosen by hand.
constexpr double kRefillSeconds = 0.1;

}  // namespace

void JobSlots::Abandon() {
  is_abandoned_ = true;
  is_known_ = false;
  is_full_ = false;
  free_since_.reset();
  waiting_.clear();
}

void JobSlots::UpdateFullness(double at) {
  now_ = std::max(now_, at);
  const bool no_slot_is_free = is_known_ && slots_ > 0 && running_ >= slots_;
  if (!no_slot_is_free) {
    if (is_full_ && !free_since_) free_since_ = now_;
    return;
  }
  free_since_.reset();
  if (std::exchange(is_full_, true)) return;
  for (auto& [stage, waiting] : waiting_) waiting.until = std::max(waiting.until, now_);
}

std::vector<Piece> JobSlots::Queue(Stage stage, std::uint32_t tasks, double at) {
  std::vector<Piece> pieces;
  if (is_abandoned_) return pieces;
  Settle(at, pieces);
  waiting_[stage] = {.tasks = tasks, .until = std::max(at, now_)};
  return pieces;
}

std::vector<Piece> JobSlots::Start(Stage stage, double at, bool from_queue) {
  std::vector<Piece> pieces;
  Settle(at, pieces);
  const auto found = waiting_.find(stage);
  if (from_queue && found != waiting_.end()) {
    ReportWait(stage, at, /*got_slot=*/true, pieces);
    if (--found->second.tasks == 0) waiting_.erase(found);
  }
  ++running_;
  UpdateFullness(at);
  return pieces;
}

std::vector<Piece> JobSlots::End(double at) {
  std::vector<Piece> pieces;
  Settle(at, pieces);
  --running_;
  UpdateFullness(at);
  return pieces;
}

std::vector<Piece> JobSlots::ReportWaits(double now, double until) {
  std::vector<Piece> pieces;
  Settle(now, pieces);
  for (const auto& [stage, waiting] : waiting_) {
    ReportWait(stage, free_since_.value_or(until), /*got_slot=*/false, pieces);
  }
  return pieces;
}

// Counts a slot as free if it was not filled within kRefillSeconds.
void JobSlots::Settle(double at, std::vector<Piece>& pieces) {
  if (!is_full_ || !free_since_ || at - *free_since_ <= kRefillSeconds) return;
  for (const auto& [stage, waiting] : waiting_) {
    ReportWait(stage, *free_since_, /*got_slot=*/false, pieces);
  }
  is_full_ = false;
  free_since_.reset();
}

void JobSlots::ReportWait(Stage stage, double until, bool got_slot, std::vector<Piece>& pieces) {
  Waiting& waiting = waiting_.at(stage);
  const double from = waiting.until;
  if (!is_full_ || !(from < until)) return;
  waiting.until = until;
  const double tasks = waiting.tasks;
  Piece piece = {.stage = stage,
                 .host = QueueOf(pool_),
                 .pool = pool_,
                 .from = from,
                 .to = until,
                 .use = {},
                 .tasks = tasks};
  piece.use.of[WaitReason::kSlots] = {.wait_seconds = tasks * (until - from),
                                      .units = got_slot ? 1 : 0};
  pieces.push_back(piece);
}

namespace {

// Returns a free number, or a new one.
template <typename Number, typename Record>
Number NextOf(std::vector<Number>& free, std::vector<Record>& records) {
  if (free.empty()) {
    records.emplace_back();
    return static_cast<Number>(records.size() - 1);
  }
  const Number number = free.back();
  free.pop_back();
  records[static_cast<std::size_t>(number)] = {};
  return number;
}

}  // namespace

ClusterRecords::ClusterRecords(std::size_t stages_max, std::size_t hosts_max)
    : stages_max_(stages_max), hosts_max_(hosts_max), queries_(1), stages_(1) {}

std::optional<JobNumber> ClusterRecords::FindJob(const std::string& id) const {
  const auto known = job_by_id_.find(id);
  if (known == job_by_id_.end()) return std::nullopt;
  return known->second;
}

JobNumber ClusterRecords::AddJob(const std::string& id) {
  const JobNumber number{jobs_seen_++};
  TrackedJob& job =
      jobs_.try_emplace(number, Pool{static_cast<std::uint32_t>(number)}).first->second;
  job.id = id;
  job_by_id_[id] = number;
  return number;
}

std::vector<std::string> ClusterRecords::JobIds() const {
  std::vector<std::string> ids;
  for (const auto& [id, number] : job_by_id_) ids.push_back(id);
  return ids;
}

bool ClusterRecords::JobHasRoomForQuery(const TrackedJob& job) const {
  return job.queries.size() < stages_max_ / 2;
}

bool ClusterRecords::JobHasRoomForStage(const TrackedJob& job) const {
  return job.stages.size() < stages_max_ / 2;
}

Query ClusterRecords::AddQuery(JobNumber number, const std::string& name) {
  const Query added = NextOf(free_queries_, queries_);
  TrackedQuery& record = query(added);
  record.job = number;
  record.name = name;
  record.order = queries_seen_++;
  job(number).queries[name] = added;
  return added;
}

Stage ClusterRecords::AddStage(JobNumber number, Query of, std::uint32_t stage_number) {
  const Stage added = NextOf(free_stages_, stages_);
  stage(added).number = stage_number;
  stage(added).query = of;
  query(of).stages.push_back(added);
  job(number).stages[stage_number] = added;
  return added;
}

void ClusterRecords::MoveStage(Stage moved, Query to) {
  TrackedStage& record = stage(moved);
  TrackedQuery& before = query(record.query);
  std::erase(before.stages, moved);
  query(to).stages.push_back(moved);
  if (record.is_open) {
    --before.open_stages;
    ++query(to).open_stages;
  }
  record.query = to;
}

Host ClusterRecords::HostOf(const std::string& name, Query query) {
  const Host unnamed{kFirstUnnamed + static_cast<std::uint32_t>(query)};
  if (name.empty()) return unnamed;
  if (const auto known = host_by_name_.find(name); known != host_by_name_.end()) {
    return known->second;
  }
  if (!HasRoomForHost(name)) return unnamed;
  const Host host = NextOf(free_hosts_, hosts_);
  hosts_[static_cast<std::size_t>(host)] = name;
  host_by_name_[name] = host;
  return host;
}

bool ClusterRecords::HasRoomForHost(const std::string& name) const {
  return hosts_.size() - free_hosts_.size() < hosts_max_ || name.empty() ||
         host_by_name_.contains(name);
}

void ClusterRecords::KeepHosts(const absl::flat_hash_set<Host>& used) {
  std::erase_if(host_by_name_, [&](const auto& named) {
    const bool is_free = !used.contains(named.second);
    if (is_free) free_hosts_.push_back(named.second);
    return is_free;
  });
}

bool ClusterRecords::ForgetEnded(const TrackedJob* of) {
  std::vector<Query> ended;
  for (std::uint32_t q = 1; q < queries_.size(); ++q) {
    const TrackedQuery& record = queries_[q];
    if (record.is_free || !record.to || record.open_stages > 0) continue;
    if (of == nullptr || &job(record.job) == of) ended.push_back(Query{q});
  }
  std::sort(ended.begin(), ended.end(),
            [&](Query a, Query b) { return query(a).order < query(b).order; });
  for (const Query oldest : ended) {
    const TrackedQuery& record = query(oldest);
    TrackedJob& of_query = job(record.job);
    ++of_query.queries_left_out;
    of_query.queries.erase(record.name);
    for (const Stage s : record.stages) of_query.stages.erase(stage(s).number);
    Forget(oldest);
    if (forgotten_.size() > stages_max_ / 16) break;
  }
  return !ended.empty();
}

// REQUIRES: the job has no entry for the query and its stages, or is itself being removed.
void ClusterRecords::Forget(Query gone) {
  TrackedQuery& record = query(gone);
  for (const Stage s : record.stages) {
    stage(s).query = kForgottenQuery;
    forgotten_.insert(s);
  }
  record = {};
  record.is_free = true;
  free_queries_.push_back(gone);
}

void ClusterRecords::ForgetJob(JobNumber number) {
  const TrackedJob gone = std::move(job(number));
  for (const auto& [name, of_job] : gone.queries) Forget(of_job);
  job_by_id_.erase(gone.id);
  jobs_.erase(number);
}

void ClusterRecords::FreeForgotten() {
  free_stages_.insert(free_stages_.end(), forgotten_.begin(), forgotten_.end());
  std::sort(free_stages_.begin(), free_stages_.end(), std::greater<>());
  forgotten_.clear();
}

}  // namespace tidemark::waits
