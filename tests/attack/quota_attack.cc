// Attacks a real `tidemark serve` with tokens for other jobs, and measures the effect on another
// client.
//
// quota_attack TIDEMARK [--seconds N] [--latency-ms N] [--no-goals] [ATTACK...]
//
// Prints a line of JSON for each attack (default: all). The exit code is 1 if a goal is missed. The
// goals are that other clients keep their rights, and that 99 of 100 acknowledgements and responses
// to them arrive within 100 ms, or within N ms.
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <sys/mount.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "bench/service/master_process.h"
#include "bench/service/scratch.h"
#include "proto/wire/plan_codec.h"
#include "tests/facts/events.h"
#include "tests/wire/encode_request.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "tidemark/v1/job_service.grpc.pb.h"

namespace tidemark {
namespace {

using bench::MasterProcess;
using test::Closed;
using test::Opened;
using test::Source;

constexpr const char* kEvil = "token-of-the-evil-admin";
constexpr const char* kGood = "token-of-the-good-admin";
constexpr const char* kTokens =
    "agent evil-* token-of-the-evil-admin\n"
    "reader * token-of-the-evil-admin\n"
    "agent good-* token-of-the-good-admin\n"
    "reader * token-of-the-good-admin\n";

std::shared_ptr<grpc::Channel> NewChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

std::unique_ptr<grpc::ClientContext> ContextOf(const std::string& token) {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(600));
  context->AddMetadata("authorization", "Bearer " + token);
  return context;
}

// A stream that waits for the response to each event.
class Agent {
 public:
  Agent(const std::string& address, const std::string& token)
      : context_(ContextOf(token)),
        stub_(v1::IngestService::NewStub(NewChannel(address))),
        stream_(stub_->StreamEvents(context_.get())) {}
  ~Agent() { context_->TryCancel(); }

  // Returns true if the event was accepted.
  bool Tell(const Event& event) {
    v1::StreamEventsRequest request;
    const std::uint32_t handle =
        handles_.try_emplace({event.job_id, event.source_id}, handles_.size()).first->second;
    wire::EncodeRequest(event, request, handle);
    if (!stream_->Write(request)) return false;
    bool taken = true;
    v1::StreamEventsResponse response;
    do {
      if (!stream_->Read(&response)) return false;
      if (response.rejections_size() > 0) taken = false;
    } while (response.handle() != handle || response.accepted_sequence() < event.sequence);
    return taken;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::uint32_t> handles_;  // by job and source
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamEventsRequest, v1::StreamEventsResponse>>
      stream_;
};

bool Open(Agent& agent, const std::string& job_id) {
  return agent.Tell(Source("app-master", job_id).At(0, Opened(1, 1)));
}

double P99(std::vector<double>& values) {
  if (values.empty()) return 1e9;
  std::sort(values.begin(), values.end());
  return values[values.size() * 99 / 100 - (values.size() >= 100 ? 1 : 0)];
}

// Reports and watches a job until it is destroyed.
class GoodJob {
 public:
  explicit GoodJob(const std::string& address)
      : reports_([this, address](const std::stop_token& stop) { Report(address, stop); }),
        asks_([this, address](const std::stop_token& stop) { Ask(address, stop); }) {
    while (!begun_) absl::SleepFor(absl::Milliseconds(1));
  }
  // Ends the job. Returns latencies in milliseconds, or a thousand seconds if the master did not
  // serve the job.
  std::pair<double, double> AckAndAnswerP99() {
    reports_ = {};
    asks_ = {};
    return {P99(acks_), P99(answers_)};
  }

 private:
  void Report(const std::string& address, const std::stop_token& stop) {
    Agent agent(address, kGood);
    Source source("app-master", "good-job");
    bool taken = agent.Tell(source.At(0, Opened(1, 1)));
    begun_ = true;
    for (int i = 1; !stop.stop_requested(); ++i) {
      const absl::Time began = absl::Now();
      taken = taken && agent.Tell(source.At(i, test::Started(test::M(0))));
      acks_.push_back(taken ? absl::ToDoubleMilliseconds(absl::Now() - began) : 1e6);
      absl::SleepFor(absl::Milliseconds(10));
    }
  }
  void Ask(const std::string& address, const std::stop_token& stop) {
    const auto stub = v1::JobService::NewStub(NewChannel(address));
    v1::GetJobRequest request;
    request.set_job_id("good-job");
    while (!begun_) absl::SleepFor(absl::Milliseconds(1));
    while (!stop.stop_requested()) {
      const absl::Time began = absl::Now();
      v1::GetJobResponse response;
      const bool ok = stub->GetJob(ContextOf(kGood).get(), request, &response).ok();
      answers_.push_back(ok ? absl::ToDoubleMilliseconds(absl::Now() - began) : 1e6);
      absl::SleepFor(absl::Milliseconds(20));
    }
  }

