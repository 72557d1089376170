#include "master/service/ingest_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/wire/count_fields.h"
#include "tidemark/limit.h"
#include "tidemark/storage/v1/received.pb.h"

namespace tidemark::service {
namespace {

// Maximum number of rejections in one response. Further rejections are only counted.
constexpr int kRejectionsMax = 100;
// Maximum number of rejections that wait on one stream whose client does not read.
constexpr int kRejectionsPerStreamMax = 1000;
// Maximum number of sources of one stream. Each takes a little memory while the stream lasts.
constexpr std::size_t kSourcesPerStreamMax = 10'000;

// The journal checks its space only between batches, so one batch must not fill it
// (ingest_service.proto).
constexpr std::size_t kBatchEventsMax = 10'000;

// The work of one turn of a stream. The work of an event is its number of bytes plus kEventWork, so
// a turn takes about 2 ms.
constexpr std::size_t kTurnWork = std::size_t{32} << 10;
constexpr std::size_t kEventWork = 64;

using Reactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

// State that all streams of a service share.
struct Dependencies {
  JobTable& jobs;
  const Clock& clock;
  Gate& gate;
  Metrics& metrics;
  const AgentControl& control;
  transport::TurnQueue& turns;
  OpenStreams& streams;
};

absl::Status ShuttingDown() {
  return absl::UnavailableError("the master is shutting down; resume later, or at another master");
}

// One stream: a read buffer, one response in flight, and pending answers. An answer to an event
// passes three stages: it is gathered, waits for the journal, and is ready to be written.
//
// On a small host, gRPC has two threads, which also read and write for all other streams. They
// process small batches immediately. The remainder of a large batch, or a batch of a busy job,
// waits for its turn (turn_queue.h). The stream is not read before that.
class IngestStream final : public Reactor,
                           public Journal::Waiter,
                           public ClosableStream,
                           public std::enable_shared_from_this<IngestStream> {
 public:
  static IngestStream* Start(const Dependencies& dependencies, AdmittedStream admitted,
                             std::string peer) {
    auto stream = std::shared_ptr<IngestStream>(
        new IngestStream(dependencies, std::move(admitted), std::move(peer)));
    stream->self_ = stream;  // Lives until OnDone, and while the journal may call it.
    if (dependencies.streams.Add(stream.get(), stream)) {
      stream->ReadNext();
    } else {
      stream->Close();
    }
    return stream.get();
  }
  ~IngestStream() override {
    metrics_.ingest_streams.fetch_sub(1, std::memory_order_relaxed);
    CountAnswered(gathered_count_ + awaited_count_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return EndWhenAnswered();
    bool is_done = false;
    {
      const std::lock_guard lock(batch_mutex_);
      if (grpc::Status status = ProcessMessage(); !status.ok()) return End(std::move(status));
      is_done = rest_ == nullptr;
    }
    Await();
    if (is_done) ReadNext();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    response_.Clear();
    if (ok) WriteNext();
    EndIfAnswered(ok);
  }

  // Runs on the journal's thread or on the thread that called NotifyWhenDurable().
  void OnDurable(Journal::Position) override {
    {
      const std::lock_guard lock(mutex_);
      if (!awaited_.empty() && DropDurable()) {
        CountAnswered(std::exchange(awaited_count_, 0));
        metrics_.journal.Observe(clock_.Now() - awaited_since_);
        for (Source* source : std::exchange(awaiting_, {})) {
          MoveNews(source->awaiting, source->ready);
          source->ready.clear_stalled();
          if (!std::exchange(source->is_ready, true)) ready_.push_back(source);
        }
        WriteNext();
        EndIfAnswered(true);
      }
    }
    Await();
    if (held_.exchange(false)) ReadNext();
  }

  // Reports to the agent why it must wait.
  void OnStalled(const absl::Status& status) override {
    const std::lock_guard lock(mutex_);
    for (Source* source : awaiting_) {
      source->ready.set_handle(source->awaiting.handle());
      source->ready.set_stalled(std::string(status.message()));
      if (!std::exchange(source->is_ready, true)) ready_.push_back(source);
    }
    WriteNext();
  }

  void OnCancel() override { End(grpc::Status::CANCELLED); }
  void OnDone() override {
    streams_.Remove(this);
    self_.reset();
  }

  void Close() override {
    const std::lock_guard lock(mutex_);
    reads_over_ = true;
    final_ = ToGrpc(ShuttingDown());
    EndIfAnswered(true);
  }

 private:
  struct Source {
    absl::Status fault;                 // why all its events are rejected, or OK
    wire::ReceivedEvent event;          // event in progress
    v1::StreamEventsResponse gathered;  // answers that may not be durable yet
    v1::StreamEventsResponse awaiting;  // answers that are durable when awaited_ is
    v1::StreamEventsResponse ready;
    std::uint32_t handle = 0;
    bool is_gathered = false;
    bool is_ready = false;
    bool greeted = false;
    NamedGroups wanted;  // last sent request
    bool wants_points = false;
  };

  IngestStream(const Dependencies& dependencies, AdmittedStream admitted, std::string peer)
      : jobs_(dependencies.jobs),
        clock_(dependencies.clock),
        gate_(dependencies.gate),
        metrics_(dependencies.metrics),
        control_(dependencies.control),
        turns_(dependencies.turns),
        streams_(dependencies.streams),
        stream_(std::move(admitted)),
        peer_(std::move(peer)) {
    metrics_.ingest_streams.fetch_add(1, std::memory_order_relaxed);
  }

  // Returns OK, or the status with which the stream ends. REQUIRES: batch_mutex_ is held.
  grpc::Status ProcessMessage() {
    using Request = storage::v1::ReceivedRequest;
    grpc::Slice bytes;
    if (!request_.TrySingleSlice(&bytes).ok() && !request_.DumpToSingleSlice(&bytes).ok()) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "not a StreamEventsRequest"};
    }
    request_.Clear();  // An idle stream must not keep its last message.
    metrics_.event_bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
    const absl::string_view message(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
    const auto check = [&](const char* what, int field, std::size_t max) -> grpc::Status {
      // Each field takes at least two bytes.
      const std::size_t count = message.size() > 2 * max ? wire::CountFields(message, {field}) : 0;
      if (count <= max) return grpc::Status::OK;
      return {grpc::StatusCode::INVALID_ARGUMENT,
              fmt::format("{} {} in one message; send at most {}", count, what, max)};
    };
    grpc::Status few = check("events", Request::kEventsFieldNumber, kBatchEventsMax);
    if (few.ok()) few = check("sources", Request::kSourcesFieldNumber, kSourcesPerStreamMax);
    if (!few.ok()) return few;
    wire::ReusedMessage<Request> request;
    if (!request.Parse(message)) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "not a StreamEventsRequest"};
    }
    return ProcessBatch(*request);
  }

