#include "master/store/history.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/hash/hash.h"
#include "master/forecast/dag/followed_job.h"
#include "master/store/disk.h"
#include "master/store/log_record.h"
#include "tidemark/storage/v1/event_log.pb.h"

namespace tidemark::store {
namespace {

constexpr int kVersion = 11;
// Maximum number of newest runs that are searched for runs of other names. Limits processor time.
constexpr std::int64_t kRunsReadMax = 1024;

// The schema of version 1. A new file gets this schema, then every change below.
constexpr const char* kSchema = R"(
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL,
  name TEXT NOT NULL,
  engine TEXT NOT NULL,
  state INTEGER NOT NULL,
  started_at INTEGER NOT NULL,        -- nanoseconds since 1970, as all instants
  ended_at INTEGER NOT NULL,
  map_tasks INTEGER NOT NULL,
  reduce_tasks INTEGER NOT NULL,
  map_input_bytes INTEGER NOT NULL,
  map_output_bytes INTEGER NOT NULL,
  reduce_groups INTEGER NOT NULL,
  reduce_input_bytes INTEGER NOT NULL,
  reduce_output_bytes INTEGER NOT NULL,
  reduce_seconds REAL NOT NULL,       -- inside reduce functions
  UNIQUE (job_id, started_at));
CREATE INDEX job_by_name ON job (name, ended_at);
CREATE INDEX job_by_age ON job (ended_at);
CREATE TABLE phase (
  job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  phase INTEGER NOT NULL,             -- 0: map, 1: shuffle, 2: reduce
  started_at INTEGER,
  finished_at INTEGER,
  PRIMARY KEY (job, phase)) WITHOUT ROWID;
CREATE TABLE group_bin (              -- finished key groups by logarithm of size
  job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  bin INTEGER NOT NULL,
  groups INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  seconds REAL NOT NULL,
  seconds_squared REAL NOT NULL,
  emitted_bytes INTEGER NOT NULL,
  PRIMARY KEY (job, bin)) WITHOUT ROWID;
CREATE TABLE indicator_error (        -- points of progress, 0..100
  job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  position INTEGER NOT NULL,
  indicator TEXT NOT NULL,
  reduce_avg REAL NOT NULL,
  reduce_max REAL NOT NULL,
  job_avg REAL NOT NULL,
  job_max REAL NOT NULL,
  interval_coverage REAL,
  PRIMARY KEY (job, position)) WITHOUT ROWID;
)";

// Added in version 2.
constexpr const char* kProfiles = R"(
CREATE TABLE job_profile (            -- [BOE] Table 1, as measured; 0: not known
  job INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
  slots INTEGER NOT NULL,
  split_bytes REAL NOT NULL,
  map_selectivity REAL NOT NULL,
  reduce_selectivity REAL NOT NULL,
  map_task_seconds REAL NOT NULL,
  reduce_task_seconds REAL NOT NULL,  -- from the end of the last map task on
  map_task_variation REAL NOT NULL,   -- standard deviation over mean
  reduce_task_variation REAL NOT NULL);
)";

// Added in version 3.
constexpr const char* kNodes = R"(
CREATE TABLE node (                   -- [BOE] Table 1, by `tidemark profile node`; bytes a second
  host TEXT PRIMARY KEY,
  measured_at INTEGER NOT NULL,
  cores REAL NOT NULL,
  disk_read REAL NOT NULL,
  disk_write REAL NOT NULL,
  file_system_read REAL NOT NULL,
  file_system_write REAL NOT NULL,
  network REAL NOT NULL) WITHOUT ROWID;
)";

// Added in version 4. The name spaces of older runs are unknown.
constexpr const char* kNameSpaces = R"(
ALTER TABLE job ADD COLUMN name_space TEXT NOT NULL DEFAULT '*';
DROP INDEX job_by_name;
CREATE INDEX job_by_name ON job (name, ended_at, job_id, name_space);
)";

// Added in version 5.
constexpr const char* kRunProfiles = R"(
CREATE TABLE run_profile (            -- of a job with other stages, or with named key groups
  job INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE,
  stages INTEGER NOT NULL,            -- 0 for MapReduce
  profile BLOB NOT NULL);             -- tidemark.storage.v1.LoggedRunProfile
)";

