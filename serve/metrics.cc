#include "serve/metrics.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "console/job_wording.h"
#include "tidemark/wait_reason.h"

namespace tidemark::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

ClientMetric Counter(std::uint64_t value) {
  ClientMetric metric;
  metric.counter.value = static_cast<double>(value);
  return metric;
}

ClientMetric Gauge(double value) {
  ClientMetric metric;
  metric.gauge.value = value;
  return metric;
}

ClientMetric Labelled(ClientMetric metric, std::string name, std::string value) {
  metric.label.push_back({std::move(name), std::move(value)});
  return metric;
}

ClientMetric Histogram(const LatencyCounts& latencies) {
  ClientMetric metric;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < latencies.counts.size(); ++i) {
    below += latencies.counts[i];
    const double bound = i < LatencyCounts::kBounds.size()
                             ? LatencyCounts::kBounds[i]
                             : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({.cumulative_count = below, .upper_bound = bound});
  }
  metric.histogram.sample_count = below;
  metric.histogram.sample_sum = latencies.sum_seconds;
  return metric;
}

class Families {
 public:
  void Add(std::string name, std::string help, MetricType type, std::vector<ClientMetric> metrics) {
    families_.push_back({.name = "tidemark_" + std::move(name),
                         .help = std::move(help),
                         .type = type,
                         .metric = std::move(metrics)});
  }
  std::vector<MetricFamily> Take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

void AddIngest(const MasterStats& stats, Families& families) {
  families.Add("events_total", "Events received.", MetricType::Counter, {Counter(stats.events)});
  families.Add("event_bytes_total", "Bytes received in batches of events.", MetricType::Counter,
               {Counter(stats.event_bytes)});
  families.Add(
      "events_refused_total", "Rejected events, by reason.", MetricType::Counter,
      {Labelled(Counter(stats.events_refused_by_limit), "reason", "limit"),
       Labelled(Counter(stats.events_refused - stats.events_refused_by_limit), "reason", "other")});
  families.Add("calls_refused_total", "Rejected calls and events, by reason.", MetricType::Counter,
               {Labelled(Counter(stats.calls_unauthenticated), "reason", "unauthenticated"),
                Labelled(Counter(stats.calls_denied), "reason", "denied"),
                Labelled(Counter(stats.calls_refused_by_limit), "reason", "limit")});
  families.Add("connections", "Open connections.", MetricType::Gauge,
               {Gauge(static_cast<double>(stats.connections))});
  families.Add("connections_waiting", "Unauthenticated connections that wait for admission.",
               MetricType::Gauge, {Gauge(static_cast<double>(stats.connections_waiting))});
  families.Add("connections_refused_total", "Connections rejected because of a limit.",
               MetricType::Counter, {Counter(stats.connections_refused)});
  families.Add("connections_cut_total",
               "Connections closed because the peer did not authenticate in time, or to make room "
               "for others.",
               MetricType::Counter, {Counter(stats.connections_cut)});
  families.Add("ingest_streams", "Open streams of agents.", MetricType::Gauge,
               {Gauge(static_cast<double>(stats.ingest_streams))});
  families.Add("unanswered_events", "Events received but not acknowledged yet.", MetricType::Gauge,
               {Gauge(static_cast<double>(stats.unanswered_events))});
}

// Adds the delays that queries caused other queries. The labels are wait reasons, so their number
// is bounded.
void AddContention(const MasterStats& stats, Families& families) {
  std::vector<ClientMetric> by_resource;
  for (const WaitReasonInfo& info : kWaitReasonTable) {
    by_resource.push_back(
        Labelled(Gauge(stats.contention_seconds[info.reason]), "resource", std::string(info.name)));
  }
  families.Add("contention_seconds",
               "Total delay of queries in the last 5 minutes, caused by other queries and by "
               "processes outside Tidemark, by resource.",
               MetricType::Gauge, std::move(by_resource));
  families.Add("contention_cause_max_seconds",
               "Largest delay that one query caused others in the last 5 minutes.",
               MetricType::Gauge, {Gauge(stats.contention_of_cause_seconds)});
  families.Add("contention_query_max_seconds",
               "Largest delay of one query in the last 5 minutes, caused by other queries and by "
               "processes outside Tidemark.",
               MetricType::Gauge, {Gauge(stats.contention_of_query_seconds)});
  families.Add("contention_host_max_seconds",
               "Largest total delay of queries on one host in the last 5 minutes, caused by other "
               "queries and by processes outside Tidemark.",
               MetricType::Gauge, {Gauge(stats.contention_of_host_seconds)});
}

void AddSnapshots(const MasterStats& stats, Families& families) {
  families.Add("snapshots_published_total", "Snapshots published.", MetricType::Counter,
               {Counter(stats.snapshots_published)});
  families.Add("snapshots_skipped_total", "Snapshots skipped because a watcher was too slow.",
               MetricType::Counter, {Counter(stats.snapshots_skipped)});
  families.Add("watchers", "Open subscriptions.", MetricType::Gauge,
               {Gauge(static_cast<double>(stats.watchers))});
  families.Add("tick_seconds",
               "Time of one tick, which updates every job whose update interval has elapsed.",
               MetricType::Histogram, {Histogram(stats.tick)});
  families.Add("estimate_seconds", "Time to compute one snapshot of a job.", MetricType::Histogram,
               {Histogram(stats.estimate)});
  families.Add("workflow_estimate_seconds", "Time to compute one snapshot of a workflow.",
               MetricType::Histogram, {Histogram(stats.workflow_estimate)});
  families.Add("journal_seconds", "Time from the arrival of an event until it is durable.",
               MetricType::Histogram, {Histogram(stats.journal)});
}

using Jobs = std::vector<const Snapshot*>;

// Maximum number of running queries per application that have series.
constexpr std::size_t kQueriesMax = 50;

bool IsShown(const Snapshot& job) { return !job.is_final && job.sequence > 0; }

// `kind` is "job" or "workflow".
void AddStates(const std::string& kind, const Jobs& jobs, Families& families) {
  constexpr std::array<std::pair<JobState, const char*>, 6> kStates = {
      {{JobState::kRunning, "running"},
       {JobState::kSucceeded, "succeeded"},
       {JobState::kFailed, "failed"},
       {JobState::kKilled, "killed"},
       {JobState::kAbandoned, "abandoned"},
       {JobState::kUnknownEnd, "unknown"}}};
  std::vector<ClientMetric> metrics;
  for (const auto& [state, name] : kStates) {
    double count = 0;
    for (const Snapshot* job : jobs) count += job->state == state ? 1 : 0;
    metrics.push_back(Labelled(Gauge(count), "state", name));
  }
  families.Add(kind + "s", "Number of " + kind + "s on the master, by state.", MetricType::Gauge,
               std::move(metrics));
}

void AddProgress(const std::string& kind, const Jobs& jobs, Families& families) {
  std::vector<ClientMetric> fraction;
  std::vector<ClientMetric> remaining;
  std::vector<ClientMetric> lower;
  std::vector<ClientMetric> upper;
  std::vector<ClientMetric> guessed;
  std::vector<ClientMetric> deadline;
  std::vector<ClientMetric> late;
  for (const Snapshot* job : jobs) {
    if (!IsShown(*job)) continue;
    const auto add = [&](std::vector<ClientMetric>& metrics, double value) {
      metrics.push_back(Labelled(Gauge(value), kind, job->job_id));
    };
    const auto add_span = [&](std::vector<ClientMetric>& metrics,
                              const std::optional<absl::Duration>& span) {
      if (span) add(metrics, absl::ToDoubleSeconds(*span));
    };
    add(fraction, job->estimate.fraction_done);
    if (const auto& left = job->estimate.remaining) {
      add_span(remaining, left->median);
      add_span(lower, left->lower);
      add_span(upper, left->upper);
      add(guessed, console::IsGuess(*job) ? 1 : 0);
    }
    if (job->deadline) add(deadline, absl::ToDoubleSeconds(*job->deadline - absl::UnixEpoch()));
    if (job->late_probability) add(late, *job->late_probability);
  }
  const auto add = [&](const char* name, const std::string& help,
                       std::vector<ClientMetric>& metrics) {
    families.Add(kind + name, help, MetricType::Gauge, std::move(metrics));
  };
  add("_progress_ratio", "Progress of a running " + kind + ", from 0 to 1.", fraction);
  add("_remaining_seconds", "Median estimate of the remaining time of a running " + kind + ".",
      remaining);
  add("_remaining_lower_seconds", "Lower bound of the 90 % interval of the remaining time.", lower);
  add("_remaining_upper_seconds", "Upper bound of the 90 % interval of the remaining time.", upper);
  add("_remaining_guessed", "1 if the estimate is a guess or its bounds are too wide, otherwise 0.",
      guessed);
  add("_deadline_timestamp_seconds", "Deadline of a running " + kind + ".", deadline);
  add("_late_probability", "Probability of missing the deadline, from 0 to 1; absent if unknown.",
      late);
}

// Adds the tasks of all jobs, and the stages and queries of applications.
void AddParts(const Jobs& jobs, Families& families) {
  std::vector<ClientMetric> info;
  std::vector<ClientMetric> tasks;
  std::vector<ClientMetric> stages;
  std::vector<ClientMetric> progress;
  std::vector<ClientMetric> remaining;
  for (const Snapshot* job : jobs) {
    if (!IsShown(*job)) continue;
    const auto add = [&job](std::vector<ClientMetric>& metrics, const char* label,
                            const std::string& value, double number) {
      metrics.push_back(Labelled(Labelled(Gauge(number), "job", job->job_id), label, value));
    };
    const bool is_application = job->info && job->info->kind == JobKind::kApplication;
    info.push_back(Labelled(Labelled(Labelled(Gauge(1), "job", job->job_id), "kind",
                                     is_application ? "application" : "mapreduce"),
                            "engine", job->info ? job->info->engine : ""));
    const Counts& counts = job->counts;
    add(tasks, "state", "running", static_cast<double>(counts.running_tasks));
    add(tasks, "state", "finished", static_cast<double>(counts.finished_tasks));
    add(tasks, "state", "waiting",
        static_cast<double>(counts.tasks -
                            std::min(counts.tasks, counts.running_tasks + counts.finished_tasks)));
    if (!is_application) continue;
    add(stages, "state", "finished", counts.finished_stages);
    add(stages, "state", "unfinished",
        counts.stages - std::min(counts.stages, counts.finished_stages));
    std::size_t queries = 0;
    for (const Group& group : job->groups) {
      if (group.state != JobState::kRunning || ++queries > kQueriesMax) continue;
      add(progress, "query", group.group, group.fraction_done);
      if (group.ends_in) {
        add(remaining, "query", group.group, absl::ToDoubleSeconds(group.ends_in->median));
      }
    }
  }
  families.Add("job_info", "Kind and engine of each running job; the value is 1.",
               MetricType::Gauge, std::move(info));
  families.Add("job_tasks", "Known tasks of a running job, by state.", MetricType::Gauge,
               std::move(tasks));
  families.Add("application_stages", "Known stages of a running application, by state.",
               MetricType::Gauge, std::move(stages));
  families.Add("query_progress_ratio",
               "Progress of a running query of an application, from 0 to 1.", MetricType::Gauge,
               std::move(progress));
  families.Add("query_remaining_seconds",
               "Median estimate of the remaining time of a running query; absent if unknown.",
               MetricType::Gauge, std::move(remaining));
}

void AddDropped(const Jobs& jobs, Families& families) {
  std::vector<ClientMetric> dropped;
  for (const Snapshot* job : jobs) {
    if (!IsShown(*job)) continue;
    const std::uint64_t events = job->coverage ? job->coverage->dropped_events : 0;
    dropped.push_back(Labelled(Gauge(static_cast<double>(events)), "job", job->job_id));
  }
  families.Add("job_dropped_events", "Events that the agents of a running job dropped.",
               MetricType::Gauge, std::move(dropped));
}

void AddSilence(const std::string& kind, const std::string& help, const Jobs& jobs,
                Families& families) {
  std::vector<ClientMetric> silent;
  for (const Snapshot* job : jobs) {
    if (!IsShown(*job)) continue;
    const absl::Duration silence = job->at - job->silent_since.value_or(job->at);
    silent.push_back(Labelled(Gauge(absl::ToDoubleSeconds(silence)), kind, job->job_id));
  }
  families.Add(kind + "_silent_seconds", help, MetricType::Gauge, std::move(silent));
}

// With fewer jobs, the mean is too uncertain.
constexpr int kCoverageJobsMin = 20;

// Adds the share of intervals that contained the end. The family is empty if fewer kept jobs than
// kCoverageJobsMin have that share.
void AddIntervalCoverage(const Jobs& jobs, Families& families) {
  double sum = 0;
  int count = 0;
  for (const Snapshot* job : jobs) {
    if (job->errors.empty() || !job->errors.front().interval_coverage) continue;
    sum += *job->errors.front().interval_coverage;
    ++count;
  }
  std::vector<ClientMetric> mean;
  if (count >= kCoverageJobsMin) mean.push_back(Gauge(sum / count));
  families.Add("job_interval_coverage_ratio",
               "Share of 90 % intervals that contained the end, mean over at least 20 ended jobs.",
               MetricType::Gauge, std::move(mean));
}

// Adds the counts of alerts. If there are no receivers, the families are empty, so no rule fires.
void AddAlerts(const std::map<std::string, AlertCounts>& alerts, Families& families) {
  const auto add = [&](const char* name, const char* help, MetricType type,
                       std::uint64_t AlertCounts::*count) {
    std::vector<ClientMetric> metrics;
    for (const auto& [target, counts] : alerts) {
      const bool is_gauge = type == MetricType::Gauge;
      metrics.push_back(
          Labelled(is_gauge ? Gauge(static_cast<double>(counts.*count)) : Counter(counts.*count),
                   "target", target));
    }
    families.Add(name, help, type, std::move(metrics));
  };
  add("alerts_sent_total", "Alerts and lineage events that receivers accepted, by format.",
      MetricType::Counter, &AlertCounts::taken);
  add("alerts_retried_total", "Failed deliveries that were retried.", MetricType::Counter,
      &AlertCounts::retried);
  add("alerts_failed_total",
      "Alerts and lineage events dropped after a rejection or the last attempt.",
      MetricType::Counter, &AlertCounts::failed);
  add("alerts_dropped_total", "Alerts and lineage events dropped because the queue was full.",
      MetricType::Counter, &AlertCounts::dropped);
  add("alerts_waiting", "Alerts and lineage events not sent yet.", MetricType::Gauge,
      &AlertCounts::waiting);
}

// A scraper needs one connection. Silent connections are closed.
constexpr unsigned kConnectionsMax = 128;
constexpr absl::Duration kSilenceMax = absl::Seconds(5);

}  // namespace