  static void MoveNews(v1::StreamEventsResponse& from, v1::StreamEventsResponse& to) {
    const std::uint64_t accepted = std::max(from.accepted_sequence(), to.accepted_sequence());
    const std::uint64_t unnamed = from.unnamed_rejections() + to.unnamed_rejections();
    to.MergeFrom(from);
    to.set_accepted_sequence(accepted);
    to.set_unnamed_rejections(unnamed);
    from.Clear();
  }

  // Starts the next read. If the journal has no space for the log that was written last, waits for
  // the journal first, which slows the sender down.
  void ReadNext() {
    Journal::Mark until = jobs_.journal().durable() + 1;
    {
      const std::lock_guard lock(mutex_);
      if (ended_ || reads_over_) return;
      const std::shared_ptr<Journal::Log> log = last_log_.lock();
      if (jobs_.journal().HasRoomFor(log)) return StartRead(&request_);
      if (!awaited_.empty() && log == awaited_.back().log) until = awaited_.back();
    }
    held_ = true;
    jobs_.journal().NotifyWhenDurable(std::move(until), shared_from_this());
  }

  // Returns OK, or the status with which the stream ends. REQUIRES: batch_mutex_ is held.
  grpc::Status ProcessBatch(storage::v1::ReceivedRequest& request) {
    if (!request.sent_by_0_1().empty()) {
      return {grpc::StatusCode::FAILED_PRECONDITION,
              "the sender uses the protocol of Tidemark 0.1, which this master does not support; "
              "update the agent or connector"};
    }
    for (const v1::Source& opened : request.sources()) {
      if (grpc::Status status = OpenSource(opened); !status.ok()) return status;
    }
    if (request.events().empty()) return grpc::Status::OK;
    const auto found = sources_.find(request.handle());
    if (found == sources_.end()) {
      return {grpc::StatusCode::INVALID_ARGUMENT,
              fmt::format("a batch has handle {}, which has no source; send the source first",
                          request.handle())};
    }
    Source& source = found->second;
    source.event.sent_at.reset();
    if (request.has_sent_at()) source.event.sent_at = absl::FromUnixNanos(request.sent_at());
    source.event.dropped_events = request.dropped_events();
    source.event.sequence = request.first_sequence();
    const bool waits = turns_.IsBusy(source.event.job_id);
    if (waits) {
      AddTurn(source);
      return DeferRest(request, 0);
    }
    const absl::StatusOr<std::size_t> next = ProcessEvents(request, 0, source);
    if (!next.ok()) return ToGrpc(next.status());
    return *next == EventsOf(request) ? grpc::Status::OK : DeferRest(request, *next);
  }
  static std::size_t EventsOf(const storage::v1::ReceivedRequest& request) {
    return static_cast<std::size_t>(request.events_size());
  }
  // Stores the remainder of a batch for a requested turn.
  grpc::Status DeferRest(storage::v1::ReceivedRequest& request, std::size_t next) {
    rest_ = std::make_unique<storage::v1::ReceivedRequest>();
    rest_->Swap(&request);
    next_ = next;
    return grpc::Status::OK;
  }
  void AddTurn(const Source& source) {
    turns_.Add(source.event.job_id, [self = shared_from_this()] { self->RunTurn(); });
  }

