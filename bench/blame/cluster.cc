#include "bench/blame/cluster.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace tidemark::bench {
namespace {

constexpr double kReportSeconds = 1;
constexpr double kBytesPerSecond = 1e8;  // speed of a disk or network without contention

// A resource of a host. Its own clock advances at the rate at which each task progresses. A task
// ends after an amount of that clock's time equal to its work.
class Shared {
 public:
  Shared(double capacity, std::size_t queries) : capacity_(capacity), tasks_of_(queries) {}

  double Rate() const { return count_ == 0 ? 0 : std::min(1.0, capacity_ / count_); }

  // Adds the losses until `now` to `taken`.
  void PassTo(double now, std::vector<std::vector<double>>& taken) {
    const double seconds = now - passed_to_;
    passed_to_ = now;
    const double rate = Rate();
    done_ += seconds * rate;
    if (rate >= 1 || count_ < 2) return;
    const double lost = seconds * (1 - rate) / (count_ - 1);
    for (std::size_t q = 0; q < tasks_of_.size(); ++q) {
      for (std::size_t by = 0; by < tasks_of_.size(); ++by) {
        if (q != by) taken[q][by] += lost * tasks_of_[q] * tasks_of_[by];
      }
    }
  }

  void Enter(std::uint32_t task, std::uint32_t query, double work) {
    ends_.emplace(done_ + work, task);
    ++tasks_of_[query];
    ++count_;
    ++version_;
  }
  std::uint32_t LeaveFirst(const std::function<std::uint32_t(std::uint32_t)>& query_of) {
    const std::uint32_t task = ends_.top().second;
    ends_.pop();
    --tasks_of_[query_of(task)];
    --count_;
    ++version_;
    return task;
  }

  bool is_empty() const { return ends_.empty(); }
  double NextEnd() const { return passed_to_ + std::max(0.0, ends_.top().first - done_) / Rate(); }
  double done() const { return done_; }
  std::uint64_t version() const { return version_; }

 private:
  using End = std::pair<double, std::uint32_t>;
  double capacity_;
  std::vector<double> tasks_of_;
  double count_ = 0;
  double passed_to_ = 0;
  double done_ = 0;
  std::uint64_t version_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

class Simulation {
 public:
  Simulation(const Workload& workload, bool with_reports, std::optional<std::uint32_t> without)
      : workload_(workload), shape_(workload.shape), with_reports_(with_reports) {
    for (std::uint32_t h = 0; h < shape_.hosts; ++h) {
      for (const double capacity : {shape_.streams, shape_.streams, shape_.cores}) {
        shared_.emplace_back(capacity, shape_.queries);
      }
    }
    tasks_.resize(workload.tasks.size());
    outcome_.tasks.resize(workload.tasks.size());
    outcome_.query_seconds.assign(shape_.queries, 0);
    outcome_.taken.assign(shape_.queries, std::vector<double>(shape_.queries, 0));
    waiting_.resize(shape_.hosts * shape_.queries);
    running_.assign(shape_.hosts * shape_.queries, 0);
    tasks_of_stage_.resize(workload.stages.size());
    children_.resize(workload.stages.size());
    tasks_left_.assign(workload.stages.size(), 0);
    parents_left_.assign(workload.stages.size(), 0);
    for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
      tasks_of_stage_[workload.tasks[t].stage].push_back(t);
      ++tasks_left_[workload.tasks[t].stage];
    }
    for (std::uint32_t s = 0; s < workload.stages.size(); ++s) {
      for (const waits::Stage parent : workload.stages[s].parents) {
        children_[static_cast<std::size_t>(parent)].push_back(s);
        ++parents_left_[s];
      }
      const std::uint32_t query = QueryOfStage(s);
      if (parents_left_[s] == 0 && query != without) {
        Plan(workload.submitted[query], Kind::kSubmit, s, 0);
      }
    }
  }

