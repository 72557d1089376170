#include "hadoop/history_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/str_join.h"
#include "hadoop/task_ids.h"
#include "hadoop/workflow.h"
#include "proto/wire/parse_event.h"
#include "text/counted.h"
#include "text/utf8.h"

namespace tidemark::hadoop {
namespace {

using nlohmann::json;

constexpr const char* kSource = "history";
constexpr std::size_t kHostsMax = 100'000;
constexpr std::size_t kFailureBytesMax = 1'000;
constexpr std::size_t kHostBytesMax = 1'000;
// Bounds the memory of the failures of all attempts.
constexpr std::size_t kFailuresBytesMax = std::size_t{16} << 20;
// A job runs no longer than this. Later times are impossible.
constexpr std::int64_t kLifeMillisMax = std::int64_t{10} * 365 * 24 * 3600 * 1000;
// Later times do not fit into an absl::Time that can be printed.
constexpr std::int64_t kMillisMax = std::int64_t{1} << 45;

// Returns a member of an event. A value of a union is in an object, such as {"string":"x"}.
const json* Member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return nullptr;
  const bool is_union = found->is_object() && found->size() == 1 && found->begin()->is_primitive();
  return is_union ? &*found->begin() : &*found;
}

std::string TextIn(const json& object, const char* name) {
  const json* const member = Member(object, name);
  return member != nullptr && member->is_string() ? member->get<std::string>() : "";
}

std::optional<std::int64_t> IntegerIn(const json& object, const char* name) {
  const json* const member = Member(object, name);
  if (member == nullptr || !member->is_number_integer()) return std::nullopt;
  if (member->is_number_unsigned() && member->get<std::uint64_t>() > INT64_MAX) {
    return std::nullopt;
  }
  return member->get<std::int64_t>();
}

std::uint32_t CountIn(const json& object, const char* name) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(IntegerIn(object, name).value_or(0), 0, UINT32_MAX));
}

absl::Time TimeOf(std::int64_t millis) { return absl::FromUnixMillis(millis); }

// Counters by name, from the groups that all jobs have. Counters of file systems are in one entry.
class Counters {
 public:
  explicit Counters(const json& fields) {
    const auto found = fields.find("counters");
    if (found == fields.end() || !found->is_object()) return;
    // A value of a union is in an object with its type: {"...JhCounters": {"groups": ...}}.
    const json* counters = &*found;
    if (counters->size() == 1 && counters->begin()->is_object()) counters = &*counters->begin();
    const auto groups = counters->find("groups");
    if (groups == counters->end() || !groups->is_array()) return;
    for (const json& group : *groups) AddGroup(group);
  }

  std::uint64_t operator[](const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? 0 : found->second;
  }

 private:
  void AddGroup(const json& group) {
    if (!group.is_object()) return;
    const std::string name = TextIn(group, "name");
    const auto counts = group.find("counts");
    if (counts == group.end() || !counts->is_array()) return;
    std::string prefix;
    if (name.ends_with("FileInputFormatCounter")) prefix = "INPUT_";
    if (name.ends_with("FileOutputFormatCounter")) prefix = "OUTPUT_";
    const bool is_of_files = name.ends_with("FileSystemCounter");
    const bool is_of_tasks = name.ends_with(".TaskCounter");
    if (prefix.empty() && !is_of_files && !is_of_tasks) return;
    for (const json& count : *counts) {
      if (!count.is_object()) continue;
      const std::int64_t value = IntegerIn(count, "value").value_or(0);
      std::string counter = TextIn(count, "name");
      // Temporary files on the host's disk are neither input nor output.
      if (is_of_files && counter.starts_with("FILE_")) continue;
      if (is_of_files && counter.ends_with("_BYTES_READ")) counter = "FILES_BYTES_READ";
      if (is_of_files && counter.ends_with("_BYTES_WRITTEN")) counter = "FILES_BYTES_WRITTEN";
      values_[prefix + counter] += static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
    }
  }

  std::map<std::string, std::uint64_t> values_;
};

std::uint64_t FirstOf(std::uint64_t one, std::uint64_t other) { return one > 0 ? one : other; }

std::uint64_t KeyOf(const AttemptId& id) {
  // Attempts of a restarted application master have numbers from 1,000 on.
  constexpr unsigned kIndexBits = 32;
  constexpr unsigned kAttemptBits = 31;
  return (std::uint64_t{id.stage} << (kIndexBits + kAttemptBits)) ^
         (std::uint64_t{id.attempt} << kIndexBits) ^ id.index;
}

}  // namespace