  // Continues the batch, on a thread of turns_.
  void RunTurn() {
    bool is_done = false;
    {
      const std::lock_guard lock(batch_mutex_);
      if (rest_ == nullptr) return;
      if (has_ended()) return rest_.reset();
      const absl::StatusOr<std::size_t> next =
          ProcessEvents(*rest_, next_, sources_.find(rest_->handle())->second);
      if (!next.ok()) {
        rest_.reset();
        return End(ToGrpc(next.status()));
      }
      next_ = *next;
      is_done = next_ == EventsOf(*rest_);
      if (is_done) rest_.reset();
    }
    Await();
    if (is_done) ReadNext();
  }
  bool has_ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

  // Processes events from `begin` on, until all are done, the turn is over, or the job is busy. If
  // events remain, requests another turn. Returns the position of the first unprocessed event, or
  // the status with which the stream ends. REQUIRES: batch_mutex_ is held.
  absl::StatusOr<std::size_t> ProcessEvents(storage::v1::ReceivedRequest& request,
                                            std::size_t begin, Source& source) {
    const absl::Status may = stream_.caller.Check(Right::kReport, source.event.job_id);
    // The token may have been revoked in the meantime.
    if (absl::IsUnauthenticated(may)) return gate_.Refuse(may, peer_);
    const Sender sender = {.name_space = stream_.caller.NameSpaceOf(Right::kReport),
                           .reporter = stream_.caller.ReporterAt(HostOfPeer(peer_))};
    const std::function<void()> when_free = [self = shared_from_this(), &source] {
      self->AddTurn(source);
    };
    std::size_t next = begin;
    for (std::size_t work = 0; next < EventsOf(request) && work < kTurnWork; ++next) {
      std::string& body = *request.mutable_events(static_cast<int>(next));
      work += kEventWork + body.size();
      source.event.body.swap(body);
      const absl::Status& refusal = source.fault.ok() ? may : source.fault;
      const auto taken = refusal.ok() ? IngestOne(source, sender, when_free) : Refused(refusal);
      source.event.body.swap(body);  // An idle source keeps no memory of events.
      if (!taken) return next;
      Gather(*taken, source);
      // If the first event has no number, later events have none either.
      if (source.event.sequence > 0) ++source.event.sequence;
    }
    if (next < EventsOf(request)) AddTurn(source);
    return next;
  }

