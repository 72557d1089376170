// The API of the page. Each request becomes a call of JobService on an in-process channel, with the
// token and the peer of the client. Access rules, limits and numbers are therefore the same as in
// gRPC.
#pragma once

#include <fmt/format.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/wire/snapshot_delta.h"
#include "tidemark/v1/explain_service.grpc.pb.h"
#include "tidemark/v1/job_service.grpc.pb.h"
#include "tidemark/v1/job_service.pb.h"
#include "transport/turn_queue.h"
#include "transport/writes_in_flight.h"
#include "web/http_exchange.h"
#include "web/routes.h"
#include "web/web_server.h"

namespace tidemark::web {

// The words that a reader has received about stages and the jobs of a workflow.
class WordChanges {
 public:
  // Takes the words of a whole snapshot and removes the words that the reader already has. Then
  // records that the reader has all of them. Discards words of other parts, so that the state
  // depends only on the newest snapshot.
  void RemoveKnown(v1::JobWords& words);

 private:
  std::map<std::string, std::string> sent_;  // sent words by id
};

// Encodes the updates of watched jobs as JSON, once for all readers of the same update.
//
// A whole snapshot contains all words. A delta contains the words that differ from its base. An
// update therefore depends only on its snapshot, its base and the view. Data for one reader, such
// as the number of snapshots that it missed, precedes the update.
//
// The last few snapshots of each job and view are kept as bases of deltas, in a bounded number of
// bytes; the oldest are dropped first. A reader that lags too far must resume.
//
// Thread-safe. Callers should get the updates of one job one at a time, so that none is encoded
// twice.
class SharedUpdates {
 public:
  struct Update {
    std::string head;  // JSON up to the snapshot, for this reader
    // JSON from the snapshot to the end, shared by all readers
    std::shared_ptr<const std::string> rest;
    std::string resume_token;  // resume token of a reader that has this update
    std::string json() const { return head + *rest; }  // JobUpdate
  };

  explicit SharedUpdates(WordsOf words_of, std::size_t bytes_max = std::size_t{64} << 20)
      : words_of_(std::move(words_of)), bytes_max_(bytes_max) {}

  // Returns the update for a reader of `job_id` in `view`. `response` is a serialized
  // WatchJobResponse. `before` is the resume token of the reader's last snapshot, or empty. Returns
  // nullopt if the response is invalid or if its base is not kept. The reader must then resume from
  // `before`.
  std::optional<Update> Get(absl::string_view response, const std::string& job_id,
                            tidemark::v1::View view, const std::string& before);

  // Returns the number of encoded updates.
  std::uint64_t made() const;

 private:
  // Maximum number of snapshots of each job and view. Chosen by hand, since most readers are within
  // three updates of each other.
  static constexpr std::size_t kVersionsMax = 3;

  // A whole snapshot and its words.
  struct Known {
    wire::JobReader reader;
    WordChanges words;
  };
  struct Version {
    std::string resume_token;
    std::shared_ptr<const Known> known;  // null if the snapshot was invalid
    std::map<std::uint64_t, std::shared_ptr<const std::string>> rests;  // by base sequence
    std::size_t bytes = 0;
    std::uint64_t number = 0;  // in the order of encoding
  };
  struct Made {
    std::shared_ptr<const std::string> rest;
    std::shared_ptr<const Known> known;
    std::size_t known_bytes = 0;
  };
  using Line = std::deque<Version>;

  // Returns nullopt if the response does not build on `base`.
  std::optional<Made> Make(absl::string_view bytes, const std::shared_ptr<const Known>& base) const;
  // Requires mutex_, like the functions below.
  Version* Find(const std::string& line, const std::string& resume_token);
  void Store(const std::string& line, const std::string& resume_token, std::uint64_t base_sequence,
             const Made& made);
  void DropOldest(const std::string& line);

