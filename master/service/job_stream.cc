#include "master/service/job_stream.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <mutex>
#include <utility>

#include "proto/wire/message_time.h"
#include "tidemark/field_error.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::service {
namespace {

constexpr int kTokenBase = 16;

bool ParseNumber(const char* begin, const char* end, std::uint64_t& number) {
  const auto [parsed, error] = std::from_chars(begin, end, number, kTokenBase);
  return error == std::errc() && parsed == end;
}

}  // namespace

std::string EncodeResumeToken(const ResumePoint& point) {
  return fmt::format("{:x}-{:x}", point.run.value_or(0), point.sequence);
}

absl::StatusOr<ResumePoint> ParseResumeToken(const std::string& token) {
  const std::size_t dash = token.find('-');
  std::uint64_t run = 0;
  ResumePoint point;
  const char* const begin = token.data();
  if (dash == std::string::npos || !ParseNumber(begin, begin + dash, run) ||
      !ParseNumber(begin + dash + 1, begin + token.size(), point.sequence)) {
    return FieldError(
        "resume_token",
        "was not issued by this service; send the token of the last response, or none");
  }
  point.run = run;
  return point;
}

void JobCursor::Begin(std::shared_ptr<const Snapshot> newest, std::uint64_t run) {
  begun_ = true;
  const bool is_same_run = from_.run.value_or(run) == run && newest->sequence >= from_.sequence;
  const bool has_any = from_.sequence != 0;
  restarted_ = has_any && !is_same_run;
  counts_gaps_ = has_any && is_same_run;
  if (!is_same_run) from_.sequence = 0;
  from_.run = run;
  over_ = counts_gaps_ && newest->is_final && newest->sequence == from_.sequence;
  Offer(std::move(newest), run);
}

void JobCursor::Offer(std::shared_ptr<const Snapshot> snapshot, std::uint64_t run) {
  const std::uint64_t known = next_ != nullptr ? next_->sequence : from_.sequence;
  const bool is_of_run = begun_ && run == from_.run;
  if (is_of_run && snapshot->sequence > known) next_ = std::move(snapshot);
}

absl::Time JobCursor::next_at() const {
  if (next_ == nullptr) return absl::InfiniteFuture();
  return next_->is_final ? absl::InfinitePast() : taken_at_ + options_.interval_min;
}

JobCursor::Update JobCursor::Next(absl::Time now) {
  const std::shared_ptr<const Snapshot> taken = std::exchange(next_, nullptr);
  Update update{.published = taken};
  if (counts_gaps_) update.skipped = taken->sequence - from_.sequence - 1;
  update.restarted = std::exchange(restarted_, false);
  counts_gaps_ = true;
  from_.sequence = taken->sequence;
  over_ = taken->is_final;
  taken_at_ = now;
  update.resume_token = EncodeResumeToken(from_);
  if (options_.deltas) {
    update.base = sent_.lock();
    sent_ = taken;
  }
  return update;
}

