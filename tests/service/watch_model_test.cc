// Checks the watch contract in docs/api.md against a model, with random histories. Events are
// delayed, repeated and overtaken by events of other sources. The master is killed and restored
// from its disk. Watchers read slowly, lose their connection while responses are being sent, and
// resume. The test is deterministic, except for the bytes that the journal had written before the
// kill. The contract must not depend on these bytes.

#include <array>
#include <deque>

#include "absl/time/clock.h"
#include "master/service/job_hub.h"
#include "master/service/job_stream.h"
#include "master/service/job_table.h"
#include "proto/wire/encode_event.h"
#include "proto/wire/snapshot_delta.h"
#include "tests/monitor/virtual_job.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::service::watch_model_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJob = "job-1";

// A stream without a transport.
class Subscriber final : public JobWatcher {
 public:
  Subscriber(const ResumePoint& from, bool deltas) : cursor(from, {.deltas = deltas}) {}
  void Offer(const PublishedJob& job) override { cursor.Offer(job.newest, job.run); }
  void Close() override {}
  JobCursor cursor;
};

// All published snapshots by sequence number. Responses are compared with them.
using Published = std::map<std::uint64_t, Snapshot>;

class Recorder final : public JobWatcher {
 public:
  explicit Recorder(Published& published) : published_(published) {}
  void Offer(const PublishedJob& job) override {
    const bool is_new = published_.emplace(job.newest->sequence, *job.newest).second;
    EXPECT_TRUE(is_new) << "sequence " << job.newest->sequence << " is given twice";
  }
  void Close() override {}

 private:
  Published& published_;
};

// A client with the state that the contract allows. It checks every response.
class Client {
 public:
  void Connect(JobHub& hub, bool deltas) {
    const auto job = hub.Find(kJob);
    if (!job.ok()) return;
    const auto from = token_.empty() ? ResumePoint{} : *ParseResumeToken(token_);
    subscriber_ = std::make_shared<Subscriber>(from, deltas);
    ASSERT_TRUE(hub.Subscribe(kJob, subscriber_, false).ok());
    subscriber_->cursor.Begin(job->newest, job->run);
  }
  // Drops the responses that are being sent.
  void Disconnect(JobHub& hub) {
    if (subscriber_) hub.Unsubscribe(kJob, subscriber_.get());
    subscriber_.reset();
    under_way_.clear();
  }
  bool is_connected() const { return subscriber_ != nullptr; }

  // Passes a response from the master to the network.
  void Send() {
    if (subscriber_ && subscriber_->cursor.next_at() <= absl::Now()) {
      under_way_.push_back(subscriber_->cursor.Next(absl::Now()));
      kept_ = under_way_.back().published;  // The master also keeps only this one.
    }
  }
  // Delivers one response from the network.
  void Receive(const Published& published) {
    if (under_way_.empty()) return;
    const JobCursor::Update update = std::move(under_way_.front());
    under_way_.pop_front();
    const auto whole =
        wire::Apply(newest_, update.base == nullptr ? *update.published
                                                    : wire::Delta(*update.base, *update.published));
    ASSERT_TRUE(whole.ok()) << whole.status();
    const Snapshot& snapshot = newest_ = *whole;
    EXPECT_FALSE(has_final_) << "nothing comes after the final snapshot";
    EXPECT_FALSE(update.restarted) << "the journal remembers";
    EXPECT_GT(snapshot.sequence, last_) << "sequences only grow";
    if (last_ != 0) {
      EXPECT_EQ(update.skipped, snapshot.sequence - last_ - 1) << "gaps are told";
    }
    const auto known = published.find(snapshot.sequence);
    EXPECT_TRUE(known != published.end()) << "never published: " << snapshot.sequence;
    if (known != published.end()) {
      EXPECT_EQ(snapshot, known->second);
    }
    last_ = snapshot.sequence;
    token_ = update.resume_token;
    has_final_ = snapshot.is_final;
  }
  bool has_final() const { return has_final_; }
  bool is_told_the_end() const { return subscriber_ && subscriber_->cursor.is_over(); }

 private:
  std::shared_ptr<Subscriber> subscriber_;
  std::deque<JobCursor::Update> under_way_;
  std::shared_ptr<const Snapshot> kept_;
  Snapshot newest_;
  std::uint64_t last_ = 0;
  std::string token_;
  bool has_final_ = false;
};

// The sources of a history. Each source sends its events in order and repeats unacknowledged
// events. The next source is chosen at random.
class Sources {
 public:
  explicit Sources(const std::vector<Event>& events) {
    for (const Event& event : events) pending_[event.source_id].push_back(event);
  }
  bool is_done() const {
    return std::all_of(pending_.begin(), pending_.end(),
                       [&](const auto& source) { return Left(source.first) == 0; });
  }
  // Sends the next event of a random source. The job is opened first and closed last. Events of
  // different sources may overtake each other.
  template <typename Random>
  void SendOne(JobTable& jobs, double now, Random& random) {
    std::vector<std::string> able;
    for (const auto& [id, events] : pending_) {
      const bool is_last = Left(id) == 1 && id == "app-master" && !OnlyLeft(id);
      if (Left(id) > 0 && !is_last && (opened_ || id == "app-master")) able.push_back(id);
    }
    if (able.empty()) return;
    const std::string& id = able[random() % able.size()];
    // Sometimes the source sends earlier events again.
    const std::size_t back = random() % 4 == 0 ? random() % (sent_[id] + 1) : 0;
    for (std::size_t i = sent_[id] - back; i <= sent_[id]; ++i) Ingest(jobs, pending_[id][i], now);
    ++sent_[id];
    opened_ = true;
  }
  // Repeats the events that were not durable when the master was killed.
  void Rewind(Journal::Position durable) {
    for (auto& [id, sent] : sent_) {
      const auto& positions = positions_[id];
      while (sent > 0 && positions[sent - 1] > durable) --sent;
    }
    for (auto& [id, positions] : positions_) {
      positions.resize(sent_[id]);
      std::fill(positions.begin(), positions.end(), 0);
    }
    opened_ = sent_["app-master"] > 0;
  }