// Changed in version 6. States and stages have the numbers of snapshots, and errors of a reduce
// stage that had no update are NULL.
constexpr const char* kStages = R"(
UPDATE job SET state = state + 2;     -- tidemark.v1.JobState
CREATE TABLE stage (                  -- of MapReduce
  job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  stage INTEGER NOT NULL,
  kind INTEGER NOT NULL,              -- tidemark.v1.StageKind
  started_at INTEGER,
  ended_at INTEGER,
  PRIMARY KEY (job, stage)) WITHOUT ROWID;
INSERT INTO stage SELECT job, phase / 2, phase / 2 + 1, started_at, finished_at FROM phase
  WHERE phase != 1;
DROP TABLE phase;
ALTER TABLE indicator_error RENAME TO errors_before;
CREATE TABLE indicator_error (        -- points of progress, 0..100
  job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,
  position INTEGER NOT NULL,
  indicator TEXT NOT NULL,
  reduce_avg REAL,
  reduce_max REAL,
  job_avg REAL NOT NULL,
  job_max REAL NOT NULL,
  interval_coverage REAL,
  PRIMARY KEY (job, position)) WITHOUT ROWID;
INSERT INTO indicator_error SELECT * FROM errors_before;
UPDATE indicator_error SET reduce_avg = NULL, reduce_max = NULL
  WHERE reduce_max = 0 AND interval_coverage IS NULL;
DROP TABLE errors_before;
)";

// Added in version 7.
constexpr const char* kWidths = R"(
ALTER TABLE indicator_error ADD COLUMN interval_width REAL;  -- relative to the remaining time
)";

// Added in version 8.
constexpr const char* kScores = R"(
ALTER TABLE job ADD COLUMN interval_score REAL;  -- half-widths, of the shown progress
)";

// Added in version 9.
constexpr const char* kProcessorTimes = R"(
ALTER TABLE job_profile ADD COLUMN map_cpu_seconds REAL NOT NULL DEFAULT 0;     -- mean of a task
ALTER TABLE job_profile ADD COLUMN reduce_cpu_seconds REAL NOT NULL DEFAULT 0;  -- 0: not known
)";

// Added in version 10.
constexpr const char* kSortTimes = R"(
ALTER TABLE job_profile ADD COLUMN reduce_sort_seconds REAL NOT NULL DEFAULT 0;  -- mean of a task
)";

// Added in version 11.
constexpr const char* kStartTimes = R"(
ALTER TABLE job_profile ADD COLUMN map_start_cpu_seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE job_profile ADD COLUMN reduce_start_cpu_seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE job_profile ADD COLUMN slot_idle_seconds REAL NOT NULL DEFAULT 0;  -- median
PRAGMA user_version = 11;
)";

absl::Status Failed(sqlite3* database, const std::string& path) {
  const int code = sqlite3_errcode(database) & 0xff;
  const std::string message = fmt::format("history {}: {}", path, sqlite3_errmsg(database));
  if (code == SQLITE_FULL) return absl::ResourceExhaustedError(message);
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) return absl::DataLossError(message);
  return absl::UnavailableError(message);
}