namespace {

// Maximum number of jobs in one response. Chosen by hand; this many jobs take a few tens of
// kilobytes.
constexpr int kJobsAtOnce = 100;
// Interval at which a watcher of all jobs receives tokens while nothing changes. After 10 s without
// a response, clients assume that a master is unreachable.
constexpr absl::Duration kTokenEvery = absl::Seconds(2);

using Refused = RefusedStream<ByteStream>;

grpc::Slice Serialized(const google::protobuf::MessageLite& message) {
  return grpc::Slice(message.SerializeAsString());
}

// Parses a request. Only a broken client sends a request that cannot be parsed.
template <typename Request>
absl::StatusOr<Request> RequestOf(const grpc::ByteBuffer& untrusted) {
  Request request;
  grpc::Slice bytes;
  if (untrusted.DumpToSingleSlice(&bytes).ok() &&
      request.ParseFromArray(bytes.begin(), static_cast<int>(bytes.size()))) {
    return request;
  }
  return absl::InvalidArgumentError(
      fmt::format("the request is not a {}", Request::descriptor()->full_name()));
}

class JobStream : public ByteStream,
                  public JobWatcher,
                  public transport::WritesInFlight::Writer,
                  public std::enable_shared_from_this<JobStream> {
 public:
  void OnRoundEnd() override {
    const std::lock_guard lock(mutex_);
    Continue();
  }
  void Close() override {
    End(absl::UnavailableError("the master is shutting down; resume later, or at another master"));
  }
  void OnWriteDone(bool ok) override {
    publishing_.deliveries.in_flight.End(this);
    const std::lock_guard lock(mutex_);
    is_writing_ = false;
    response_.Clear();
    if (!ok) return EndLocked(absl::CancelledError());
    Continue();
  }
  void CutWrite() override {
    const std::lock_guard lock(mutex_);
    if (is_writing_) context_.TryCancel();
  }
  void OnCancel() override { End(absl::CancelledError()); }
  void OnDone() override {
    publishing_.hub.Unsubscribe(job_id_, this);
    self_.reset();
  }

 protected:
  // A response, and the part of it that it shares with other responses.
  struct Made {
    grpc::ByteBuffer response;
    transport::WritesInFlight::Bytes bytes;
  };

  JobStream(const Publishing& publishing, grpc::CallbackServerContext& context,
            AdmittedStream admitted, std::string job_id)
      : publishing_(publishing),
        job_id_(std::move(job_id)),
        stream_(std::move(admitted)),
        context_(context) {}

  // Subscribes the stream and keeps it alive until OnDone.
  void Start(std::shared_ptr<JobStream> self, bool wants_round_end) {
    self_ = std::move(self);
    const absl::Status taken = publishing_.hub.Subscribe(job_id_, self_, wants_round_end);
    if (!taken.ok()) End(taken);
  }

  // Returns the next response, or nullopt if nothing is new. Called by one thread at a time.
  virtual std::optional<Made> Make() = 0;
  // Returns true if Make() may return a response now. This function and those below require mutex_.
  virtual bool HasNext(absl::Time now) const = 0;
  // Returns true if no response will follow.
  virtual bool IsOver() const { return false; }
  // Returns OK if the caller may still read.
  virtual absl::Status Check() = 0;

  // Requests a response after the current one. Ends the stream if no more responses will follow.
  void Continue() {
    if (ended_) return;
    if (is_making_ || is_writing_) {
      is_asked_again_ = true;
      return;
    }
    is_asked_again_ = false;
    // The token may have been revoked in the meantime.
    if (const absl::Status allowed = Check(); !allowed.ok()) return EndLocked(allowed);
    if (HasNext(publishing_.clock.Now())) {
      is_making_ = true;
      publishing_.deliveries.turns.Add(job_id_, [self = shared_from_this()] { self->Deliver(); });
    } else if (IsOver()) {
      EndLocked(absl::OkStatus());
    }
  }
  void EndLocked(const absl::Status& status) {
    if (!std::exchange(ended_, true)) Finish(ToGrpc(status));
  }
  void End(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    EndLocked(status);
  }

  const Publishing publishing_;
  const std::string job_id_;  // empty for all jobs
  std::mutex mutex_;          // Guards all members below.
  AdmittedStream stream_;

 private:
  // Runs on a thread of deliveries.turns.
  void Deliver() {
    if (has_ended()) return;
    std::optional<Made> made = Make();
    transport::WritesInFlight& in_flight = publishing_.deliveries.in_flight;
    if (made) in_flight.Begin(shared_from_this(), job_id_, made->bytes);
    bool is_written = false;
    {
      const std::lock_guard lock(mutex_);
      is_making_ = false;
      if (made && !ended_ && !in_flight.IsCounted(this)) {
        context_.TryCancel();
        EndLocked(absl::CancelledError());
      } else if (made && !ended_) {
        response_.Swap(&made->response);
        is_writing_ = is_written = true;
        StartWrite(&response_);
      } else if (is_asked_again_ || IsOver()) {
        Continue();
      }
    }
    if (made && !is_written) in_flight.End(this);
  }

  bool has_ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

  grpc::CallbackServerContext& context_;  // valid while a write is in flight
  std::shared_ptr<JobStream> self_;
  bool is_making_ = false;
  bool is_writing_ = false;
  // true if a response was requested while another is made or written
  bool is_asked_again_ = false;
  bool ended_ = false;
  grpc::ByteBuffer response_;  // buffer of the write in flight
};

class OneJobStream final : public JobStream {
 public:
  struct Asked {
    std::string job_id;
    std::string run_uid;
    bool waits_for_job = false;
    ResumePoint from;
    JobCursor::Options options;
  };

