// Compares the cost of storing an event in the journal and in SQLite in WAL mode, in the same run.
// An event has 100 key-group points, and a batch of events shares one commit. See ADR 7.
#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include <string>

#include "absl/time/time.h"
#include "bench/service/agent_load.h"
#include "bench/service/scratch.h"
#include "master/service/journal.h"
#include "master/store/log_record.h"

namespace tidemark::bench {
namespace {

const wire::ReceivedEvent& Profile() {
  static const wire::ReceivedEvent event = {
      .job_id = "job-1",
      .source_id = "reduce-0",
      .sequence = 1,
      .sent_at = absl::UnixEpoch(),
      .body = ProfileMessage("job-1", 0, 100).events(0).SerializeAsString()};
  return event;
}

// Sets the arguments, which are the number of events in a batch and whether the disk is synced.
void Batches(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"batch", "sync"})
      ->ArgsProduct({{1, 100, 1000}, {0, 1}})
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

void Report(benchmark::State& state) {
  const auto events = state.iterations() * state.range(0);
  state.SetItemsProcessed(events);
  state.SetBytesProcessed(events * static_cast<std::int64_t>(Profile().body.size()));
}

void BM_Journal(benchmark::State& state) {
  const ScratchDirectory directory;
  service::Journal journal(store::MakeFileDisk(state.range(1) != 0),
                           {.commit_interval = absl::ZeroDuration()});
  const auto log = service::Journal::MakeLog(directory.path() + "/log", "");
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  const store::LogKey key = store::NewLogKey();
  for (auto _ : state) {
    std::string record;
    for (std::int64_t i = 1; i < state.range(0); ++i) {
      record.clear();
      store::EncodeReceived(Profile(), now, key, record);
      journal.Append(log, record);
    }
    record.clear();
    store::EncodeReceived(Profile(), now, key, record);
    journal.WaitUntilDurable(journal.Append(log, record));
  }
  Report(state);
}
BENCHMARK(BM_Journal)->Apply(Batches);

void BM_SqliteWal(benchmark::State& state) {
  const ScratchDirectory directory;
  sqlite3* database = nullptr;
  sqlite3_open((directory.path() + "/log.sqlite").c_str(), &database);
  const std::string setup =
      std::string("PRAGMA journal_mode = WAL; PRAGMA synchronous = ") +
      (state.range(1) != 0 ? "FULL" : "OFF") +
      "; CREATE TABLE event (id INTEGER PRIMARY KEY, job INTEGER, at INTEGER, envelope BLOB)";
  sqlite3_exec(database, setup.c_str(), nullptr, nullptr, nullptr);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(database, "INSERT INTO event (job, at, envelope) VALUES (1, 2, ?)", -1,
                     &insert, nullptr);
  for (auto _ : state) {
    sqlite3_exec(database, "BEGIN", nullptr, nullptr, nullptr);
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      sqlite3_bind_blob64(insert, 1, Profile().body.data(), Profile().body.size(), SQLITE_STATIC);
      if (sqlite3_step(insert) != SQLITE_DONE) state.SkipWithError(sqlite3_errmsg(database));
      sqlite3_reset(insert);
    }
    sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
  }
  sqlite3_finalize(insert);
  sqlite3_close(database);
  Report(state);
}
BENCHMARK(BM_SqliteWal)->Apply(Batches);

}  // namespace
}  // namespace tidemark::bench

BENCHMARK_MAIN();