// One statement. Its parameters must be bound in order before the first step. SQLite's integers are
// signed, but sizes beyond 2^63 convert back and forth without loss.
class Statement {
 public:
  Statement(sqlite3* database, const std::string& path, const char* sql)
      : database_(database), path_(path) {
    sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(std::int64_t value) {
    sqlite3_bind_int64(statement_, ++bound_, value);
    return *this;
  }
  Statement& Bind(std::uint64_t value) { return Bind(static_cast<std::int64_t>(value)); }
  Statement& Bind(std::uint32_t value) { return Bind(static_cast<std::int64_t>(value)); }
  Statement& Bind(double value) {
    sqlite3_bind_double(statement_, ++bound_, value);
    return *this;
  }
  Statement& Bind(const std::string& value) {
    sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
    return *this;
  }
  struct Bytes {
    std::string bytes;
  };
  Statement& Bind(const Bytes& value) {
    sqlite3_bind_blob64(statement_, ++bound_, value.bytes.data(), value.bytes.size(),
                        SQLITE_TRANSIENT);
    return *this;
  }
  template <typename T>
  Statement& Bind(const std::optional<T>& value) {
    if (value) return Bind(*value);
    sqlite3_bind_null(statement_, ++bound_);
    return *this;
  }

  // Runs a statement that returns no rows.
  absl::Status Run() {
    const absl::StatusOr<bool> row = Next();
    return row.status();
  }
  // Advances to the next row. Returns false at the end.
  absl::StatusOr<bool> Next() {
    if (statement_ == nullptr) return Failed(database_, path_);
    switch (sqlite3_step(statement_)) {
      case SQLITE_ROW:
        column_ = 0;
        return true;
      case SQLITE_DONE:
        return false;
      default:
        return Failed(database_, path_);
    }
  }

  // Reads the columns of the row in order.
  std::int64_t Integer() { return sqlite3_column_int64(statement_, column_++); }
  std::uint64_t Unsigned() { return static_cast<std::uint64_t>(Integer()); }
  double Real() { return sqlite3_column_double(statement_, column_++); }
  std::string Text() {
    const auto* const text =
        reinterpret_cast<const char*>(sqlite3_column_text(statement_, column_));
    const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column_++));
    return text == nullptr ? "" : std::string(text, bytes);
  }
  bool IsNull() const { return sqlite3_column_type(statement_, column_) == SQLITE_NULL; }
  void Skip() { ++column_; }

 private:
  sqlite3* const database_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int column_ = 0;
};

std::optional<std::int64_t> Nanos(const std::optional<absl::Time>& at) {
  if (!at) return std::nullopt;
  return absl::ToUnixNanos(*at);
}

std::optional<double> RealOrNone(Statement& row) {
  if (!row.IsNull()) return row.Real();
  row.Skip();
  return std::nullopt;
}

std::optional<absl::Time> Instant(Statement& row) {
  if (!row.IsNull()) return absl::FromUnixNanos(row.Integer());
  row.Skip();
  return std::nullopt;
}

}  // namespace

History::History(std::string path, sqlite3* database, const HistoryOptions& options)
    : path_(std::move(path)), options_(options), database_(database) {}

History::~History() { sqlite3_close(database_); }

absl::StatusOr<std::unique_ptr<History>> History::Open(const std::string& path,
                                                       const HistoryOptions& options) {
  MakePrivateFile(path);  // SQLite creates further files with the same mode.
  sqlite3* database = nullptr;
  const int opened = sqlite3_open_v2(
      path.c_str(), &database,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  std::unique_ptr<History> history(new History(path, database, options));
  if (opened != SQLITE_OK) return Failed(database, path);
  if (absl::Status status = history->Prepare(); !status.ok()) return status;
  return history;
}

absl::Status History::Execute(const char* statements) const {
  const bool done = sqlite3_exec(database_, statements, nullptr, nullptr, nullptr) == SQLITE_OK;
  return done ? absl::OkStatus() : Failed(database_, path_);
}

absl::StatusOr<std::int64_t> History::Number(const char* query) const {
  Statement statement(database_, path_, query);
  const absl::StatusOr<bool> row = statement.Next();
  if (!row.ok()) return row.status();
  return *row ? statement.Integer() : 0;
}

absl::Status History::Prepare() const {
  sqlite3_busy_timeout(database_, 1000);
  // Returns the pages of removed jobs to the file system.
  if (absl::Status status = Execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
                                    "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;");
      !status.ok()) {
    return status;
  }
  const absl::StatusOr<std::int64_t> version = Number("PRAGMA user_version");
  if (!version.ok()) return version.status();
  if (*version > kVersion) {
    return absl::FailedPreconditionError(
        fmt::format("history {}: written by a newer version ({}; this version reads {})", path_,
                    *version, kVersion));
  }
  if (*version == kVersion) return absl::OkStatus();
  return Execute(fmt::format("BEGIN; {} {} {} {} {} {} {} {} {} {} {} COMMIT;",
                             *version == 0 ? kSchema : "", *version < 2 ? kProfiles : "",
                             *version < 3 ? kNodes : "", *version < 4 ? kNameSpaces : "",
                             *version < 5 ? kRunProfiles : "", *version < 6 ? kStages : "",
                             *version < 7 ? kWidths : "", *version < 8 ? kScores : "",
                             *version < 9 ? kProcessorTimes : "", *version < 10 ? kSortTimes : "",
                             kStartTimes)
                     .c_str());
}