  static OneJobStream* Start(const Publishing& publishing, grpc::CallbackServerContext& context,
                             AdmittedStream admitted, Asked asked) {
    const bool is_paced = asked.options.interval_min > absl::ZeroDuration();
    auto stream = std::shared_ptr<OneJobStream>(
        new OneJobStream(publishing, context, std::move(admitted), std::move(asked)));
    stream->JobStream::Start(stream, is_paced);
    stream->Begin();
    return stream.get();
  }

  void Offer(const PublishedJob& job) override {
    const std::lock_guard lock(mutex_);
    if (!begun_ && !publishing_.hub.IsCurrent(job)) return;
    Note(job);
    Continue();
  }
  ~OneJobStream() override {
    if (cursor_.options().deltas) publishing_.deliveries.sent.RemoveReader();
  }

 private:
  OneJobStream(const Publishing& publishing, grpc::CallbackServerContext& context,
               AdmittedStream admitted, Asked asked)
      : JobStream(publishing, context, std::move(admitted), asked.job_id),
        run_uid_(std::move(asked.run_uid)),
        waits_for_job_(asked.waits_for_job),
        cursor_(asked.from, asked.options) {
    if (asked.options.deltas) publishing.deliveries.sent.AddReader();
  }

  // Reads the newest snapshot under the lock, after the subscription, so that no snapshot is missed
  // between this snapshot and the next.
  void Begin() {
    const std::lock_guard lock(mutex_);
    const absl::StatusOr<PublishedJob> job = publishing_.hub.Find(job_id_);
    if (job.ok()) Note(*job);
    if (begun_ || waits_for_job_) return Continue();
    EndLocked(job.ok() ? absl::NotFoundError(fmt::format("no run {} of job {}", run_uid_, job_id_))
                       : job.status());
  }
  void Note(const PublishedJob& job) {
    if (begun_) return cursor_.Offer(job.newest, job.run);
    if (!run_uid_.empty() && job.newest->run_uid != run_uid_) return;
    begun_ = true;
    cursor_.Begin(job.newest, job.run);
  }