// --- reading ----------------------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<HistoryLog>> HistoryLog::Open(const std::string& path,
                                                             IsStopped is_stopped) {
  std::error_code error;
  // Reads of other files may fail or never end.
  if (!std::filesystem::is_regular_file(path, error) && !error) {
    return absl::InvalidArgumentError(fmt::format("{}: not a regular file", path));
  }
  auto input = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*input) {
    return absl::UnavailableError(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  auto file = HistoryFile::Open(std::move(input), std::move(is_stopped));
  absl::Status status = file.status();
  auto log = std::unique_ptr<HistoryLog>(new HistoryLog);
  if (status.ok()) {
    // The name of the file begins with the id of the job.
    const std::string name = std::filesystem::path(path).filename().string();
    const std::string id = name.substr(0, name.find_first_of("-."));
    Configuration configuration;
    if (IsJobId(id)) {
      configuration = ReadConfiguration(
          (std::filesystem::path(path).parent_path() / (id + "_conf.xml")).string());
    }
    status = log->ReadAll(**file, configuration);
  }
  const auto of_file = [&](const absl::Status& fault) {
    return absl::Status(fault.code(), fmt::format("{}: {}", path, std::string(fault.message())));
  };
  if (!status.ok()) return of_file(status);
  if (!log->damage_.ok()) log->damage_ = of_file(log->damage_);
  return log;
}

absl::StatusOr<std::unique_ptr<HistoryLog>> HistoryLog::Read(std::unique_ptr<std::istream> input,
                                                             const Configuration& configuration) {
  auto file = HistoryFile::Open(std::move(input));
  if (!file.ok()) return file.status();
  auto log = std::unique_ptr<HistoryLog>(new HistoryLog);
  absl::Status status = log->ReadAll(**file, configuration);
  if (!status.ok()) return status;
  return log;
}

absl::Status HistoryLog::ReadAll(HistoryFile& file, const Configuration& configuration) {
  for (;;) {
    const auto record = file.Next();
    if (absl::IsCancelled(record.status())) return record.status();
    damage_ = record.status();
    if (!record.ok() || !*record) break;
    if (absl::Status observed = Observe(**record); !observed.ok()) return observed;
  }
  broken_lines_ = file.broken_lines();
  first_broken_line_ = file.first_broken_line();
  is_cut_ = file.is_cut();
  if (job_id_.empty() && !damage_.ok()) return damage_;
  if (job_id_.empty()) {
    std::vector<std::string> faults = Remarks(0);
    faults.insert(faults.begin(), "the history has no JOB_SUBMITTED event, so its job is unknown");
    return absl::InvalidArgumentError(absl::StrJoin(faults, "; "));
  }
  CorrectTimes();
  const std::uint32_t most = wire::EventLimits().task_index_max;
  if (std::max(map_count_, reduce_count_) > most) {
    return absl::InvalidArgumentError(fmt::format(
        "the history has {} and {}; at most {} of each kind are supported",
        text::Counted(map_count_, "map task"), text::Counted(reduce_count_, "reduce task"), most));
  }
  job_.engine = "hadoop";
  job_.workflow = WorkflowOf(configuration, job_.name);
  ScaleFetches();
  Plan();
  return absl::OkStatus();
}

absl::Status HistoryLog::Observe(const HistoryRecord& record) {
  const std::string_view type = record.type;
  const json& fields = record.fields;
  if (type == "JOB_SUBMITTED") {
    ObserveSubmission(fields);
  } else if (type == "AM_STARTED") {
    const std::string id = TextIn(fields, "applicationAttemptId");
    job_.application_master_attempt =
        std::max(job_.application_master_attempt,
                 ParseNumber(std::string_view(id).substr(id.rfind('_') + 1)).value_or(0));
  } else if (type == "JOB_INITED") {
    // A restarted application master may initialize the job again.
    if (!is_inited_) inited_ = MillisIn(fields, "launchTime").value_or(0);
    is_inited_ = true;
    map_count_ = CountIn(fields, "totalMaps");
    reduce_count_ = CountIn(fields, "totalReduces");
  } else if (type == "JOB_QUEUE_CHANGED") {
    job_.queue = TextIn(fields, "jobQueueName");
  } else if (type == "MAP_ATTEMPT_STARTED" || type == "REDUCE_ATTEMPT_STARTED") {
    return ObserveStart(fields);
  } else if (type == "MAP_ATTEMPT_FINISHED" || type == "REDUCE_ATTEMPT_FINISHED") {
    ObserveEnd(fields, /*has_succeeded=*/true, /*was_killed=*/false);
  } else if (type == "MAP_ATTEMPT_FAILED" || type == "REDUCE_ATTEMPT_FAILED") {
    ObserveEnd(fields, /*has_succeeded=*/false, /*was_killed=*/false);
  } else if (type == "MAP_ATTEMPT_KILLED" || type == "REDUCE_ATTEMPT_KILLED") {
    ObserveEnd(fields, /*has_succeeded=*/false, /*was_killed=*/true);
  } else if (type == "TASK_FAILED") {
    ObserveTaskFailure(fields);
  } else if (type == "JOB_FINISHED") {
    ObserveJobEnd(fields, /*has_succeeded=*/true);
  } else if (type == "JOB_FAILED" || type == "JOB_KILLED" || type == "JOB_ERROR") {
    ObserveJobEnd(fields, /*has_succeeded=*/false);
  }
  return absl::OkStatus();
}

// Returns a time, or nullopt if it is missing or impossible.
std::optional<std::int64_t> HistoryLog::MillisIn(const json& fields, const char* name) const {
  const std::optional<std::int64_t> millis = IntegerIn(fields, name);
  if (!millis || *millis <= 0) return std::nullopt;
  const bool is_late = submitted_ > 0 && *millis - submitted_ > kLifeMillisMax;
  return *millis > kMillisMax || is_late ? std::nullopt : millis;
}

// A restarted application master repeats the events of its predecessor.
void HistoryLog::ObserveSubmission(const json& fields) {
  std::string id = TextIn(fields, "jobid");
  const std::optional<std::int64_t> at = MillisIn(fields, "submitTime");
  if (!IsJobId(id) || !at || (!job_id_.empty() && id != job_id_)) {
    ++contradictions_;
    return;
  }
  if (!job_id_.empty()) return;
  job_id_ = std::move(id);
  submitted_ = *at;
  job_.name = TextIn(fields, "jobName");
  job_.user = TextIn(fields, "userName");
  job_.queue = TextIn(fields, "jobQueueName");
  job_.application_id = "application_" + job_id_.substr(job_id_.find('_') + 1);
  job_.submitted_at = TimeOf(submitted_);
}

std::uint32_t HistoryLog::HostNamed(const std::string& name) {
  if (name.empty()) return kNoHost;
  std::string cut = text::Cut(name, kHostBytesMax);
  const auto known = host_numbers_.find(cut);
  if (known != host_numbers_.end()) return known->second;
  if (hosts_.size() >= kHostsMax) return kNoHost;
  const auto number = static_cast<std::uint32_t>(hosts_.size());
  hosts_.push_back({cut});
  host_numbers_.emplace(std::move(cut), number);
  return number;
}

// Returns the attempt of the event, or null if its id is wrong or its start is missing.
HistoryLog::Attempt* HistoryLog::Find(const json& fields) {
  const auto id = ParseAttemptId(TextIn(fields, "attemptId"));
  const auto place = id ? places_.find(KeyOf(*id)) : places_.end();
  return place == places_.end() ? nullptr : &attempts_[place->second];
}

absl::Status HistoryLog::ObserveStart(const json& fields) {
  const auto id = ParseAttemptId(TextIn(fields, "attemptId"));
  const std::optional<std::int64_t> at = MillisIn(fields, "startTime");
  if (!id || !at) {
    ++contradictions_;
    return absl::OkStatus();
  }
  const auto number = static_cast<std::uint32_t>(attempts_.size());
  if (!places_.try_emplace(KeyOf(*id), number).second) return absl::OkStatus();
  if (attempts_.size() >= kAttemptsMax) {
    return absl::ResourceExhaustedError(
        fmt::format("the history has more than {} task attempts", kAttemptsMax));
  }
  Attempt& attempt = attempts_.emplace_back();
  attempt.id = *id;
  attempt.started = *at;
  attempt.host = HostNamed(TextIn(fields, "trackerName"));
  attempt.is_speculative = TextIn(fields, "avataar") == "SPECULATIVE";
  return absl::OkStatus();
}

void HistoryLog::ObserveEnd(const json& fields, bool has_succeeded, bool was_killed) {
  Attempt* const attempt = Find(fields);
  const std::optional<std::int64_t> at = MillisIn(fields, "finishTime");
  // An attempt may be killed before it gets a container.
  if (attempt == nullptr && !has_succeeded) return;
  if (attempt == nullptr || !at) {
    ++contradictions_;
    return;
  }
  const bool had_ended = attempt->end != AttemptState::kStarted;
  if (had_ended) {
    // The output of a finished map task may be lost later, for example with its host.
    const bool is_loss = attempt->end == AttemptState::kFinished && !has_succeeded;
    if (is_loss && attempt->lost == 0) attempt->lost = *at;
    return;
  }
  attempt->ended = *at;
  attempt->end = has_succeeded ? AttemptState::kFinished
                 : was_killed  ? AttemptState::kKilled
                               : AttemptState::kFailed;
  if (attempt->host == kNoHost) attempt->host = HostNamed(TextIn(fields, "hostname"));
  if (attempt->id.stage == kReduceStage) {
    attempt->fetched = MillisIn(fields, "shuffleFinishTime").value_or(0);
    attempt->sorted = MillisIn(fields, "sortFinishTime").value_or(0);
  }
  AddCounters(fields, *attempt);
  if (has_succeeded || failure_bytes_ >= kFailuresBytesMax) return;
  attempt->failure = text::Cut(TextIn(fields, "error"), kFailureBytesMax);
  failure_bytes_ += attempt->failure.size();
}

void HistoryLog::AddCounters(const json& fields, Attempt& attempt) {
  const Counters counters(fields);
  const bool is_map = attempt.id.stage == kMapStage;
  attempt.cpu_millis = static_cast<std::int64_t>(
      std::min<std::uint64_t>(counters["CPU_MILLISECONDS"], kLifeMillisMax));
  attempt.collection_millis = static_cast<std::int64_t>(
      std::min<std::uint64_t>(counters["GC_TIME_MILLIS"], kLifeMillisMax));
  if (is_map) {
    attempt.input_bytes = FirstOf(counters["INPUT_BYTES_READ"], counters["FILES_BYTES_READ"]);
    attempt.input_records = counters["MAP_INPUT_RECORDS"];
    // Without a combiner, these are the bytes of the pairs. The combiner's output is known only in
    // the form in which it is stored.
    attempt.output_bytes = counters["COMBINE_INPUT_RECORDS"] > 0
                               ? counters["MAP_OUTPUT_MATERIALIZED_BYTES"]
                               : counters["MAP_OUTPUT_BYTES"];
    return;
  }
  attempt.input_bytes = counters["REDUCE_SHUFFLE_BYTES"];
  attempt.input_records = counters["REDUCE_INPUT_RECORDS"];
  attempt.groups = counters["REDUCE_INPUT_GROUPS"];
  attempt.output_bytes = FirstOf(counters["OUTPUT_BYTES_WRITTEN"], counters["FILES_BYTES_WRITTEN"]);
}

void HistoryLog::ObserveTaskFailure(const json& fields) {
  const auto failed = ParseAttemptId(TextIn(fields, "failedDueToAttempt"));
  const auto task = failed ? failed : ParseTaskId(TextIn(fields, "taskid"));
  if (!task) {
    ++contradictions_;
    return;
  }
  const auto place = places_.find(KeyOf(*task));
  if (place == places_.end()) return;  // Without an attempt, the end of the job shows the failure.
  Attempt& attempt = attempts_[place->second];
  attempt.given_up = MillisIn(fields, "finishTime").value_or(attempt.ended);
}

void HistoryLog::ObserveJobEnd(const json& fields, bool has_succeeded) {
  const std::optional<std::int64_t> at = MillisIn(fields, "finishTime");
  contradictions_ += at ? 0 : 1;
  if (!at || end_) return;
  end_ = {.at = *at};
  if (has_succeeded) return;
  end_->outcome =
      TextIn(fields, "jobStatus") == "KILLED" ? JobOutcome::kKilled : JobOutcome::kFailed;
  end_->message = TextIn(fields, "diagnostics");
  for (const Attempt& attempt : attempts_) {
    if (end_->message.empty() && attempt.given_up > 0) end_->message = attempt.failure;
  }
}

// --- order ------------------------------------------------------------------------------------

// Corrects times that precede their causes, and adds tasks that the history has not announced.
void HistoryLog::CorrectTimes() {
  inited_ = std::max(inited_, submitted_);
  for (Attempt& attempt : attempts_) {
    // The clocks of the submitting client and of the application master may differ.
    attempt.started = std::max(attempt.started, submitted_);
    if (attempt.end != AttemptState::kStarted && attempt.ended < attempt.started) {
      ++contradictions_;
      attempt.ended = attempt.started;
    }
    if (attempt.lost > 0) attempt.lost = std::max(attempt.lost, attempt.ended);
    for (std::int64_t* const at : {&attempt.fetched, &attempt.sorted}) {
      if (*at < attempt.started || *at > attempt.ended) *at = 0;
    }
    std::uint32_t& count = attempt.id.stage == kMapStage ? map_count_ : reduce_count_;
    count = std::max(count, std::min(attempt.id.index, UINT32_MAX - 1) + 1);
  }
}

// Converts the fetched bytes of reduce tasks, which may be compressed and have headers, to bytes of
// pairs. Their sum is the output of all map tasks. Does nothing if not all tasks have finished.
void HistoryLog::ScaleFetches() {
  double emitted = 0;
  double fetched = 0;
  std::size_t reduces = 0;
  for (const Attempt& attempt : attempts_) {
    if (attempt.end != AttemptState::kFinished || attempt.lost > 0) continue;
    const bool is_map = attempt.id.stage == kMapStage;
    if (is_map) emitted += static_cast<double>(attempt.output_bytes);
    if (!is_map) fetched += static_cast<double>(attempt.input_bytes);
    reduces += is_map ? 0 : 1;
  }
  if (!(emitted > 0) || !(fetched > 0) || reduces < reduce_count_) return;
  for (Attempt& attempt : attempts_) {
    if (attempt.id.stage != kReduceStage) continue;
    const double bytes = static_cast<double>(attempt.input_bytes) * (emitted / fetched);
    constexpr double kBytesMax = 9e18;
    attempt.input_bytes = static_cast<std::uint64_t>(std::llround(std::min(bytes, kBytesMax)));
  }
}

// Orders all steps by time. At the same time, an attempt that ends frees its slot before another
// attempt starts, but an attempt without a duration starts before it ends.
void HistoryLog::Plan() {
  enum : std::uint8_t {
    kOpens,
    kOpensStage,
    kLoses,
    kStartsAndEnds,
    kFetchesAndEnds,
    kSortsAndEnds,
    kEnds,
    kGivesUp,
    kStarts,
    kFetches,
    kSorts,
    kCloses
  };
  steps_.push_back({submitted_, kOpens, StepKind::kOpenJob, 0});
  std::int64_t maps_end = 0;
  std::int64_t first_reduce = INT64_MAX;
  std::int64_t last = inited_;
  std::int64_t last_finished = inited_;
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) {
    const Attempt& attempt = attempts_[i];
    const bool has_ended = attempt.end != AttemptState::kStarted;
    const auto rank = [&](std::int64_t at, std::uint8_t ending, std::uint8_t other) {
      return has_ended && at == attempt.ended ? ending : other;
    };
    steps_.push_back(
        {attempt.started, rank(attempt.started, kStartsAndEnds, kStarts), StepKind::kStart, i});
    if (attempt.fetched > 0) {
      steps_.push_back(
          {attempt.fetched, rank(attempt.fetched, kFetchesAndEnds, kFetches), StepKind::kFetch, i});
    }
    if (attempt.sorted > 0) {
      steps_.push_back(
          {attempt.sorted, rank(attempt.sorted, kSortsAndEnds, kSorts), StepKind::kSort, i});
    }
    if (has_ended) steps_.push_back({attempt.ended, kEnds, StepKind::kEnd, i});
    if (attempt.lost > 0) {
      steps_.push_back(
          {attempt.lost, attempt.lost == attempt.ended ? kGivesUp : kLoses, StepKind::kLose, i});
    }
    if (attempt.given_up > 0) {
      steps_.push_back({std::max(attempt.given_up, attempt.ended), kGivesUp, StepKind::kGiveUp, i});
    }
    if (attempt.end == AttemptState::kFinished) {
      last_finished = std::max(last_finished, attempt.ended);
    }
    last = std::max({last, attempt.started, attempt.ended, attempt.lost, attempt.given_up});
    const bool is_map = attempt.id.stage == kMapStage;
    if (is_map) maps_end = std::max(maps_end, attempt.ended);
    if (!is_map) first_reduce = std::min(first_reduce, attempt.started);
  }
  if (map_count_ > 0) steps_.push_back({inited_, kOpensStage, StepKind::kOpenStage, kMapStage});
  // Reduce tasks do not wait for slots before some map tasks have ended, but how many is unknown.
  if (reduce_count_ > 0 && first_reduce < INT64_MAX) {
    const std::int64_t at = maps_end > 0 ? std::min(first_reduce, maps_end) : first_reduce;
    steps_.push_back({std::max(at, inited_), kOpensStage, StepKind::kOpenStage, kReduceStage});
  }
  if (end_ && end_->at < last_finished) {
    ++contradictions_;
    if (end_->at < inited_) end_->at = last;
  }
  if (end_) steps_.push_back({std::max(end_->at, last), kCloses, StepKind::kCloseJob, 0});
  std::ranges::sort(steps_, {},
                    [](const Step& step) { return std::tuple(step.at, step.rank, step.index); });
  CountHostSlots();
}

