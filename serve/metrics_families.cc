#include "serve/metrics_families.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"

namespace tidemark::cli {
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
  families.Add("event_bytes_total", "Bytes of the batches of events received.", MetricType::Counter,
               {Counter(stats.event_bytes)});
  families.Add(
      "events_refused_total", "Events refused, by reason.", MetricType::Counter,
      {Labelled(Counter(stats.events_refused_by_limit), "reason", "limit"),
       Labelled(Counter(stats.events_refused - stats.events_refused_by_limit), "reason", "other")});
  families.Add("calls_refused_total", "Calls and events not let in, by reason.",
               MetricType::Counter,
               {Labelled(Counter(stats.calls_unauthenticated), "reason", "unauthenticated"),
                Labelled(Counter(stats.calls_denied), "reason", "denied"),
                Labelled(Counter(stats.calls_refused_by_limit), "reason", "limit")});
  families.Add("connections", "Open connections.", MetricType::Gauge,
               {Gauge(static_cast<double>(stats.connections))});
  families.Add("connections_waiting", "Connections of strangers that are not listened to yet.",
               MetricType::Gauge, {Gauge(static_cast<double>(stats.connections_waiting))});
  families.Add("connections_refused_total", "Connections refused for lack of room.",
               MetricType::Counter, {Counter(stats.connections_refused)});
  families.Add("connections_cut_total", "Connections of strangers that were cut.",
               MetricType::Counter, {Counter(stats.connections_cut)});
  families.Add("ingest_streams", "Open streams of agents.", MetricType::Gauge,
               {Gauge(static_cast<double>(stats.ingest_streams))});
  families.Add("unanswered_events", "Events read but not answered yet.", MetricType::Gauge,
               {Gauge(static_cast<double>(stats.unanswered_events))});
}

void AddSnapshots(const MasterStats& stats, Families& families) {
  families.Add("snapshots_published_total", "Snapshots published.", MetricType::Counter,
               {Counter(stats.snapshots_published)});
  families.Add("snapshots_skipped_total", "Snapshots skipped because a watcher was too slow.",
               MetricType::Counter, {Counter(stats.snapshots_skipped)});
  families.Add("watchers", "Open subscriptions.", MetricType::Gauge,
               {Gauge(static_cast<double>(stats.watchers))});
  families.Add("tick_seconds", "Time of one round over all jobs that are due.",
               MetricType::Histogram, {Histogram(stats.tick)});
  families.Add("estimate_seconds", "Time of one snapshot of one job.", MetricType::Histogram,
               {Histogram(stats.estimate)});
  families.Add("workflow_estimate_seconds", "Time of one snapshot of one workflow.",
               MetricType::Histogram, {Histogram(stats.workflow_estimate)});
  families.Add("journal_seconds", "From an event's arrival until it may be acknowledged.",
               MetricType::Histogram, {Histogram(stats.journal)});
}

using Jobs = std::vector<const Snapshot*>;

// Running queries of one application that are told of. Each is a series of its own.
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
  families.Add(kind + "s", "Number of " + kind + "s kept, by state.", MetricType::Gauge,
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
      add(guessed, job->estimate.basis == Basis::kGuess ? 1 : 0);
    }
    if (job->deadline) add(deadline, absl::ToDoubleSeconds(*job->deadline - absl::UnixEpoch()));
    if (job->late_probability) add(late, *job->late_probability);
  }
  const auto add = [&](const char* name, const std::string& help,
                       std::vector<ClientMetric>& metrics) {
    families.Add(kind + name, help, MetricType::Gauge, std::move(metrics));
  };
  add("_progress_ratio", "How far a running " + kind + " is, 0..1.", fraction);
  add("_remaining_seconds", "Predicted remaining time of a running " + kind + ".", remaining);
  add("_remaining_lower_seconds", "Lower bound of its 90 % interval.", lower);
  add("_remaining_upper_seconds", "Upper bound of its 90 % interval.", upper);
  add("_remaining_guessed",
      "1: nothing that it or its earlier runs have done tells it; 0: it does.", guessed);
  add("_deadline_timestamp_seconds", "When a running " + kind + " has to have ended.", deadline);
  add("_late_probability", "That it ends later, 0..1; none: not known.", late);
}

// Of jobs of any kind what their tasks do; of applications also their stages and their queries.
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
  families.Add("job_info", "1, of each running job; its kind and engine.", MetricType::Gauge,
               std::move(info));
  families.Add("job_tasks", "Tasks of a running job, by state, as far as they are known.",
               MetricType::Gauge, std::move(tasks));
  families.Add("application_stages", "Stages of a running application, as far as they are known.",
               MetricType::Gauge, std::move(stages));
  families.Add("query_progress_ratio", "How far a running query of an application is, 0..1.",
               MetricType::Gauge, std::move(progress));
  families.Add("query_remaining_seconds",
               "Predicted remaining time of a running query; none: not known.", MetricType::Gauge,
               std::move(remaining));
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

// How often the intervals of jobs that have succeeded held their ends; none: no job had any.
void AddIntervalCoverage(const Jobs& jobs, Families& families) {
  double sum = 0;
  int count = 0;
  for (const Snapshot* job : jobs) {
    if (job->errors.empty() || !job->errors.front().interval_coverage) continue;
    sum += *job->errors.front().interval_coverage;
    ++count;
  }
  std::vector<ClientMetric> mean;
  if (count > 0) mean.push_back(Gauge(sum / count));
  families.Add("job_interval_coverage_ratio",
               "Share of the 90 % intervals of kept jobs that held the end, mean over those jobs.",
               MetricType::Gauge, std::move(mean));
}

// None where nobody is told: a rule about them has nothing to fire on.
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
  add("alerts_sent_total",
      "Alerts and events of lineage that were taken, by the shape of who is told.",
      MetricType::Counter, &AlertCounts::taken);
  add("alerts_retried_total", "Attempts to send one that failed and were followed by another.",
      MetricType::Counter, &AlertCounts::retried);
  add("alerts_failed_total", "Those given up: refused, or tried often enough.", MetricType::Counter,
      &AlertCounts::failed);
  add("alerts_dropped_total", "Those given up because too many waited.", MetricType::Counter,
      &AlertCounts::dropped);
  add("alerts_waiting", "Those not sent yet.", MetricType::Gauge, &AlertCounts::waiting);
}

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
  AddStates("job", reporting, families);
  AddProgress("job", reporting, families);
  AddParts(reporting, families);
  AddDropped(reporting, families);
  AddSilence("job", "For how long a running job has not reported as it should; 0: it has.",
             reporting, families);
  AddIntervalCoverage(reporting, families);
  AddStates("workflow", workflows, families);
  AddProgress("workflow", workflows, families);
  AddSilence("workflow",
             "For how long no job of a running workflow has reported as it should; 0: one has.",
             workflows, families);
  AddAlerts(alerts, families);
  return families.Take();
}

}  // namespace tidemark::cli