  std::optional<Made> Make() override {
    JobCursor::Update update;
    {
      const std::lock_guard lock(mutex_);
      const absl::Time now = publishing_.clock.Now();
      if (!HasNext(now)) return std::nullopt;
      update = cursor_.Next(now);
    }
    publishing_.metrics.snapshots_skipped.fetch_add(update.skipped, std::memory_order_relaxed);
    v1::WatchJobResponse message;
    message.set_skipped_snapshots(update.skipped);
    message.set_restarted(update.restarted);
    message.set_resume_token(update.resume_token);
    // A serialized message may be a concatenation of its fields.
    const grpc::Slice snapshot = Encoded(update);
    const grpc::Slice parts[] = {HeadOfSnapshot(snapshot.size()), snapshot, Serialized(message)};
    return Made{.response = grpc::ByteBuffer(parts, std::size(parts)),
                .bytes = {.data = snapshot.begin(), .size = snapshot.size()}};
  }
  grpc::Slice Encoded(const JobCursor::Update& update) {
    Deliveries& deliveries = publishing_.deliveries;
    const JobCursor::Options& options = cursor_.options();
    if (options.deltas) deliveries.sent.Add(update.published);
    if (update.base != nullptr) {
      if (auto delta = deliveries.encoded.DeltaOf(update.base, update.published, options.view)) {
        return *std::move(delta);
      }
    }
    return deliveries.encoded.Of(update.published, options.view);
  }
  // Returns the bytes before WatchJobResponse.snapshot.
  static grpc::Slice HeadOfSnapshot(std::size_t bytes) {
    using google::protobuf::internal::WireFormatLite;
    std::string head;
    {
      google::protobuf::io::StringOutputStream out(&head);
      google::protobuf::io::CodedOutputStream coded(&out);
      coded.WriteTag(WireFormatLite::MakeTag(v1::WatchJobResponse::kSnapshotFieldNumber,
                                             WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
      coded.WriteVarint32(static_cast<std::uint32_t>(bytes));
    }
    return grpc::Slice(head);
  }
  bool HasNext(absl::Time now) const override { return cursor_.next_at() <= now; }
  bool IsOver() const override { return cursor_.is_over(); }
  absl::Status Check() override { return stream_.caller.Check(Right::kRead, job_id_); }

  const std::string run_uid_;
  const bool waits_for_job_;
  bool begun_ = false;
  JobCursor cursor_;
};

class AllJobsStream final : public JobStream {
 public:
  static AllJobsStream* Start(const Publishing& publishing, grpc::CallbackServerContext& context,
                              AdmittedStream admitted, JobListCursor cursor,
                              absl::Duration interval_min) {
    auto stream = std::shared_ptr<AllJobsStream>(new AllJobsStream(
        publishing, context, std::move(admitted), std::move(cursor), interval_min));
    stream->JobStream::Start(stream, /*wants_round_end=*/true);
    stream->OnRoundEnd();  // Starts immediately.
    return stream.get();
  }

 private:
  AllJobsStream(const Publishing& publishing, grpc::CallbackServerContext& context,
                AdmittedStream admitted, JobListCursor cursor, absl::Duration interval_min)
      : JobStream(publishing, context, std::move(admitted), ""),
        interval_min_(interval_min),
        cursor_(std::move(cursor)) {}

  std::optional<Made> Make() override {
    v1::WatchJobsResponse response;
    if (!Fill(publishing_.clock.Now(), response)) return std::nullopt;
    const grpc::Slice whole = Serialized(response);
    return Made{.response = grpc::ByteBuffer(&whole, 1),
                .bytes = {.data = this, .size = whole.size()}};
  }
  bool HasNext(absl::Time now) const override { return now >= next_at_; }
  bool Fill(absl::Time now, v1::WatchJobsResponse& response) {
    bool synced = synced_;
    std::size_t bytes = 0;
    std::uint64_t up_to = std::numeric_limits<std::uint64_t>::max();
    bool is_cut = false;
    while (!is_cut) {
      const auto update = publishing_.hub.NextUpdate(cursor_, 1, up_to);
      if (!update) break;
      up_to = std::min(up_to, update->newest);
      for (const auto& snapshot : update->snapshots) {
        v1::Snapshot& added = *response.add_snapshots();
        wire::EncodeSnapshot(*snapshot, cursor_.view(), added);
        bytes += added.ByteSizeLong();
      }
      for (const std::string& id : update->removed_job_ids) response.add_removed_job_ids(id);
      response.set_restarted(response.restarted() || update->restarted);
      resume_token_ = update->resume_token;
      synced = update->synced;
      const int jobs = response.snapshots_size() + response.removed_job_ids_size();
      is_cut = jobs >= kJobsAtOnce || bytes >= kResponseBytes;
    }
    const bool is_news = response.snapshots_size() + response.removed_job_ids_size() > 0 ||
                         synced != synced_ || response.restarted();
    if (!is_news && now < written_at_ + kTokenEvery) return false;
    synced_ = synced;
    written_at_ = now;
    response.set_resume_token(resume_token_);
    response.set_synced(synced_);
    // Neither the remainder of a full response nor the initial jobs wait for the interval.
    const std::lock_guard lock(mutex_);
    next_at_ = synced && !is_cut ? now + interval_min_ : absl::InfinitePast();
    return true;
  }
  absl::Status Check() override { return stream_.caller.CheckToken(); }

  const absl::Duration interval_min_;
  absl::Time next_at_ = absl::InfinitePast();  // guarded by mutex_
  // Used only by the thread that computes a response.
  JobListCursor cursor_;
  bool synced_ = false;
  std::string resume_token_;
  absl::Time written_at_ = absl::InfinitePast();
};

absl::StatusOr<absl::Duration> IntervalOf(bool is_set,
                                          const google::protobuf::Duration& untrusted) {
  if (!is_set) return absl::ZeroDuration();
  auto interval = wire::ParseElapsed(untrusted, "interval_min");
  if (interval.ok()) return interval;
  return FieldError("interval_min", "must be from 0 to 315576000000 s");
}

absl::StatusOr<OneJobStream::Asked> AskedOf(const v1::WatchJobRequest& untrusted) {
  if (absl::Status id = wire::CheckId("job_id", untrusted.job_id()); !id.ok()) return id;
  if (absl::Status uid = wire::CheckText("run_uid", untrusted.run_uid()); !uid.ok()) return uid;
  OneJobStream::Asked asked = {.job_id = untrusted.job_id(),
                               .run_uid = untrusted.run_uid(),
                               .waits_for_job = untrusted.wait_for_job()};
  const absl::StatusOr<View> view = wire::ParseView(untrusted.view(), View::kFull);
  if (!view.ok()) return view.status();
  const auto interval = IntervalOf(untrusted.has_interval_min(), untrusted.interval_min());
  if (!interval.ok()) return interval.status();
  asked.options = {.view = *view, .deltas = untrusted.deltas(), .interval_min = *interval};
  if (untrusted.resume_token().empty()) return asked;
  const auto from = ParseResumeToken(untrusted.resume_token());
  if (!from.ok()) return from.status();
  asked.from = *from;
  return asked;
}

}  // namespace

ByteStream* WatchJob(const Publishing& publishing, grpc::CallbackServerContext& context,
                     const grpc::ByteBuffer& untrusted_bytes) {
  absl::StatusOr<Gate::AdmittedWatcher> admitted = publishing.gate.AdmitWatcher(context);
  if (!admitted.ok()) return new Refused(admitted.status());
  const auto untrusted = RequestOf<v1::WatchJobRequest>(untrusted_bytes);
  if (!untrusted.ok()) return new Refused(untrusted.status());
  if (absl::Status allowed = admitted->stream.caller.Check(Right::kRead, untrusted->job_id());
      !allowed.ok()) {
    return new Refused(publishing.gate.Refuse(std::move(allowed), PeerOfCall(context)));
  }
  absl::StatusOr<OneJobStream::Asked> asked = AskedOf(*untrusted);
  if (!asked.ok()) return new Refused(asked.status());
  return OneJobStream::Start(publishing, context, std::move(admitted->stream), *std::move(asked));
}

ByteStream* WatchJobs(const Publishing& publishing, grpc::CallbackServerContext& context,
                      const grpc::ByteBuffer& untrusted_bytes) {
  absl::StatusOr<Gate::AdmittedWatcher> admitted = publishing.gate.AdmitWatcher(context);
  if (!admitted.ok()) return new Refused(admitted.status());
  const auto untrusted = RequestOf<v1::WatchJobsRequest>(untrusted_bytes);
  if (!untrusted.ok()) return new Refused(untrusted.status());
  absl::StatusOr<JobFilter> filter = wire::ParseJobFilter(untrusted->filter());
  if (!filter.ok()) return new Refused(FieldErrorWithin("filter", filter.status()));
  const absl::StatusOr<View> view = wire::ParseView(untrusted->view(), View::kBasic);
  if (!view.ok()) return new Refused(view.status());
  const auto interval = IntervalOf(untrusted->has_interval_min(), untrusted->interval_min());
  if (!interval.ok()) return new Refused(interval.status());
  absl::StatusOr<JobListCursor> cursor = publishing.hub.Open(
      *std::move(filter), *view, untrusted->resume_token(),
      [caller = admitted->stream.caller](const std::string& id) { return caller.MayRead(id); });
  if (!cursor.ok()) return new Refused(cursor.status());
  return AllJobsStream::Start(publishing, context, std::move(admitted->stream), *std::move(cursor),
                              *interval);
}

}  // namespace tidemark::service