void HistoryLog::CountHostSlots() {
  std::vector<std::uint32_t> running(hosts_.size());
  for (const Step& step : steps_) {
    if (step.kind != StepKind::kStart && step.kind != StepKind::kEnd) continue;
    const std::uint32_t host = attempts_[step.index].host;
    if (host == kNoHost) continue;
    running[host] += step.kind == StepKind::kStart ? 1 : -1;
    hosts_[host].slots = std::max(hosts_[host].slots, running[host]);
  }
}

// --- events -----------------------------------------------------------------------------------

void HistoryLog::Emit(std::int64_t at, EventBody body) {
  Event event = {.job_id = job_id_,
                 .source_id = kSource,
                 .sequence = sequence_ + 1,
                 .sent_at = TimeOf(at),
                 .body = std::move(body)};
  auto checked = wire::CheckEvent(event, event.sent_at);
  if (!checked.ok()) {
    ++contradictions_;
    return;
  }
  ++sequence_;
  events_.push_back(*std::move(checked));
}

AttemptChanged HistoryLog::ChangeOf(const Attempt& attempt, AttemptState state, std::int64_t at) {
  AttemptChanged changed = {.attempt = attempt.id,
                            .state = state,
                            .at = TimeOf(at),
                            .speculative = attempt.is_speculative};
  if (attempt.host != kNoHost) changed.executor = attempt.host;
  // The size of the input of a reduce task is known once the task has fetched all of it.
  const bool is_known = attempt.id.stage == kMapStage || state != AttemptState::kStarted;
  if (is_known && attempt.input_bytes > 0) changed.input_bytes = attempt.input_bytes;
  if (is_known && attempt.input_records > 0) changed.input_records = attempt.input_records;
  return changed;
}