std::vector<MetricFamily> MetricFamilies(const MasterStats& stats,
                                         const std::vector<Snapshot>& jobs,
                                         const std::map<std::string, AlertCounts>& alerts) {
  Jobs reporting;
  Jobs workflows;
  for (const Snapshot& job : jobs) {
    const bool is_workflow = job.info && job.info->kind == JobKind::kWorkflow;
    (is_workflow ? workflows : reporting).push_back(&job);
  }
  Families families;
  AddIngest(stats, families);
  AddSnapshots(stats, families);
  AddContention(stats, families);
  AddStates("job", reporting, families);
  AddProgress("job", reporting, families);
  AddParts(reporting, families);
  AddDropped(reporting, families);
  AddSilence("job", "Time since a running job should have reported; 0 while it reports.", reporting,
             families);
  AddIntervalCoverage(reporting, families);
  AddStates("workflow", workflows, families);
  AddProgress("workflow", workflows, families);
  AddSilence("workflow",
             "Time since a job of a running workflow should have reported; 0 while one reports.",
             workflows, families);
  AddAlerts(alerts, families);
  return families.Take();
}

// prometheus::Exposer would add metrics with other units (microseconds), and has a small pool with
// one thread per connection, which a few idle connections would block.
absl::StatusOr<std::unique_ptr<web::HttpServer>> StartMetrics(
    const std::string& address, const Master& master,
    std::function<std::map<std::string, AlertCounts>()> alerts) {
  const auto handle = [&master,
                       alerts = std::move(alerts)](const std::shared_ptr<web::Exchange>& exchange) {
    const web::HttpRequest& request = exchange->request();
    web::HttpAnswer answer = {.content_type = "text/plain; version=0.0.4; charset=utf-8"};
    if (request.method != "GET" && request.method != "HEAD") {
      answer.status = 405;
      answer.body = "only GET and HEAD are allowed\n";
    } else if (request.path != std::vector<std::string>{"metrics"}) {
      answer.status = 404;
      answer.body = "not found; the metrics are at /metrics\n";
    } else {
      answer.body = prometheus::TextSerializer().Serialize(
          MetricFamilies(master.stats(), master.ListJobs(), alerts()));
    }
    exchange->Answer(std::move(answer));
  };
  return web::HttpServer::Start({.setting = "metrics.listen",
                                 .content = "metrics",
                                 .address = address,
                                 .connections_max = kConnectionsMax,
                                 .connections_per_host_max = kConnectionsMax,
                                 .silence_max = kSilenceMax},
                                handle);
}

}  // namespace tidemark::serve