  Outcome Run() && {
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      switch (event.kind) {
        case Kind::kSubmit:
          Submit(event.of);
          break;
        case Kind::kPartEnds:
          if (shared_[event.of].version() == event.version) EndPart(event.of);
          break;
        case Kind::kReport:
          if (tasks_[event.of].is_running) Say(event.of);
          break;
      }
    }
    return std::move(outcome_);
  }

 private:
  enum class Kind : std::uint8_t { kSubmit, kPartEnds, kReport };
  struct Event {
    double at = 0;
    std::uint64_t order = 0;
    Kind kind = Kind::kSubmit;
    std::uint32_t of = 0;
    std::uint64_t version = 0;
    bool operator>(const Event& other) const {
      return std::tie(at, order) > std::tie(other.at, other.order);
    }
  };
  struct Task {
    bool is_running = false;
    std::uint32_t parts_done = 0;
    double part_since = 0;
    double done_then = 0;  // progress of the resource's clock at the last change
    std::array<double, kPartCount> worked{};
    std::array<double, kPartCount> spent{};
  };

  std::uint32_t QueryOfStage(std::uint32_t stage) const {
    return static_cast<std::uint32_t>(workload_.stages[stage].query);
  }
  std::uint32_t QueryOf(std::uint32_t task) const {
    return QueryOfStage(workload_.tasks[task].stage);
  }

  void Plan(double at, Kind kind, std::uint32_t of, std::uint64_t version) {
    events_.push({at, ++planned_, kind, of, version});
  }

  void Submit(std::uint32_t stage) {
    for (const std::uint32_t t : tasks_of_stage_[stage]) {
      outcome_.tasks[t].queued_at = now_;
      waiting_[workload_.tasks[t].host * shape_.queries + QueryOf(t)].push_back(t);
    }
    for (std::uint32_t h = 0; h < shape_.hosts; ++h) FillSlots(h);
    if (tasks_of_stage_[stage].empty()) EndStage(stage);
  }

  // A free slot goes to the query with the fewest tasks on the host.
  void FillSlots(std::uint32_t host) {
    while (true) {
      std::optional<std::uint32_t> next;
      std::uint32_t all = 0;
      for (std::uint32_t q = 0; q < shape_.queries; ++q) {
        const std::uint32_t at = host * shape_.queries + q;
        all += running_[at];
        if (waiting_[at].empty()) continue;
        if (!shape_.shared_slots && running_[at] >= shape_.slots) continue;
        if (!next || running_[at] < running_[host * shape_.queries + *next]) next = q;
      }
      if (!next || (shape_.shared_slots && all >= shape_.slots)) return;
      std::deque<std::uint32_t>& waiting = waiting_[host * shape_.queries + *next];
      const std::uint32_t task = waiting.front();
      waiting.pop_front();
      ++running_[host * shape_.queries + *next];
      Start(task);
    }
  }

  void Start(std::uint32_t task) {
    tasks_[task].is_running = true;
    outcome_.tasks[task].started_at = now_;
    if (with_reports_) Plan(now_ + kReportSeconds, Kind::kReport, task, 0);
    BeginPart(task);
  }

  std::size_t PartOf(std::uint32_t task) const { return tasks_[task].parts_done % kPartCount; }
  std::size_t SharedOf(std::uint32_t task) const {
    return workload_.tasks[task].host * kPartCount + PartOf(task);
  }
  double PartWork(std::uint32_t task) const {
    return workload_.tasks[task].seconds[PartOf(task)] / workload_.tasks[task].rounds;
  }

  void BeginPart(std::uint32_t task) {
    const std::size_t at = SharedOf(task);
    Shared& shared = shared_[at];
    shared.PassTo(now_, outcome_.taken);
    tasks_[task].part_since = now_;
    tasks_[task].done_then = shared.done();
    shared.Enter(task, QueryOf(task), PartWork(task));
    PlanEnd(at);
  }