void HistoryLog::OpenStage(std::uint32_t stage, std::int64_t at) {
  const bool is_map = stage == kMapStage;
  Emit(at, StageOpened{.stage = stage,
                       .kind = is_map ? StageKind::kMap : StageKind::kReduce,
                       .task_count = is_map ? map_count_ : reduce_count_,
                       .task_bytes = is_map ? SplitBytes() : std::vector<std::uint64_t>(),
                       .opened_at = TimeOf(at)});
  if (!is_map) return;
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    Emit(at, ExecutorOpened{.executor = i, .host = hosts_[i].name, .slots = hosts_[i].slots});
  }
}

// Returns the input bytes of each map task, or an empty list if the history does not have them all.
// A running application master reports them when the job begins.
std::vector<std::uint64_t> HistoryLog::SplitBytes() const {
  std::vector<std::uint64_t> bytes(std::min<std::size_t>(map_count_, attempts_.size()));
  if (bytes.size() < map_count_) return {};
  for (const Attempt& attempt : attempts_) {
    const bool is_map = attempt.id.stage == kMapStage && attempt.end == AttemptState::kFinished;
    if (is_map && attempt.id.index < map_count_) bytes[attempt.id.index] = attempt.input_bytes;
  }
  if (std::ranges::find(bytes, 0U) != bytes.end()) return {};
  return bytes;
}