  const WordsOf words_of_;
  const std::size_t bytes_max_;
  mutable std::mutex mutex_;  // Guards the members below.
  std::map<std::string, Line> lines_;
  std::map<std::uint64_t, std::string> order_;  // lines, by the number of each version
  std::size_t bytes_ = 0;
  std::uint64_t made_ = 0;
};

// The calls of one channel that have not ended. gRPC aborts the process if one of gRPC's threads
// frees the last reference to a channel, and each call has a reference. The owner of the channel
// therefore awaits the end of its calls. Thread-safe.
class OpenCalls : public std::enable_shared_from_this<OpenCalls> {
 public:
  struct Free {
    std::shared_ptr<OpenCalls> calls;
    void operator()(grpc::ClientContext* context) const;
  };
  // The context of a call. It is freed after the call has ended.
  using Context = std::unique_ptr<grpc::ClientContext, Free>;

  Context NewContext();
  // Cancels all calls, and blocks until their contexts have been freed. REQUIRES: no call begins
  // later.
  void CancelAndAwait();

 private:
  // Recursive, since gRPC may report the end of a call within its cancellation.
  std::recursive_mutex mutex_;
  std::condition_variable_any ended_;
  std::set<grpc::ClientContext*> open_;
  // While CancelAndAwait() cancels, ended contexts are kept, since a cancellation may use them.
  bool is_cancelling_ = false;
  std::vector<std::unique_ptr<grpc::ClientContext>> ended_while_cancelling_;
};

// Converts a stream of gRPC to server-sent events.
//
// The next response is requested when the previous one has been sent to the browser. A slow reader
// therefore holds one response and then gets the newest one (docs/api.md). The id of an event is
// the master's resume token, which browsers send when they reconnect.
//
// Threads of the page encode the events, since gRPC's few threads also serve the agents.
struct StreamEvent {
  std::string id;
  std::string head;                         // beginning of the JSON
  std::shared_ptr<const std::string> rest;  // remainder, which readers may share
};

// The threads that encode events, and the events in flight to readers.
struct EventWorkers {
  transport::WritesInFlight in_flight;
  transport::TurnQueue turns{2, transport::kNice};  // declared last, so that its threads end first
};

// Lives from Start() until the call has ended and the reader has its response or has disconnected.
class EventStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                          public transport::WritesInFlight::Writer,
                          public std::enable_shared_from_this<EventStream> {
 public:
  // A call that streams responses.
  struct Call {
    std::shared_ptr<grpc::Channel> channel;
    const char* method = "";
    std::string request;  // serialized
    OpenCalls::Context context;
  };
  // Encodes a response. Returns nullopt if the reader must resume. Calls do not overlap.
  using EventOf = std::function<std::optional<StreamEvent>(const grpc::ByteBuffer& response)>;

  // Events of one key are encoded one at a time. The stream ends when `workers` is destroyed.
  static void Start(const std::shared_ptr<Exchange>& exchange, Call call,
                    const std::shared_ptr<EventWorkers>& workers, std::string key,
                    EventOf event_of) {
    const std::shared_ptr<EventStream> self(new EventStream(
        exchange, std::move(call.context), workers, std::move(key), std::move(event_of)));
    self->self_ = self;
    grpc::GenericStub stub(call.channel);
    stub.PrepareBidiStreamingCall(self->context_.get(), call.method, grpc::StubOptions(),
                                  self.get());
    const grpc::Slice request(call.request);
    self->request_ = grpc::ByteBuffer(&request, 1);
    self->StartWriteLast(&self->request_, grpc::WriteOptions());
    self->AddHold();
    self->is_busy_ = true;
    self->StartRead(&self->response_);
    self->StartCall();
  }

  void OnReadDone(bool is_there) override {
    if (!is_there) {
      RemoveHold();
      return;
    }
    const std::shared_ptr<EventWorkers> workers = workers_.lock();
    const bool is_added = workers != nullptr && workers->turns.Add(key_, [self = shared_from_this(),
                                                                          workers = workers.get()] {
      self->EncodeEvent(*workers);
    });
    if (!is_added) EndCall();
  }
  void OnDone(const grpc::Status& status) override {
    if (has_begun_) {
      exchange_->Write(status.ok()
                           ? "event: end\ndata: {}\n\n"
                           : fmt::format("event: problem\ndata: {}\n\n", ProblemJson(status)));
      exchange_->EndStream();
    } else if (status.ok()) {  // The reader has the last update.
      Begin();
      exchange_->Write("event: end\ndata: {}\n\n");
      exchange_->EndStream();
    } else {
      exchange_->Answer(ProblemAnswer(status));
    }
    const std::shared_ptr<EventStream> last = std::move(self_);
  }
  // Closes the connection; the browser reconnects and resumes.
  void CutWrite() override { exchange_->Abort(); }

 private:
  EventStream(std::shared_ptr<Exchange> exchange, OpenCalls::Context context,
              const std::shared_ptr<EventWorkers>& workers, std::string key, EventOf event_of)
      : exchange_(std::move(exchange)),
        context_(std::move(context)),
        workers_(workers),
        key_(std::move(key)),
        event_of_(std::move(event_of)) {}

  void EncodeEvent(EventWorkers& workers) {
    std::optional<StreamEvent> event = event_of_(response_);
    response_.Clear();
    if (!event) {
      // Browsers resume a stream that ends without an event.
      if (has_begun_) exchange_->EndStream();
      return EndCall();
    }
    std::string head;
    if (!std::exchange(has_begun_, true)) {
      head = "retry: 1000\n\n";  // the browser's pause between attempts, in ms
      Begin();
    }
    head += fmt::format("id: {}\nevent: update\ndata: {}", event->id, event->head);
    workers.in_flight.Begin(shared_from_this(), key_,
                            {.data = event->rest.get(), .size = event->rest->size()});
    {
      const std::lock_guard lock(mutex_);
      is_busy_ = false;
    }
    static const auto* const kEnd =
        new std::shared_ptr<const std::string>(std::make_shared<const std::string>("\n\n"));
    exchange_->Write(std::vector<std::shared_ptr<const std::string>>{
        std::make_shared<const std::string>(std::move(head)), std::move(event->rest), *kEnd});
    const std::lock_guard lock(mutex_);
    if (!is_gone_) return;
    workers.in_flight.End(this);
    if (!is_busy_) ReadOn();
  }

  // The callbacks keep this object alive until the reader disconnects, so that the response in
  // flight is counted until then. The exchange drops them after on_gone.
  void Begin() {
    exchange_->BeginStream({.on_drained = [self = shared_from_this()] { self->Drained(); },
                            .on_gone = [self = shared_from_this()] { self->Gone(); }});
  }
  void Drained() {
    EndWrite();
    const std::lock_guard lock(mutex_);
    if (!is_busy_) ReadOn();
  }
  // Sets is_gone_ before ending the write. EncodeEvent() ends a write that it begins later.
  void Gone() {
    context_->TryCancel();
    {
      const std::lock_guard lock(mutex_);
      is_gone_ = true;
      if (!is_busy_) ReadOn();  // The read fails and ends the call.
    }
    EndWrite();
  }
  void EndWrite() {
    if (const std::shared_ptr<EventWorkers> workers = workers_.lock()) workers->in_flight.End(this);
  }
  // Ends the call instead of encoding an event.
  void EndCall() {
    context_->TryCancel();
    const std::lock_guard lock(mutex_);
    ReadOn();
  }
  void ReadOn() {
    is_busy_ = true;
    StartRead(&response_);
  }

  const std::shared_ptr<Exchange> exchange_;
  const OpenCalls::Context context_;
  const std::weak_ptr<EventWorkers> workers_;
  const std::string key_;
  const EventOf event_of_;  // calls do not overlap
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  bool has_begun_ = false;
  std::mutex mutex_;      // Guards the next two members.
  bool is_busy_ = false;  // true while a response is read or encoded, and after the call has ended
  bool is_gone_ = false;
  std::shared_ptr<EventStream> self_;
};

// Chosen by hand, so that a session outlasts a working day.
inline constexpr absl::Duration kSessionLife = absl::Hours(12);

// The tokens of users who have signed in, by the random name in their cookie. Therefore, URLs, logs
// and scripts never contain a token. Sessions are in memory, so users must sign in again after a
// restart. Thread-safe.
class Sessions {
 public:
  explicit Sessions(std::size_t sessions_max = 1000) : sessions_max_(sessions_max) {}