  void PlanEnd(std::size_t at) {
    if (shared_[at].is_empty()) return;
    Plan(shared_[at].NextEnd(), Kind::kPartEnds, static_cast<std::uint32_t>(at),
         shared_[at].version());
  }

  void EndPart(std::uint32_t at) {
    Shared& shared = shared_[at];
    shared.PassTo(now_, outcome_.taken);
    const std::uint32_t t = shared.LeaveFirst([&](std::uint32_t task) { return QueryOf(task); });
    PlanEnd(at);
    Task& task = tasks_[t];
    const std::size_t part = PartOf(t);
    task.worked[part] += PartWork(t);
    task.spent[part] += now_ - task.part_since;
    ++task.parts_done;
    if (task.parts_done < workload_.tasks[t].rounds * kPartCount) {
      BeginPart(t);
    } else {
      EndTask(t);
    }
  }

  void EndTask(std::uint32_t t) {
    tasks_[t].is_running = false;
    outcome_.tasks[t].ended_at = now_;
    outcome_.tasks[t].processor_seconds =
        tasks_[t].worked[static_cast<std::size_t>(Part::kProcessor)];
    if (with_reports_) outcome_.reports.push_back({t, now_, true, Totals(tasks_[t])});
    const SimulatedTask& task = workload_.tasks[t];
    const std::uint32_t query = QueryOf(t);
    --running_[task.host * shape_.queries + query];
    outcome_.query_seconds[query] = now_ - workload_.submitted[query];
    if (--tasks_left_[task.stage] == 0) EndStage(task.stage);
    FillSlots(task.host);
  }

  void EndStage(std::uint32_t stage) {
    for (const std::uint32_t child : children_[stage]) {
      if (--parents_left_[child] == 0) Submit(child);
    }
  }

  void Say(std::uint32_t t) {
    Task now = tasks_[t];
    const std::size_t part = PartOf(t);
    Shared& shared = shared_[SharedOf(t)];
    shared.PassTo(now_, outcome_.taken);
    now.worked[part] += shared.done() - now.done_then;
    now.spent[part] += now_ - now.part_since;
    outcome_.reports.push_back({t, now_, false, Totals(now)});
    Plan(now_ + kReportSeconds, Kind::kReport, t, 0);
  }

  static waits::TaskUse Totals(const Task& task) {
    const auto of = [](Part part) { return static_cast<std::size_t>(part); };
    const double fetched = task.worked[of(Part::kNetwork)] * kBytesPerSecond;
    const double read = task.worked[of(Part::kDisk)] * kBytesPerSecond;
    waits::TaskUse totals;
    totals.processor_seconds = task.worked[of(Part::kProcessor)];
    totals.of[WaitReason::kNetwork] = {task.spent[of(Part::kNetwork)], fetched};
    totals.of[WaitReason::kIo] = {task.spent[of(Part::kDisk)], read};
    totals.of[WaitReason::kProcessor] = {
        std::max(0.0, task.spent[of(Part::kProcessor)] - task.worked[of(Part::kProcessor)]),
        fetched + read};
    return totals;
  }

  const Workload& workload_;
  const Shape& shape_;
  const bool with_reports_;
  double now_ = 0;
  std::uint64_t planned_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Shared> shared_;  // indexed by host x kPartCount + part
  std::vector<Task> tasks_;
  std::vector<std::deque<std::uint32_t>> waiting_;  // indexed by host x queries + query
  std::vector<std::uint32_t> running_;              // indexed by host x queries + query
  std::vector<std::vector<std::uint32_t>> tasks_of_stage_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<std::uint32_t> tasks_left_;
  std::vector<std::uint32_t> parents_left_;
  Outcome outcome_;
};

}  // namespace

Outcome Simulate(const Workload& workload, bool with_reports,
                 std::optional<std::uint32_t> without) {
  return Simulation(workload, with_reports, without).Run();
}

}  // namespace tidemark::bench