  std::atomic<bool> begun_ = false;
  std::vector<double> acks_;
  std::vector<double> answers_;
  std::jthread reports_;
  std::jthread asks_;
};

struct Arena {
  std::string program;
  std::string directory;
  absl::Duration lasts;
  double latency_ms_max = 100;
  std::string address;
};

// The result of the attacker, and whether the master served other clients.
struct Outcome {
  std::string told;
  bool others_unharmed = true;
};

Outcome ManyJobs(const Arena& arena) {
  Agent evil(arena.address, kEvil);
  int opened = 0;
  for (int i = 0; i < 1200; ++i) opened += Open(evil, fmt::format("evil-{}", i)) ? 1 : 0;
  Agent good(arena.address, kGood);
  int others = 0;
  for (int i = 0; i < 20; ++i) others += Open(good, fmt::format("good-{}", i)) ? 1 : 0;
  return {fmt::format("\"opened\": {}, \"opened_by_others\": {}", opened, others), others == 20};
}

std::size_t JobsOf(const Arena& arena, const std::string& prefix) {
  const auto stub = v1::JobService::NewStub(NewChannel(arena.address));
  v1::ListJobsRequest request;
  request.set_page_size(1000);
  v1::ListJobsResponse response;
  std::size_t jobs = 0;
  do {
    request.set_page_token(response.next_page_token());
    if (!stub->ListJobs(ContextOf(kGood).get(), request, &response).ok()) return 0;
    for (const v1::Snapshot& job : response.snapshots()) {
      jobs += job.job_id().starts_with(prefix) ? 1 : 0;
    }
  } while (!response.next_page_token().empty());
  return jobs;
}

Outcome OpenAndClose(const Arena& arena) {
  const auto open_and_close = [&](Agent& agent, const std::string& id) {
    Source source("app-master", id);
    return agent.Tell(source.At(0, Opened(1, 1))) && agent.Tell(source.At(1, Closed()));
  };
  Agent good(arena.address, kGood);
  for (int i = 0; i < 50; ++i) open_and_close(good, fmt::format("good-{}", i));
  absl::SleepFor(absl::Seconds(1));  // The master publishes the final snapshots.
  Agent evil(arena.address, kEvil);
  int ended = 0;
  for (int i = 0; i < 1200; ++i) {
    ended += open_and_close(evil, fmt::format("evil-{}", i)) ? 1 : 0;
    if (i % 100 == 99) absl::SleepFor(absl::Milliseconds(500));
  }
  const std::size_t kept = JobsOf(arena, "good-");
  return {fmt::format("\"opened_and_closed\": {}, \"kept_of_51_others\": {}", ended, kept),
          kept == 51};
}

// Repeats a call on each of eight threads for the given time. Returns how many calls succeeded and
// how many failed.
std::pair<std::size_t, std::size_t> FromEightThreads(
    absl::Duration lasts, const std::function<std::function<bool()>(int thread)>& make_call) {
  std::atomic<std::size_t> succeeded = 0;
  std::atomic<std::size_t> failed = 0;
  const absl::Time end = absl::Now() + lasts;
  {
    std::vector<std::jthread> threads;
    for (int n = 0; n < 8; ++n) {
      threads.emplace_back([&, n] {
        const std::function<bool()> call = make_call(n);
        while (absl::Now() < end) ++(call() ? succeeded : failed);
      });
    }
  }
  return {succeeded, failed};
}

// Sends events of about half a megabyte on eight streams.
Outcome ManyBytes(const Arena& arena) {
  const auto [taken, refused] = FromEightThreads(arena.lasts, [&](int n) -> std::function<bool()> {
    const auto evil = std::make_shared<Agent>(arena.address, kEvil);
    const auto source = std::make_shared<Source>("app-master", fmt::format("evil-{}", n));
    evil->Tell(source->At(0, Opened(1, 1)));
    std::vector<GroupPoint> points;
    for (std::uint64_t i = 1; i <= 40'000; ++i) points.push_back(test::Point(i * 1'000'003, 1000));
    return [evil, source, points] {
      return evil->Tell(source->At(1, test::Reduced(test::R(0), test::At(1), points)));
    };
  });
  std::error_code error;
  const auto space = std::filesystem::space(arena.directory, error);
  Agent good(arena.address, kGood);
  const bool others = Open(good, "good-after");
  return {fmt::format("\"events_taken\": {}, \"events_refused\": {}, \"mb_left\": {}", taken,
                      refused, space.available >> 20),
          others};
}

Outcome ManyLists(const Arena& arena) {
  {
    Agent evil(arena.address, kEvil);
    for (int i = 0; i < 500; ++i) Open(evil, fmt::format("evil-{}", i));
  }
  v1::ListJobsRequest request;
  request.set_page_size(100);
  const auto [answered, refused] = FromEightThreads(arena.lasts, [&](int) {
    const std::shared_ptr stub = v1::JobService::NewStub(NewChannel(arena.address));
    return [stub, request] {
      v1::ListJobsResponse response;
      return stub->ListJobs(ContextOf(kEvil).get(), request, &response).ok();
    };
  });
  return {fmt::format("\"answered\": {}, \"refused\": {}", answered, refused)};
}

Outcome HugeEstimates(const Arena& arena) {
  Plan plan{.id = "evil-wf", .cluster = {.slots = 1000}};
  for (int i = 0; i < 1000; ++i) {
    plan.jobs.push_back({.name = fmt::format("job {}", i),
                         .map_task_count = 10'000'000,
                         .reduce_task_count = 10'000'000});
  }
  const auto submitted = v1::JobService::NewStub(NewChannel(arena.address));
  for (int i = 0; i < 5; ++i) {
    v1::SubmitJobRequest request;
    plan.id = fmt::format("evil-wf-{}", i);
    wire::EncodePlan(plan, *request.mutable_plan());
    v1::SubmitJobResponse response;
    submitted->SubmitJob(ContextOf(kEvil).get(), request, &response);
  }
  v1::EstimateJobRequest request;
  wire::EncodePlan(plan, *request.mutable_plan());
  const auto [answered, refused] = FromEightThreads(arena.lasts, [&](int) {
    const std::shared_ptr stub = v1::JobService::NewStub(NewChannel(arena.address));
    return [stub, request] {
      v1::EstimateJobResponse response;
      return stub->EstimateJob(ContextOf(kEvil).get(), request, &response).ok();
    };
  });
  return {fmt::format("\"answered\": {}, \"refused\": {}", answered, refused)};
}

struct Attack {
  const char* name;
  Outcome (*run)(const Arena& arena);
  // Size of a mounted disk for the data. 0 selects the disk of the host.
  std::size_t disk_mb;
};
constexpr Attack kAttacks[] = {{"many_jobs", ManyJobs, 0},
                               {"open_and_close", OpenAndClose, 0},
                               {"many_bytes", ManyBytes, 200},
                               {"many_lists", ManyLists, 0},
                               {"huge_estimates", HugeEstimates, 0}};

// Returns true if the goals were met.
bool Run(const Attack& attack, Arena arena) {
  const bench::ScratchDirectory scratch;
  arena.directory = scratch.path();
  const std::string options = fmt::format("size={}m", attack.disk_mb);
  const bool is_mounted = attack.disk_mb > 0 &&
                          mount("tmpfs", arena.directory.c_str(), "tmpfs", 0, options.c_str()) == 0;
  const std::string tokens = arena.directory + "/tokens";
  std::ofstream(tokens) << kTokens;
  using std::filesystem::perms;
  std::filesystem::permissions(tokens, perms::owner_read | perms::owner_write);
  bool met = false;
  {
    auto master = MasterProcess::Start(
        {arena.program, "serve", "--listen", "127.0.0.1:0", "--data-dir", arena.directory + "/data",
         "--set", "tokens=" + tokens, "log.level=error"},
        absl::Seconds(60));
    if (!master.ok()) {
      fmt::print(stderr, "{}\n", master.status().ToString());
      return false;
    }
    arena.address = master->address();
    GoodJob good(arena.address);
    absl::SleepFor(absl::Milliseconds(300));
    const std::size_t before = master->resident_bytes();
    const Outcome outcome = attack.run(arena);
    const std::size_t after = master->resident_bytes();
    const auto [ack, answer] = good.AckAndAnswerP99();
    met = outcome.others_unharmed && ack <= arena.latency_ms_max && answer <= arena.latency_ms_max;
    fmt::print(
        "{{\"attack\": \"{}\", \"rss_mb_before\": {}, \"rss_mb_after\": {}, "
        "\"good_ack_p99_ms\": {:.1f}, \"good_answer_p99_ms\": {:.1f}, \"others_unharmed\": {}, "
        "{}}}\n",
        attack.name, before >> 20, after >> 20, ack, answer, outcome.others_unharmed, outcome.told);
    std::fflush(stdout);
  }
  if (is_mounted) umount2(arena.directory.c_str(), MNT_DETACH);
  return met;
}

int Main(const std::vector<std::string>& words) {
  Arena arena{.lasts = absl::Seconds(8)};
  std::set<std::string> chosen;
  bool has_goals = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--no-goals") {
      has_goals = false;
    } else if (words[i] == "--seconds" && i + 1 < words.size()) {
      arena.lasts = absl::Seconds(std::stoi(words[++i]));
    } else if (words[i] == "--latency-ms" && i + 1 < words.size()) {
      arena.latency_ms_max = std::stod(words[++i]);
    } else if (arena.program.empty()) {
      arena.program = words[i];
    } else {
      chosen.insert(words[i]);
    }
  }
  bool met = true;
  for (const Attack& attack : kAttacks) {
    if (chosen.empty() || chosen.contains(attack.name)) met = Run(attack, arena) && met;
  }
  return met || !has_goals ? 0 : 1;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  return tidemark::Main(std::vector<std::string>(argv + 1, argv + argc));
}