  grpc::Status OpenSource(const v1::Source& opened) {
    wire::ReceivedEvent named = {
        .job_id = opened.job_id(), .run_uid = opened.run_uid(), .source_id = opened.source_id()};
    // Other sources of the stream may be valid, so an invalid source does not end it.
    absl::Status fault = wire::CheckSource(named);
    if (!fault.ok()) named = {};  // Invalid ids may be long.
    const std::lock_guard lock(mutex_);
    if (sources_.size() >= kSourcesPerStreamMax && !sources_.contains(opened.handle())) {
      return ToGrpc(gate_.Refuse(
          LimitExceeded("sources_per_stream",
                        fmt::format("a stream may have at most {} sources", kSourcesPerStreamMax)),
          peer_));
    }
    const auto [known, is_new] = sources_.try_emplace(opened.handle());
    wire::ReceivedEvent& event = known->second.event;
    if (is_new) {
      event = std::move(named);
      known->second.fault = std::move(fault);
      known->second.handle = opened.handle();
      return grpc::Status::OK;
    }
    const bool is_same = event.source_id == named.source_id && event.job_id == named.job_id &&
                         event.run_uid == named.run_uid;
    if (is_same) return grpc::Status::OK;
    if (!known->second.fault.ok()) {
      return {grpc::StatusCode::INVALID_ARGUMENT,
              fmt::format("handle {} belongs to a source with invalid ids; open the other source "
                          "under another handle",
                          opened.handle())};
    }
    return {grpc::StatusCode::INVALID_ARGUMENT,
            fmt::format("handle {} is already source {} of job {}; open the other source under "
                        "another handle",
                        opened.handle(), event.source_id, event.job_id)};
  }

  std::optional<IngestResult> Refused(const absl::Status& status) {
    metrics_.events.fetch_add(1, std::memory_order_relaxed);
    metrics_.events_refused.fetch_add(1, std::memory_order_relaxed);
    return IngestResult{.status = gate_.Refuse(status, peer_)};
  }

  // Returns nullopt if the job is busy; `when_free` is then called later.
  std::optional<IngestResult> IngestOne(const Source& source, const Sender& sender,
                                        const std::function<void()>& when_free) {
    std::optional<IngestResult> taken =
        jobs_.IngestUnlessBusy(source.event, clock_.Now(), sender, when_free);
    if (!taken) return taken;
    metrics_.events.fetch_add(1, std::memory_order_relaxed);
    if (taken->status.ok()) return taken;
    metrics_.events_refused.fetch_add(1, std::memory_order_relaxed);
    if (absl::IsResourceExhausted(taken->status)) {
      metrics_.events_refused_by_limit.fetch_add(1, std::memory_order_relaxed);
    }
    return taken;
  }