absl::Status History::Add(const FinishedJob& job) {
  if (absl::Status status = Execute("BEGIN IMMEDIATE"); !status.ok()) return status;
  absl::Status status = AddWithin(job);
  if (status.ok()) status = Execute("COMMIT");
  if (!status.ok()) Execute("ROLLBACK").IgnoreError();
  return status;
}

// REQUIRES: within a transaction.
absl::Status History::AddWithin(const FinishedJob& job) const {
  const Snapshot& final = job.final;
  const JobSummary& summary = job.summary;
  const auto run = [this](const char* sql, const auto&... values) {
    Statement statement(database_, path_, sql);
    (statement.Bind(values), ...);
    return statement.Run();
  };
  absl::Status status =
      run("INSERT OR REPLACE INTO job VALUES (NULL, ?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", final.job_id,
          summary.name, summary.engine, static_cast<std::int64_t>(final.state),
          absl::ToUnixNanos(final.started_at.value_or(final.at)),
          absl::ToUnixNanos(final.ended_at.value_or(final.at)), summary.map_tasks,
          summary.reduce_tasks, summary.map_input_bytes, summary.map_output_bytes,
          summary.reduce_groups, summary.reduce_input_bytes, summary.reduce_output_bytes,
          absl::ToDoubleSeconds(summary.reduce_time), job.name_space, summary.interval_score);
  const std::int64_t row = sqlite3_last_insert_rowid(database_);
  for (const StageKind kind : {StageKind::kMap, StageKind::kReduce}) {
    if (!status.ok()) return status;
    const StageProgress* const stage = dag::PhaseOf(final, kind);
    if (stage == nullptr) continue;
    status = run("INSERT INTO stage VALUES (?,?,?,?,?)", row, stage->id.stage,
                 static_cast<std::int64_t>(kind), Nanos(stage->started_at), Nanos(stage->ended_at));
  }
  for (const GroupBin& bin : summary.bins) {
    if (!status.ok()) return status;
    status = run("INSERT INTO group_bin VALUES (?,?,?,?,?,?,?)", row, bin.bin, bin.count,
                 bin.size_bytes, bin.seconds, bin.seconds_squared, bin.emitted_bytes);
  }
  if (summary.profile && status.ok()) {
    const JobProfile& profile = *summary.profile;
    status = run("INSERT INTO job_profile VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", row,
                 profile.slots, profile.split_bytes, profile.map_selectivity,
                 profile.reduce_selectivity, absl::ToDoubleSeconds(profile.map_task_time),
                 absl::ToDoubleSeconds(profile.reduce_task_time), profile.map_task_variation,
                 profile.reduce_task_variation, absl::ToDoubleSeconds(profile.map_cpu_time),
                 absl::ToDoubleSeconds(profile.reduce_cpu_time),
                 absl::ToDoubleSeconds(profile.reduce_sort_time),
                 absl::ToDoubleSeconds(profile.map_start_cpu_time),
                 absl::ToDoubleSeconds(profile.reduce_start_cpu_time),
                 absl::ToDoubleSeconds(profile.slot_idle_time));
  }
  if (HasProfile(summary.run) && status.ok()) {
    storage::v1::LoggedRunProfile profile;
    EncodeRunProfile(summary.run, profile);
    status = run("INSERT INTO run_profile VALUES (?,?,?)", row,
                 static_cast<std::int64_t>(summary.run.stages.size()),
                 Statement::Bytes{profile.SerializeAsString()});
  }
  std::int64_t position = 0;
  for (const IndicatorError& error : final.errors) {
    if (!status.ok()) return status;
    status = run("INSERT INTO indicator_error VALUES (?,?,?,?,?,?,?,?,?)", row, position++,
                 error.indicator, error.last_stage_avg_points, error.last_stage_max_points,
                 error.job_avg_points, error.job_max_points, error.interval_coverage,
                 error.interval_width);
  }
  return status;
}