 private:
  std::size_t Left(const std::string& id) const {
    const auto sent = sent_.find(id);
    return pending_.at(id).size() - (sent == sent_.end() ? 0 : sent->second);
  }
  bool OnlyLeft(const std::string& id) const {
    return std::all_of(pending_.begin(), pending_.end(), [&](const auto& source) {
      return source.first == id || Left(source.first) == 0;
    });
  }
  void Ingest(JobTable& jobs, const Event& event, double now) {
    const IngestResult taken = jobs.Ingest(wire::EncodeEvent(event), At(now));
    EXPECT_TRUE(taken.status.ok()) << taken.status;
    auto& positions = positions_[event.source_id];
    positions.resize(std::max<std::size_t>(positions.size(), event.sequence));
    positions[event.sequence - 1] = taken.mark.position;
  }

  std::map<std::string, std::vector<Event>> pending_;
  std::map<std::string, std::size_t> sent_;
  std::map<std::string, std::vector<Journal::Position>> positions_;
  bool opened_ = false;
};

class World {
 public:
  World(std::uint32_t seed, std::string root)
      : random_(seed), root_(std::move(root)), sources_(Story().events) {
    directory_ = root_ + "/0";
    fs::create_directory(directory_);
    Start();
  }

  void Run() {
    int steps = 0;
    while (!IsOver()) {
      ASSERT_LT(++steps, 100'000) << "it does not end";
      Step(steps > 50'000);
      if (::testing::Test::HasFailure()) return;
    }
    int finals = 0;
    for (const auto& [sequence, snapshot] : published_) finals += snapshot.is_final ? 1 : 0;
    EXPECT_EQ(finals, 1);
    EXPECT_TRUE(published_.rbegin()->second.is_final);
  }
  int kills() const { return kills_; }

 private:
  static const test::Story& Story() {
    static const test::Story story = test::Tell(test::QuadraticJob());
    return story;
  }

  void Start() {
    JobTableOptions options;
    options.data_dir = directory_;
    options.disk = store::MakeFileDisk(/*sync=*/false);
    options.journal.commit_interval = absl::ZeroDuration();
    // This test does not depend on estimates.
    options.job.indicators = {"hadoop"};
    auto hub = std::make_unique<JobHub>("master", 100);
    options.hub = hub.get();
    jobs_ = std::make_unique<JobTable>(options);
    hub_ = std::move(hub);
    ASSERT_TRUE(jobs_->Recover(At(now_), 1).ok());
    ASSERT_TRUE(hub_->Subscribe(kJob, std::make_shared<Recorder>(published_), false).ok());
    // Durable snapshots are published, even if no watcher received them before the kill.
    const auto job = hub_->Find(kJob);
    if (!job.ok() || job->newest->sequence == 0) return;
    const auto [known, is_new] = published_.emplace(job->newest->sequence, *job->newest);
    EXPECT_EQ(known->second, *job->newest);
  }

  // Kills the master, which leaves the disk in its present state.
  void Kill() {
    ++kills_;
    const std::string copy = root_ + "/" + std::to_string(kills_);
    // The acknowledgements must be read before the disk, since both can only grow.
    const Journal::Position durable = jobs_->journal().durable();
    fs::copy(directory_, copy);
    directory_ = copy;
    for (Client& client : clients_) client.Disconnect(*hub_);
    sources_.Rewind(durable);
    Start();
  }

  void Step(bool calm) {
    const auto dice = random_() % 100;
    Client& client = clients_[random_() % clients_.size()];
    if (dice < 1 && !calm) {
      Kill();
    } else if (dice < 30) {
      sources_.SendOne(*jobs_, now_, random_);
    } else if (dice < 50) {
      Tick();
    } else if (dice < 55 && !calm) {
      client.Disconnect(*hub_);
    } else if (dice < 65) {
      if (!client.is_connected()) client.Connect(*hub_, random_() % 2 == 0);
    } else if (dice < 80) {
      client.Send();
    } else {
      client.Receive(published_);
    }
  }

  void Tick() {
    now_ += 1;
    jobs_->TickDue(At(now_));
  }

  bool IsOver() const {
    return sources_.is_done() && std::all_of(clients_.begin(), clients_.end(), [](const auto& c) {
             return c.has_final() && c.is_told_the_end();
           });
  }

  std::mt19937 random_;
  const std::string root_;
  std::string directory_;
  std::unique_ptr<JobHub> hub_;  // outlives the table
  std::unique_ptr<JobTable> jobs_;
  Sources sources_;
  std::array<Client, 3> clients_;
  Published published_;
  double now_ = 0;
  int kills_ = 0;
};

class WatchModel : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(WatchModel, HoldsTheContract) {
  const test::ScratchDirectory root;
  World world(GetParam(), root.path());
  world.Run();
  EXPECT_GT(world.kills(), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WatchModel, ::testing::Range(1u, 13u));

}  // namespace
}  // namespace tidemark::service::watch_model_test