  // Returns the name of a new session: 64 hexadecimal digits from the system's random numbers, or
  // nullopt if these are unavailable. At the limit, the oldest session ends.
  std::optional<std::string> Open(std::string token, absl::Time now);
  // Returns the token, or an empty string if no such session exists or if it has expired.
  std::string TokenOf(const std::string& name, absl::Time now);
  void Close(const std::string& name);

 private:
  struct Session {
    std::string token;
    absl::Time ends_at;
  };
  const std::size_t sessions_max_;
  std::mutex mutex_;
  std::map<std::string, Session> sessions_;
};

// An asynchronous call of a service.
template <typename Service, typename Request, typename Response>
using Method = void (Service::*)(grpc::ClientContext*, const Request*, Response*,
                                 std::function<void(grpc::Status)>);

// The client on whose behalf the page calls the master.
struct Caller {
  std::string authorization;
  std::string peer;  // as in HttpRequest
};

// A request to the master, its caller, and its timeout.
template <typename Request>
struct Question {
  Request request;
  Caller caller;
  std::chrono::seconds answer_within{10};
};

// Thread-safe. Must outlive the requests that it handles.
class Api {
 public:
  // `cookie` is the name of the session cookie.
  Api(WebOptions options, std::string cookie);
  // Blocks until its threads, which use the members below, are idle, and until its calls have
  // ended.
  ~Api() {
    workers_->turns.Stop();
    calls_->CancelAndAwait();
  }
  // The handlers of the routes.
  void ListJobs(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void GetJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void WatchJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void WatchJobs(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void ListTasks(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void ListForecasts(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void ExplainJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void ExplainCluster(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void EstimateJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void SetDeadline(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void SummarizeJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void CompareJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void GetSession(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void SignIn(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void SignOut(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void GetOpenApi(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);

 private:
  Caller CallerOf(const HttpRequest& request);
  OpenCalls::Context ContextOf(const Caller& caller) const;
  void AnswerSession(const Caller& caller, const std::string& token_to_keep,
                     const std::shared_ptr<Exchange>& exchange);
  v1::JobWords Words(const tidemark::v1::Snapshot& snapshot) const;
  std::string Cookie(const std::string& value, absl::Duration life) const;

  template <typename Service, typename Request, typename Response, typename AnswerOf>
  void AskWithQuery(Service& service, Method<Service, Request, Response> method,
                    const std::string& job_id, const std::shared_ptr<Exchange>& exchange,
                    AnswerOf answer_of);
  template <typename Service, typename Request, typename Response, typename AnswerOf>
  void Ask(Service& service, Method<Service, Request, Response> method, Question<Request> question,
           const std::string& turn, const std::shared_ptr<Exchange>& exchange, AnswerOf answer_of,
           std::function<HttpAnswer(const grpc::Status&)> on_error = {});

  const WebOptions options_;
  const std::string cookie_;
  const std::unique_ptr<tidemark::v1::JobService::Stub> stub_;
  const std::unique_ptr<tidemark::v1::ExplainService::Stub> explain_stub_;
  const std::shared_ptr<OpenCalls> calls_ = std::make_shared<OpenCalls>();
  Sessions sessions_;
  SharedUpdates updates_;
  // Declared last, since its threads use all other members. Calls that end later do nothing.
  const std::shared_ptr<EventWorkers> workers_ = std::make_shared<EventWorkers>();
};

}  // namespace tidemark::web