namespace {

// Limits the cost of a comparison of shapes. The first stages distinguish programs.
constexpr std::size_t kShapeStagesMax = 64;

std::size_t ShapeOf(const FinishedJob& job) {
  const std::vector<PastStage>& stages = job.summary.run.stages;
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < std::min(stages.size(), kShapeStagesMax); ++i) {
    names.insert(stages[i].name);
  }
  return names.empty() ? absl::HashOf(job.summary.reduce_tasks) : absl::HashOf(names);
}

}  // namespace

void DropOneOfMostFrequentShape(std::vector<FinishedJob>& jobs) {
  std::vector<std::size_t> shapes;
  std::map<std::size_t, std::size_t> counts;
  std::size_t most = 0;
  for (const FinishedJob& job : jobs) {
    shapes.push_back(ShapeOf(job));
    most = std::max(most, ++counts[shapes.back()]);
  }
  std::size_t place = jobs.size() - 1;
  while (counts[shapes[place]] < most) --place;
  jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(place));
}

absl::StatusOr<bool> History::Contains(const std::string& job_id) const {
  Statement rows(database_, path_, "SELECT 1 FROM job WHERE job_id = ? LIMIT 1");
  rows.Bind(job_id);
  return rows.Next();
}

absl::StatusOr<std::vector<FinishedJob>> History::SucceededOfName(const std::string& name,
                                                                  std::size_t count,
                                                                  const Filter& may_use) const {
  // Reads only the index, so that rejected runs cost little.
  static const std::string* const query = new std::string(
      fmt::format("SELECT id, job_id, name_space FROM job WHERE name = ? AND state = {} "
                  "ORDER BY ended_at DESC, id DESC",
                  static_cast<int>(JobState::kSucceeded)));
  return Select(query->c_str(), name, kSameNameReadMax, count, may_use);
}

absl::StatusOr<std::vector<FinishedJob>> History::OfOtherNames(const std::string& name,
                                                               std::size_t count,
                                                               const Filter& may_use) const {
  static const std::string* const query = new std::string(
      fmt::format("SELECT id, job_id, name_space FROM "
                  "(SELECT * FROM job ORDER BY ended_at DESC, id DESC LIMIT {}) AS newest "
                  "WHERE name <> ? AND state = {} AND reduce_tasks > 0 "
                  "AND NOT EXISTS (SELECT 1 FROM run_profile "
                  "WHERE run_profile.job = newest.id AND stages > 0) "
                  "ORDER BY ended_at DESC, id DESC",
                  kRunsReadMax, static_cast<int>(JobState::kSucceeded)));
  return Select(query->c_str(), name, count, count, may_use);
}

absl::StatusOr<std::vector<FinishedJob>> History::Select(const char* query, const std::string& name,
                                                         std::size_t read_max, std::size_t count,
                                                         const Filter& may_use) const {
  Statement rows(database_, path_, query);
  rows.Bind(name);
  std::vector<FinishedJob> jobs;
  for (std::size_t read = 0; read < read_max;) {
    const absl::StatusOr<bool> found = rows.Next();
    if (!found.ok()) return found.status();
    if (!*found) break;
    const std::int64_t row = rows.Integer();
    const std::string job_id = rows.Text();
    if (may_use && !may_use(job_id, rows.Text())) continue;
    absl::StatusOr<FinishedJob> job = Read(row);
    if (!job.ok()) return job.status();
    jobs.push_back(*std::move(job));
    ++read;
    if (jobs.size() > count) DropOneOfMostFrequentShape(jobs);
  }
  return jobs;
}