void HistoryLog::End(const Attempt& attempt) {
  TimeUse time;
  if (attempt.cpu_millis > 0) time.cpu = absl::Milliseconds(attempt.cpu_millis);
  if (attempt.collection_millis > 0) {
    time.waits[WaitReason::kMemory] = absl::Milliseconds(attempt.collection_millis);
  }
  const bool has_succeeded = attempt.end == AttemptState::kFinished;
  const bool is_map = attempt.id.stage == kMapStage;
  if (is_map || has_succeeded) {
    Emit(attempt.ended, TaskHeartbeat{.attempt = attempt.id,
                                      .bytes_done = has_succeeded ? attempt.input_bytes : 0,
                                      .records_done = is_map ? attempt.input_records : 0,
                                      .bytes_emitted = attempt.output_bytes,
                                      .time = time});
  }
  if (!is_map && has_succeeded && attempt.sorted > 0) {
    Emit(attempt.ended,
         ReduceProfile{.attempt = attempt.id,
                       .last_group_finished_at = TimeOf(attempt.ended),
                       .groups_done = attempt.groups,
                       .bytes_done = attempt.input_bytes,
                       .reduce_time = absl::Milliseconds(attempt.ended - attempt.sorted),
                       .time = time});
  }
  AttemptChanged ended = ChangeOf(attempt, attempt.end, attempt.ended);
  ended.failure = attempt.failure;
  Emit(attempt.ended, std::move(ended));
}