  void Gather(const IngestResult& taken, Source& source) {
    const std::lock_guard lock(mutex_);
    GatherMark(taken.mark);
    if (gathered_count_++ == 0) gathered_since_ = clock_.Now();
    metrics_.unanswered_events.fetch_add(1, std::memory_order_relaxed);
    if (!std::exchange(source.is_gathered, true)) gathered_.push_back(&source);
    source.gathered.set_handle(source.handle);
    source.gathered.set_accepted_sequence(
        std::max(source.gathered.accepted_sequence(), source.event.sequence));
    if (!taken.status.ok()) AddRejection(taken.status, source);
    AddControl(taken, source);
  }

  // REQUIRES: mutex_ is held.
  void AddRejection(const absl::Status& why, Source& source) {
    if (source.gathered.rejections_size() >= kRejectionsMax ||
        rejections_waiting_ >= kRejectionsPerStreamMax) {
      source.gathered.set_unnamed_rejections(source.gathered.unnamed_rejections() + 1);
      return;
    }
    ++rejections_waiting_;
    v1::Rejection& rejection = *source.gathered.add_rejections();
    rejection.set_sequence(source.event.sequence);
    rejection.set_code(static_cast<int>(why.code()));
    rejection.set_reason(std::string(why.message()));
    rejection.set_limit(ExceededLimit(why));
  }

  // Keeps the last mark of each log. REQUIRES: mutex_ is held.
  void GatherMark(Journal::Mark mark) {
    last_log_ = mark.log;
    for (auto known = gathered_marks_.rbegin(); known != gathered_marks_.rend(); ++known) {
      if (known->log != mark.log) continue;
      known->position = std::max(known->position, mark.position);
      return;
    }
    gathered_marks_.push_back(std::move(mark));
  }

  // Removes durable marks. Returns true if none remain. REQUIRES: mutex_ is held.
  bool DropDurable() {
    while (!awaited_.empty() && jobs_.journal().IsDurable(awaited_.back())) awaited_.pop_back();
    return awaited_.empty();
  }

  void CountAnswered(std::int64_t events) {
    metrics_.unanswered_events.fetch_sub(events, std::memory_order_relaxed);
  }