absl::StatusOr<FinishedJob> History::Read(std::int64_t row) const {
  Statement columns(database_, path_, "SELECT * FROM job WHERE id = ?");
  const absl::StatusOr<bool> found = columns.Bind(row).Next();
  if (!found.ok()) return found.status();
  FinishedJob job;
  columns.Skip();
  job.final.job_id = columns.Text();
  job.summary.name = columns.Text();
  job.summary.engine = columns.Text();
  job.final.info = JobInfo{.name = job.summary.name, .engine = job.summary.engine};
  job.final.state = static_cast<JobState>(columns.Integer());
  job.final.is_final = true;
  job.final.started_at = absl::FromUnixNanos(columns.Integer());
  job.final.at = absl::FromUnixNanos(columns.Integer());
  job.final.ended_at = job.final.at;
  job.summary.map_tasks = static_cast<std::uint32_t>(columns.Integer());
  job.summary.reduce_tasks = static_cast<std::uint32_t>(columns.Integer());
  job.summary.map_input_bytes = columns.Unsigned();
  job.summary.map_output_bytes = columns.Unsigned();
  job.summary.reduce_groups = columns.Unsigned();
  job.summary.reduce_input_bytes = columns.Unsigned();
  job.summary.reduce_output_bytes = columns.Unsigned();
  job.summary.reduce_time = absl::Seconds(columns.Real());
  job.name_space = columns.Text();
  job.summary.interval_score = RealOrNone(columns);
  if (absl::Status status = ReadDetails(row, job); !status.ok()) return status;
  return job;
}

absl::Status History::ReadDetails(std::int64_t row, FinishedJob& job) const {
  const auto each = [&](const char* sql, auto take) {
    Statement rows(database_, path_, sql);
    rows.Bind(row);
    absl::StatusOr<bool> found = rows.Next();
    for (; found.ok() && *found; found = rows.Next()) take(rows);
    return found.status();
  };
  absl::Status status =
      each("SELECT stage, kind, started_at, ended_at FROM stage WHERE job = ? ORDER BY stage",
           [&](Statement& columns) {
             const StageId id = {.stage = static_cast<std::uint32_t>(columns.Integer())};
             job.final.stage_infos.push_back(
                 {.id = id, .kind = static_cast<StageKind>(columns.Integer())});
             StageProgress& stage = job.final.stages.emplace_back();
             stage.id = id;
             stage.started_at = Instant(columns);
             stage.ended_at = Instant(columns);
           });
  if (!status.ok()) return status;
  status = each(
      "SELECT bin, groups, bytes, seconds, seconds_squared, emitted_bytes FROM group_bin "
      "WHERE job = ? ORDER BY bin",
      [&](Statement& columns) {
        GroupBin bin;
        bin.bin = static_cast<std::uint32_t>(columns.Integer());
        bin.count = columns.Unsigned();
        bin.size_bytes = columns.Unsigned();
        bin.seconds = columns.Real();
        bin.seconds_squared = columns.Real();
        bin.emitted_bytes = columns.Unsigned();
        job.summary.bins.push_back(bin);
      });
  if (!status.ok()) return status;
  status = each(
      "SELECT slots, split_bytes, map_selectivity, reduce_selectivity, map_task_seconds, "
      "reduce_task_seconds, map_task_variation, reduce_task_variation, map_cpu_seconds, "
      "reduce_cpu_seconds, reduce_sort_seconds, map_start_cpu_seconds, "
      "reduce_start_cpu_seconds, slot_idle_seconds FROM job_profile WHERE job = ?",
      [&](Statement& columns) {
        JobProfile profile = {.slots = static_cast<std::uint32_t>(columns.Integer()),
                              .map_tasks = job.summary.map_tasks,
                              .reduce_tasks = job.summary.reduce_tasks};
        profile.split_bytes = columns.Real();
        profile.map_selectivity = columns.Real();
        profile.reduce_selectivity = columns.Real();
        profile.map_task_time = absl::Seconds(columns.Real());
        profile.reduce_task_time = absl::Seconds(columns.Real());
        profile.map_task_variation = columns.Real();
        profile.reduce_task_variation = columns.Real();
        profile.map_cpu_time = absl::Seconds(columns.Real());
        profile.reduce_cpu_time = absl::Seconds(columns.Real());
        profile.reduce_sort_time = absl::Seconds(columns.Real());
        profile.map_start_cpu_time = absl::Seconds(columns.Real());
        profile.reduce_start_cpu_time = absl::Seconds(columns.Real());
        profile.slot_idle_time = absl::Seconds(columns.Real());
        job.summary.profile = profile;
      });
  if (!status.ok()) return status;
  status = each("SELECT profile FROM run_profile WHERE job = ?", [&](Statement& columns) {
    storage::v1::LoggedRunProfile profile;
    if (profile.ParseFromString(columns.Text())) job.summary.run = DecodeRunProfile(profile);
  });
  if (!status.ok()) return status;
  return each(
      "SELECT indicator, reduce_avg, reduce_max, job_avg, job_max, interval_coverage, "
      "interval_width FROM indicator_error WHERE job = ? ORDER BY position",
      [&](Statement& columns) {
        IndicatorError error{.indicator = columns.Text()};
        error.last_stage_avg_points = RealOrNone(columns);
        error.last_stage_max_points = RealOrNone(columns);
        error.job_avg_points = columns.Real();
        error.job_max_points = columns.Real();
        error.interval_coverage = RealOrNone(columns);
        error.interval_width = RealOrNone(columns);
        job.final.errors.push_back(std::move(error));
      });
}