void HistoryLog::Perform(const Step& step) {
  switch (step.kind) {
    case StepKind::kOpenJob:
      job_.stages = is_inited_ || !attempts_.empty() ? MapReduceStages(map_count_, reduce_count_)
                                                     : std::vector<StageOpened>();
      return Emit(step.at, job_);
    case StepKind::kOpenStage:
      return OpenStage(step.index, step.at);
    case StepKind::kStart:
      return Emit(step.at, ChangeOf(attempts_[step.index], AttemptState::kStarted, step.at));
    case StepKind::kFetch:
      return Emit(step.at, TaskHeartbeat{.attempt = attempts_[step.index].id,
                                         .bytes_done = attempts_[step.index].input_bytes});
    case StepKind::kSort:
      return Emit(step.at, ChangeOf(attempts_[step.index], AttemptState::kShuffled, step.at));
    case StepKind::kEnd:
      return End(attempts_[step.index]);
    case StepKind::kLose:
      return Emit(step.at, ChangeOf(attempts_[step.index], AttemptState::kObsolete, step.at));
    case StepKind::kGiveUp: {
      const Attempt& attempt = attempts_[step.index];
      if (attempt.end != AttemptState::kFailed && attempt.end != AttemptState::kKilled) return;
      AttemptChanged changed = ChangeOf(attempt, attempt.end, attempt.ended);
      changed.task_failed = true;
      return Emit(step.at, std::move(changed));
    }
    case StepKind::kCloseJob:
      return Emit(
          step.at,
          JobClosed{.outcome = end_->outcome, .message = end_->message, .at = TimeOf(end_->at)});
  }
}

absl::StatusOr<std::optional<Event>> HistoryLog::Next() {
  while (events_.empty() && next_step_ < steps_.size()) Perform(steps_[next_step_++]);
  if (events_.empty()) {
    if (!damage_.ok()) return damage_;
    return std::nullopt;
  }
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

std::vector<std::string> HistoryLog::Remarks(std::uint64_t rejected) const {
  std::vector<std::string> remarks;
  if (is_cut_) {
    remarks.emplace_back("the file ends within an event");
  } else if (!end_ && damage_.ok()) {
    remarks.emplace_back("the history file does not contain the end of the job");
  }
  if (broken_lines_ == 1) {
    remarks.push_back(fmt::format("line {} is not an event", first_broken_line_));
  } else if (broken_lines_ > 1) {
    remarks.push_back(fmt::format("{} lines are not events; the first is line {}", broken_lines_,
                                  first_broken_line_));
  }
  if (contradictions_ + rejected > 0) {
    remarks.push_back(
        fmt::format("{} skipped or corrected",
                    text::Counted(contradictions_ + rejected, "contradictory event")));
  }
  return remarks;
}

}  // namespace tidemark::hadoop