  // Adds those requests of the master that have changed since the sender received them. REQUIRES:
  // mutex_ is held.
  void AddControl(const IngestResult& taken, Source& source) {
    if (!std::exchange(source.greeted, true)) {
      v1::Control& control = *source.gathered.mutable_control();
      const std::int64_t nanos = absl::ToInt64Nanoseconds(control_.flush_interval);
      control.mutable_flush_interval()->set_seconds(nanos / 1'000'000'000);
      control.mutable_flush_interval()->set_nanos(static_cast<int>(nanos % 1'000'000'000));
      control.set_lambda(control_.lambda);
    }
    if (!taken.is_of_job) return;
    if (std::exchange(source.wants_points, taken.wants_points) != taken.wants_points) {
      source.gathered.mutable_control()->set_send_points(taken.wants_points);
    }
    const NamedGroups& wanted = taken.wanted;
    const NamedGroups before = std::exchange(source.wanted, wanted);
    if (wanted.bytes_min != before.bytes_min) {
      source.gathered.mutable_control()->set_named_group_bytes_min(wanted.bytes_min);
    }
    if (wanted.sampled_below != before.sampled_below) {
      source.gathered.mutable_control()->set_sampled_below(wanted.sampled_below);
    }
    if (wanted.sampled_below_per_byte != before.sampled_below_per_byte) {
      source.gathered.mutable_control()->set_sampled_below_per_byte(wanted.sampled_below_per_byte);
    }
  }

  // Makes the gathered answers wait for the journal, unless earlier answers are already waiting.
  void Await() {
    Journal::Mark next;
    {
      const std::lock_guard lock(mutex_);
      if (awaited_.empty()) {
        if (gathered_.empty()) return;
        awaiting_.swap(gathered_);
        for (Source* source : awaiting_) {
          MoveNews(source->gathered, source->awaiting);
          source->is_gathered = false;
        }
        awaited_.swap(gathered_marks_);
        asked_for_ = 0;
        awaited_count_ = std::exchange(gathered_count_, 0);
        awaited_since_ = gathered_since_;
      }
      // Marks are awaited one at a time, in any order.
      if (std::exchange(asked_for_, awaited_.size()) == awaited_.size()) return;
      next = awaited_.back();
    }
    jobs_.journal().NotifyWhenDurable(std::move(next), shared_from_this());
  }

  // REQUIRES: mutex_ is held.
  void WriteNext() {
    if (writing_ || ended_ || ready_.empty()) return;
    Source& source = *ready_.back();
    ready_.pop_back();
    source.is_ready = false;
    bool owned = false;
    rejections_waiting_ -= source.ready.rejections_size();
    grpc::SerializationTraits<v1::StreamEventsResponse>::Serialize(source.ready, &response_,
                                                                   &owned);
    source.ready.Clear();
    writing_ = true;
    StartWrite(&response_);
  }

  // The client sends no more, but still waits for acknowledgements.
  void EndWhenAnswered() {
    const std::lock_guard lock(mutex_);
    reads_over_ = true;
    EndIfAnswered(true);
  }

  // REQUIRES: mutex_ is held.
  void EndIfAnswered(bool can_write) {
    if (!reads_over_ || writing_) return;
    const bool answered = ready_.empty() && awaiting_.empty() && gathered_.empty();
    if (answered || !can_write) EndLocked(final_);
  }

  void End(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    EndLocked(std::move(status));
  }
  // REQUIRES: mutex_ is held.
  void EndLocked(grpc::Status status) {
    if (std::exchange(ended_, true)) return;
    Finish(std::move(status));
  }

  JobTable& jobs_;
  const Clock& clock_;
  Gate& gate_;
  Metrics& metrics_;
  const AgentControl& control_;
  transport::TurnQueue& turns_;
  OpenStreams& streams_;
  AdmittedStream stream_;  // used by the thread that processes events
  const std::string peer_;
  std::shared_ptr<IngestStream> self_;
  grpc::ByteBuffer request_;        // buffer of the read in flight
  std::atomic<bool> held_ = false;  // true while the next read waits for the journal
  // Held by the thread that processes events. Acquired before mutex_. Guards rest_ and next_.
  std::mutex batch_mutex_;
  // The remainder of a batch that waits for its turn, or null.
  std::unique_ptr<storage::v1::ReceivedRequest> rest_;
  std::size_t next_ = 0;  // position in rest_
  std::mutex mutex_;      // Guards all members below.
  bool writing_ = false;
  bool reads_over_ = false;
  grpc::Status final_;  // status after the last answer
  bool ended_ = false;
  int rejections_waiting_ = 0;  // total over sources_
  grpc::ByteBuffer response_;   // buffer of the write in flight
  // By handle. The thread that processes events may read it without this lock.
  std::map<std::uint32_t, Source> sources_;
  std::vector<Source*> gathered_;
  std::vector<Source*> awaiting_;
  std::vector<Source*> ready_;
  std::vector<Journal::Mark> gathered_marks_;
  std::vector<Journal::Mark> awaited_;  // marks of `awaiting` answers that are not durable yet
  std::weak_ptr<Journal::Log> last_log_;
  std::size_t asked_for_ = 0;        // size of awaited_ at the last request to the journal
  std::int64_t gathered_count_ = 0;  // events in gathered_
  std::int64_t awaited_count_ = 0;
  absl::Time gathered_since_;  // arrival of the oldest event in gathered_
  absl::Time awaited_since_;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* IngestService::StreamEvents(
    grpc::CallbackServerContext* context) {
  absl::StatusOr<AdmittedStream> admitted = gate_.Admit(*context);
  if (!admitted.ok()) return new RefusedStream<Reactor>(admitted.status());
  return IngestStream::Start({jobs_, clock_, gate_, metrics_, control_, turns_, streams_},
                             *std::move(admitted), context->peer());
}

}  // namespace tidemark::service