absl::Status History::AddNode(const std::string& host, absl::Time measured_at,
                              const ResourceProfile& node) {
  Statement statement(database_, path_, "INSERT OR REPLACE INTO node VALUES (?,?,?,?,?,?,?,?)");
  return statement.Bind(host)
      .Bind(absl::ToUnixNanos(measured_at))
      .Bind(node.cores)
      .Bind(node.disk_read)
      .Bind(node.disk_write)
      .Bind(node.dfs_read)
      .Bind(node.dfs_write)
      .Bind(node.network)
      .Run();
}

absl::StatusOr<std::optional<ResourceProfile>> History::NewestNode() const {
  Statement rows(
      database_, path_,
      "SELECT cores, disk_read, disk_write, file_system_read, file_system_write, network "
      "FROM node ORDER BY measured_at DESC LIMIT 1");
  const absl::StatusOr<bool> found = rows.Next();
  if (!found.ok()) return found.status();
  if (!*found) return std::optional<ResourceProfile>();
  ResourceProfile node;
  node.cores = rows.Real();
  node.disk_read = rows.Real();
  node.disk_write = rows.Real();
  node.dfs_read = rows.Real();
  node.dfs_write = rows.Real();
  node.network = rows.Real();
  return std::optional<ResourceProfile>(node);
}

absl::Status History::Expire(absl::Time now) {
  {
    Statement old(database_, path_, "DELETE FROM job WHERE ended_at < ?");
    if (absl::Status status = old.Bind(absl::ToUnixNanos(now - options_.age_max)).Run();
        !status.ok()) {
      return status;
    }
  }
  while (true) {
    const absl::StatusOr<std::size_t> used = bytes();
    const absl::StatusOr<std::size_t> jobs = count();
    if (!used.ok() || !jobs.ok()) return used.ok() ? jobs.status() : used.status();
    if (*jobs == 0 || *used <= options_.bytes_max) break;
    // Removes a tenth at a time, since the size of a job is known only roughly.
    Statement oldest(database_, path_,
                     "DELETE FROM job WHERE id IN (SELECT id FROM job ORDER BY ended_at LIMIT ?)");
    if (absl::Status status = oldest.Bind(std::max<std::uint64_t>(*jobs / 10, 1)).Run();
        !status.ok()) {
      return status;
    }
  }
  return Execute("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);");
}

absl::StatusOr<std::size_t> History::count() const {
  const auto jobs = Number("SELECT count(*) FROM job");
  if (!jobs.ok()) return jobs.status();
  return static_cast<std::size_t>(*jobs);
}

absl::StatusOr<std::size_t> History::bytes() const {
  const auto bytes = Number(
      "SELECT (page_count - freelist_count) * page_size "
      "FROM pragma_page_count, pragma_freelist_count, pragma_page_size");
  if (!bytes.ok()) return bytes.status();
  return static_cast<std::size_t>(*bytes);
}

}  // namespace tidemark::store
