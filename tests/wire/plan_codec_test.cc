#include "proto/wire/plan_codec.h"

#include "tests/test.h"
#include "tidemark/field_error.h"
#include "tidemark/plan.h"
#include "tidemark/v1/plan.pb.h"

namespace tidemark::wire::plan_codec_test {
namespace {

// Returns a plan with every field set. One job is described by numbers, and another job by stages.
Plan Full() {
  const auto s = [](double seconds) { return absl::Seconds(seconds); };
  Plan plan = {.id = "visits-1", .name = "page visits"};
  PlannedJob parse = {.name = "parse", .job_id = "parse-17", .history_name = "parse visits"};
  parse.queue = "etl";
  parse.map_task_count = 12;
  parse.reduce_task_count = 0;
  parse.input_bytes = 1'000'000'000;
  parse.profile = JobProfile{8,   12,   3,    1e8,     0.5,  0.25,    s(1.5), s(20), 0.1,
                             0.2, s(1), s(9), s(0.25), s(3), s(0.75), s(5),   0.5};
  PlannedJob count = {.name = "count", .after = {"parse"}, .queue = "adhoc"};
  const std::vector<absl::Duration> times = {absl::Seconds(11), absl::Seconds(12)};
  PlannedStage scan = {.name = "scan", .task_count = 120};
  scan.task_times = scan.first_task_times = scan.fresh_task_times = scan.last_task_times = times;
  PlannedStage join = {.name = "join",
                       .after = {"scan"},
                       .task_count = 40,
                       .lag = absl::Seconds(1),
                       .task = TaskData{absl::Seconds(2), 1, 2, 3, 4, 6e7},
                       .slots_per_task = 2.5,
                       .slot_share = 0.25,
                       .memory_bytes_per_task = 1024,
                       .owner = "ann",
                       .queue = "etl"};
  count.stages = {scan, join};
  count.profiled_slots = 8;
  plan.jobs = {parse, count};
  const std::vector<Queue> queues = {{"etl", 3}, {"adhoc", 1}};
  const ResourceProfile node = {1, 2, 3, 4, 5, 6};
  plan.cluster = {16, 4, SchedulingPolicy::kCapacity, queues, node, 1 << 30};
  plan.retry_within = absl::Minutes(5);
  plan.deadline = absl::FromUnixSeconds(1'800'000'000);
  plan.is_open = true;
  return plan;
}

v1::Plan Encoded(const Plan& plan) {
  v1::Plan message;
  EncodePlan(plan, message);
  return message;
}

TEST(PlanCodec, RoundTripKeepsEverything) {
  v1::Plan received;
  ASSERT_TRUE(received.ParseFromString(Encoded(Full()).SerializeAsString()));
  const auto parsed = ParsePlan(received).value();
  EXPECT_EQ(parsed, Full()) << received.DebugString();
}

// Checks that all fields are set in the message for a plan that has all of them. `but` lists the
// names of fields that may be unset, separated by spaces.
void ExpectAllSet(const google::protobuf::Message& message, const std::string& but) {
  const auto& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const auto& field = *descriptor.field(i);
    if ((" " + but + " ").find(" " + field.name() + " ") != std::string::npos) continue;
    const bool is_set = field.is_repeated()
                            ? message.GetReflection()->FieldSize(message, &field) > 0
                            : message.GetReflection()->HasField(message, &field);
    EXPECT_TRUE(is_set) << field.full_name();
  }
}

TEST(PlanCodec, CoversAllFields) {
  const v1::Plan plan = Encoded(Full());
  ExpectAllSet(plan, "");
  ExpectAllSet(plan.cluster(), "");
  ExpectAllSet(plan.cluster().queues(0), "");
  ExpectAllSet(plan.cluster().node(), "");
  ExpectAllSet(plan.jobs(0), "after stages profiled_slots");
  ExpectAllSet(plan.jobs(1),
               "job_id history_name map_task_count reduce_task_count input_bytes profile");
  ExpectAllSet(plan.jobs(0).profile(), "");
  ExpectAllSet(plan.jobs(1).stages(0),
               "after lag task slots_per_task memory_bytes_per_task owner queue slot_share");
  ExpectAllSet(plan.jobs(1).stages(1),
               "task_times first_task_times fresh_task_times last_task_times");
  ExpectAllSet(plan.jobs(1).stages(1).task(), "");
}

TEST(PlanCodec, UnsetFieldsMeanAsInTheLastRun) {
  v1::Plan message;
  message.add_jobs();
  const Plan plan = ParsePlan(message).value();
  EXPECT_FALSE(plan.jobs[0].map_task_count.has_value());
  EXPECT_EQ(plan.cluster, Cluster{});
  message.mutable_jobs(0)->set_reduce_task_count(0);
  EXPECT_EQ(ParsePlan(message)->jobs[0].reduce_task_count, 0u) << "a job of map tasks alone";
}

struct Malformed {
  const char* name;
  std::function<void(v1::Plan&)> spoil;
  const char* path;
  const char* description;
};

class ParsePlanRefuses : public ::testing::TestWithParam<Malformed> {};

TEST_P(ParsePlanRefuses, NamingTheFieldAndWhatToDo) {
  v1::Plan message = Encoded(Full());
  GetParam().spoil(message);
  const absl::Status status = ParsePlan(message).status();
  ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const WrongField wrong = WrongFieldOf(status);
  EXPECT_EQ(wrong.path, GetParam().path);
  EXPECT_THAT(wrong.description, HasSubstr(GetParam().description));
  EXPECT_EQ(status.message(), wrong.path + ": " + wrong.description);
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
v1::PlannedStage& StageOf(v1::Plan& plan, int stage) {
  return *plan.mutable_jobs(1)->mutable_stages(stage);
}
const Malformed kMalformed[] = {
    {"NoJobs", [](auto& p) { p.clear_jobs(); }, "jobs", "must contain at least one job"},
    {"LongId", [](auto& p) { p.set_id(std::string(257, 'x')); }, "id",
     "must have at most 256 bytes, not 257"},
    {"NoName", [](auto& p) { p.mutable_jobs(0)->clear_name(); }, "jobs[0].name", "is missing"},
    {"NameTwice", [](auto& p) { p.mutable_jobs(1)->set_name("parse"); }, "jobs[1].name",
     "parse is taken by an earlier job"},
    {"JobIdTwice", [](auto& p) { p.mutable_jobs(1)->set_job_id("parse-17"); }, "jobs[1].job_id",
     "parse-17 is already the id of job parse"},
    {"JobIdOfThePlan", [](auto& p) { p.mutable_jobs(1)->set_job_id("visits-1"); }, "jobs[1].job_id",
     "visits-1 is the id of the plan; give its job a different id"},
    {"UnknownJob", [](auto& p) { p.mutable_jobs(1)->set_after(0, "prase"); }, "jobs[1].after[0]",
     "unknown job prase; did you mean parse?"},
    {"Cycle", [](auto& p) { p.mutable_jobs(0)->add_after("count"); }, "jobs[0].after",
     "is part of a cycle: parse waits for count waits for parse"},
    {"Itself", [](auto& p) { p.mutable_jobs(1)->set_after(0, "count"); }, "jobs[1].after",
     "is part of a cycle: count waits for count"},
    {"UnknownStage", [](auto& p) { StageOf(p, 1).set_after(0, "parse"); },
     "jobs[1].stages[1].after[0]", "unknown stage parse"},
    {"StageCycle", [](auto& p) { StageOf(p, 0).add_after("join"); }, "jobs[1].stages[0].after",
     "scan waits for join waits for scan"},
    {"StageTwice", [](auto& p) { StageOf(p, 1).set_name("scan"); }, "jobs[1].stages[1].name",
     "scan is taken by an earlier stage"},
    {"StageName", [](auto& p) { StageOf(p, 1).clear_name(); }, "jobs[1].stages[1].name",
     "is missing"},
    {"TaskCount", [](auto& p) { StageOf(p, 1).clear_task_count(); }, "jobs[1].stages[1].task_count",
     "is missing"},
    {"TooManyTasks", [](auto& p) { StageOf(p, 1).set_task_count(10'000'001); },
     "jobs[1].stages[1].task_count", "must be from 0 to 10000000, not 10000001"},
    {"NoTimes", [](auto& p) { StageOf(p, 1).clear_task(); }, "jobs[1].stages[1]",
     "no task times: set task_seconds, or set task to the data of one task"},
    {"NegativeTime", [](auto& p) { StageOf(p, 0).mutable_task_times(1)->set_seconds(-1); },
     "jobs[1].stages[0].task_times[1]", "must be from 0 to 315576000000 s, not -1 s and 0 ns"},
    {"Lag", [](auto& p) { StageOf(p, 1).mutable_lag()->set_nanos(1'000'000'000); },
     "jobs[1].stages[1].lag", "must be from 0 to 315576000000 s"},
    {"SlotsPerTask", [](auto& p) { StageOf(p, 1).set_slots_per_task(kNan); },
     "jobs[1].stages[1].slots_per_task", "must be a finite number, not nan"},
    {"NoSlotPerTask", [](auto& p) { StageOf(p, 1).set_slots_per_task(0); },
     "jobs[1].stages[1].slots_per_task", "must be from 1e-06 to 1000000, not 0"},
    {"SlotShare", [](auto& p) { StageOf(p, 1).set_slot_share(2); }, "jobs[1].stages[1].slot_share",
     "must be from 1e-06 to 1, not 2"},
    {"Throughput", [](auto& p) { StageOf(p, 1).mutable_task()->set_core_bytes_per_second(-1); },
     "jobs[1].stages[1].task.core_bytes_per_second", "must be 0 or more, not -1"},
    {"StageQueue", [](auto& p) { StageOf(p, 1).set_queue("etll"); }, "jobs[1].stages[1].queue",
     "unknown queue etll; did you mean etl?"},
    {"OwnerInTwoQueues", [](auto& p) { StageOf(p, 0).set_owner("ann"); }, "jobs[1].stages[1].queue",
     "its owner ann has a stage in a different queue, adhoc"},
    {"BothForms", [](auto& p) { p.mutable_jobs(1)->set_map_task_count(3); }, "jobs[1].stages",
     "not by both"},
    {"MapTasks", [](auto& p) { p.mutable_jobs(0)->set_map_task_count(~0U); },
     "jobs[0].map_task_count", "must be from 1 to 10000000, not 4294967295"},
    {"NoMapTasks", [](auto& p) { p.mutable_jobs(0)->set_map_task_count(0); },
     "jobs[0].map_task_count", "must be from 1 to 10000000, not 0"},
    {"NoInput", [](auto& p) { p.mutable_jobs(0)->set_input_bytes(0); }, "jobs[0].input_bytes",
     "must be at least 1, not 0"},
    {"UnknownMapTasks",
     [](auto& p) {
       p.mutable_jobs(0)->clear_map_task_count();
       p.mutable_jobs(0)->clear_input_bytes();
       p.mutable_jobs(0)->mutable_profile()->clear_map_task_count();
     },
     "jobs[0].profile.map_task_count",
     "must be set if the job has neither map_task_count nor input_bytes"},
    {"InputOfUnknownTasks",
     [](auto& p) { p.mutable_jobs(0)->mutable_profile()->clear_split_bytes(); },
     "jobs[0].input_bytes", "needs profile.split_bytes, the input of one map task"},
    {"InputOfTooManyTasks",
     [](auto& p) {
       p.mutable_jobs(0)->clear_map_task_count();
       p.mutable_jobs(0)->set_input_bytes(~std::uint64_t{0});
     },
     "jobs[0].input_bytes",
     "makes 1.84e+11 map tasks of profile.split_bytes; at most 10000000 are allowed"},
    {"NoProfileSlots", [](auto& p) { p.mutable_jobs(0)->mutable_profile()->set_slots(0); },
     "jobs[0].profile.slots", "must be positive (or unset if unknown), not 0"},
    {"NoSplit", [](auto& p) { p.mutable_jobs(0)->mutable_profile()->set_split_bytes(0); },
     "jobs[0].profile.split_bytes", "must be positive (or unset if unknown), not 0"},
    {"NoMapOutput", [](auto& p) { p.mutable_jobs(0)->mutable_profile()->set_map_selectivity(0); },
     "jobs[0].profile.map_selectivity", "must be positive (or unset if unknown), not 0"},
    {"ProfileTime",
     [](auto& p) {
       p.mutable_jobs(0)->mutable_profile()->clear_map_task_time();
       p.mutable_jobs(0)->mutable_profile()->clear_reduce_task_time();
     },
     "jobs[0].profile", "has no task time; add one or omit the profile"},
    {"ProfileVariation",
     [](auto& p) { p.mutable_jobs(0)->mutable_profile()->set_map_task_variation(-0.5); },
     "jobs[0].profile.map_task_variation", "must be 0 or more, not -0.5"},
    {"WildVariation",
     [](auto& p) { p.mutable_jobs(0)->mutable_profile()->set_reduce_task_variation(1e10); },
     "jobs[0].profile.reduce_task_variation", "must be from 0 to 1000, not 10000000000"},
    {"Selectivity",
     [](auto& p) { p.mutable_jobs(0)->mutable_profile()->set_map_selectivity(kNan); },
     "jobs[0].profile.map_selectivity", "must be a finite number, not nan"},
    {"Slots", [](auto& p) { p.mutable_cluster()->set_slots(0); }, "cluster.slots",
     "must be from 1 to 1000000, not 0"},
    {"Nodes", [](auto& p) { p.mutable_cluster()->set_nodes(2'000'000); }, "cluster.nodes",
     "must be from 1 to 1000000, not 2000000"},
    {"Policy",
     [](auto& p) { p.mutable_cluster()->set_policy(static_cast<v1::SchedulingPolicy>(9)); },
     "cluster.policy", "must be a value that this version supports, not 9"},
    {"NoQueues", [](auto& p) { p.mutable_cluster()->clear_queues(); }, "cluster.queues",
     "policy capacity needs queues"},
    {"QueueTwice", [](auto& p) { p.mutable_cluster()->mutable_queues(1)->set_name("etl"); },
     "cluster.queues[1].name", "queue etl appears twice"},
    {"QueueShare", [](auto& p) { p.mutable_cluster()->mutable_queues(0)->set_share(0); },
     "cluster.queues[0].share", "must be positive and finite, not 0"},
    {"NoQueue", [](auto& p) { p.mutable_jobs(0)->clear_queue(); }, "jobs[0].queue",
     "is missing; policy capacity needs a queue for each job"},
    {"Node", [](auto& p) { p.mutable_cluster()->mutable_node()->set_cores(-4); },
     "cluster.node.cores", "must be 0 or more, not -4"},
    {"Retry", [](auto& p) { p.mutable_retry_within()->set_seconds(-1); }, "retry_within",
     "must be from 0 to"},
};
INSTANTIATE_TEST_SUITE_P(Fields, ParsePlanRefuses, ::testing::ValuesIn(kMalformed),
                         [](const auto& row) { return row.param.name; });

TEST(CheckPlan, ShortensALongCycle) {
  Plan plan;
  for (int i = 0; i < 1000; ++i) {
    plan.jobs.push_back({.name = std::to_string(i), .after = {std::to_string((i + 1) % 1000)}});
  }
  EXPECT_EQ(
      WrongFieldOf(CheckPlan(plan)).description,
      "is part of a cycle: 0 waits for 1 waits for 2 waits for 3 waits for 4 waits for 5 waits "
      "for 6 waits for 7 waits for ... waits for 0");
}

TEST(CheckPlan, DoesNotRepeatALongName) {
  Plan plan;
  plan.jobs = {{.name = "a", .after = {std::string(100'000, 'x')}}};
  EXPECT_EQ(CheckPlan(plan).message(), "jobs[0].after[0]: must have at most 256 bytes, not 100000");
}

TEST(CheckPlan, RejectsIdsWithControlCharacters) {
  Plan plan = Full();
  plan.jobs[0].job_id = "a\nb";
  EXPECT_EQ(CheckPlan(plan).message(), "jobs[0].job_id: must not contain control characters");
  plan.id = "\x1b[2J";
  EXPECT_EQ(CheckPlan(plan).message(), "id: must not contain control characters");
}

TEST(CheckPlan, RejectsInvalidNumbers) {
  const auto wrong = [](const std::function<void(Plan&)>& spoil) {
    Plan plan = Full();
    spoil(plan);
    return WrongFieldOf(CheckPlan(plan)).path;
  };
  EXPECT_EQ(wrong([](Plan&) {}), "");
  EXPECT_EQ(wrong([](Plan& p) { p.cluster.node->network = -1; }),
            "cluster.node.network_bytes_per_second");
  EXPECT_EQ(wrong([](Plan& p) { p.jobs[0].profile->map_task_variation = -1; }),
            "jobs[0].profile.map_task_variation");
  EXPECT_EQ(wrong([](Plan& p) { p.jobs[0].profile->split_bytes = kNan; }),
            "jobs[0].profile.split_bytes");
  EXPECT_EQ(wrong([](Plan& p) { p.jobs[0].profile->map_tasks = 10'000'001; }),
            "jobs[0].profile.map_task_count");
}

// In random graphs, a plan is rejected if and only if its edges contain a cycle.
TEST(CheckPlan, FindsCycles) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    const std::size_t count = 1 + random() % 7;
    Plan plan;
    std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count, false));
    for (std::size_t i = 0; i < count; ++i) plan.jobs.push_back({.name = std::to_string(i)});
    for (std::uint64_t edge = random() % (count + 2); edge > 0; --edge) {
      const std::size_t from = random() % count;
      const std::size_t to = random() % count;
      plan.jobs[from].after.push_back(std::to_string(to));
      reaches[from][to] = true;
    }
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < count; ++j) {
          if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
        }
      }
    }
    bool has_cycle = false;
    for (std::size_t i = 0; i < count; ++i) has_cycle = has_cycle || reaches[i][i];
    const absl::Status status = CheckPlan(plan);
    ASSERT_EQ(status.ok(), !has_cycle) << "seed " << seed << ": " << status;
  }
}

}  // namespace
}  // namespace tidemark::wire::plan_codec_test
