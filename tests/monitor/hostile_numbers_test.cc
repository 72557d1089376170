// Sets each number in each message of a job to each of its extremes, one at a time. Reflection
// finds the fields, so new fields are tested automatically.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "proto/wire/encode_event.h"
#include "proto/wire/parse_event.h"
#include "tests/facts/events.h"
#include "tests/monitor/check_snapshot.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::hostile_numbers_test {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// A number in a message, at any depth, and a way to set it.
struct Number {
  std::string path;
  std::size_t extremes = 0;
  // Sets the number to extreme i in a copy of its message.
  std::function<void(Message&, std::size_t)> set;
};

template <typename T>
std::vector<T> ExtremesOf() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> extremes = {Limits::lowest(), T{0}, T{1}, Limits::max() / 2, Limits::max()};
  if constexpr (std::numeric_limits<T>::is_signed) extremes.push_back(T{-1});
  if constexpr (!std::numeric_limits<T>::is_integer) {
    extremes.insert(extremes.end(), {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(),
                                     Limits::denorm_min(), Limits::epsilon()});
  }
  return extremes;
}

template <typename T>
void AddNumber(const std::string& path, const FieldDescriptor* field,
               void (Reflection::*set)(Message*, const FieldDescriptor*, T) const,
               void (Reflection::*set_repeated)(Message*, const FieldDescriptor*, int, T) const,
               std::vector<Number>& numbers) {
  numbers.push_back({path, ExtremesOf<T>().size(), [=](Message& message, std::size_t i) {
                       const Reflection& reflection = *message.GetReflection();
                       const T value = ExtremesOf<T>()[i];
                       if (!field->is_repeated()) {
                         (reflection.*set)(&message, field, value);
                         return;
                       }
                       for (int k = 0; k < reflection.FieldSize(message, field); ++k) {
                         (reflection.*set_repeated)(&message, field, k, value);
                       }
                     }});
}

void AddNumbers(const std::string& prefix, const Message& message, std::vector<Number>& numbers);

void AddNested(const std::string& path, const Message& message, const FieldDescriptor* field,
               std::vector<Number>& numbers) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<Number> inner;
  if (field->is_repeated()) {
    if (reflection.FieldSize(message, field) == 0) return;
    AddNumbers(path, reflection.GetRepeatedMessage(message, field, 0), inner);
  } else if (!field->containing_oneof() || reflection.HasField(message, field)) {
    AddNumbers(path, reflection.GetMessage(message, field), inner);
  }
  for (const Number& number : inner) {
    numbers.push_back({number.path, number.extremes, [=](Message& outer, std::size_t i) {
                         const Reflection& r = *outer.GetReflection();
                         if (!field->is_repeated()) {
                           number.set(*r.MutableMessage(&outer, field), i);
                           return;
                         }
                         for (int k = 0; k < r.FieldSize(outer, field); ++k) {
                           number.set(*r.MutableRepeatedMessage(&outer, field, k), i);
                         }
                       }});
  }
}

void AddNumbers(const std::string& prefix, const Message& message, std::vector<Number>& numbers) {
  for (int f = 0; f < message.GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor* field = message.GetDescriptor()->field(f);
    const std::string path = prefix + "." + std::string(field->name());
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        AddNumber<std::int32_t>(path, field, &Reflection::SetInt32, &Reflection::SetRepeatedInt32,
                                numbers);
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        AddNumber<std::int64_t>(path, field, &Reflection::SetInt64, &Reflection::SetRepeatedInt64,
                                numbers);
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        AddNumber<std::uint32_t>(path, field, &Reflection::SetUInt32,
                                 &Reflection::SetRepeatedUInt32, numbers);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        AddNumber<std::uint64_t>(path, field, &Reflection::SetUInt64,
                                 &Reflection::SetRepeatedUInt64, numbers);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        AddNumber<double>(path, field, &Reflection::SetDouble, &Reflection::SetRepeatedDouble,
                          numbers);
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        AddNumber<int>(path, field, &Reflection::SetEnumValue, &Reflection::SetRepeatedEnumValue,
                       numbers);
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        AddNested(path, message, field, numbers);
        break;
      default:
        break;
    }
  }
}

// Returns the events of a job with two map and two reduce tasks. One task is in the middle of a key
// group. There is an event of every kind, and no list is empty.
std::vector<v1::Event> Story() {
  using test::M;
  using test::R;
  const auto reduced = [](AttemptId id, double seconds) {
    ReduceProfile profile{.attempt = id,
                          .last_group_finished_at = At(seconds),
                          .groups_done = 3,
                          .bytes_done = 600,
                          .reduce_time = absl::Seconds(3)};
    profile.points = {{100, 2, absl::Seconds(1)}, {400, 1, absl::Seconds(2)}};
    profile.bins = {{39, 2, 200, 1, 0.5, 20}, {51, 1, 400, 2, 4, 10}};
    profile.keys_named = true;
    profile.finished_keys = {{KeyHash{7}, 400, absl::Seconds(2), 10}};
    profile.running_group = RunningGroup{KeyHash{8}, absl::Seconds(1), 300, 30, 3};
    profile.dropped_points = 1;
    profile.processor_use = ProcessorUse{absl::Seconds(4), absl::Seconds(1), 2};
    return profile;
  };
  const auto emitted = [](AttemptId id) {
    MapProfile profile{.attempt = id};
    for (std::uint32_t partition : {0U, 1U}) {
      profile.partitions.push_back({.partition = partition,
                                    .total_bytes = 1200,
                                    .explicit_keys = {{KeyHash{7}, 400}, {KeyHash{8}, 500}},
                                    .implicit_key_count = 3,
                                    .implicit_bytes = 300,
                                    .scanned_bytes = 1200});
    }
    return profile;
  };
  JobOpened opened = test::Opened(2, 2);
  test::MapStage(opened).partition_count = 2;
  test::MapStage(opened).slots = 2;
  test::MapStage(opened).task_bytes = {1000, 1000};
  test::ReduceStage(opened).slots = 2;
  opened.submitted_at = At(0);
  StageOpened generic{.stage = 2, .parents = {1}, .task_count = 1, .task_bytes = {5}};
  const AttemptId task = {.stage = 2};
  std::vector<EventBody> events = {opened,
                                   generic,
                                   ExecutorOpened{.executor = 1, .host = "a"},
                                   test::Started(task, 5),
                                   test::Read(task, 3),
                                   test::Finished(task)};
  for (std::uint32_t i : {0U, 1U}) {
    events.emplace_back(test::Started(M(i), 1000));
    events.emplace_back(test::Read(M(i), 500));
    events.emplace_back(test::Finished(M(i)));
    events.emplace_back(emitted(M(i)));
  }
  for (std::uint32_t i : {0U, 1U}) {
    events.emplace_back(test::Started(R(i), 2400));
    events.emplace_back(test::Read(R(i), 1200));
    events.emplace_back(test::Shuffled(R(i)));
    events.emplace_back(reduced(R(i), 9));
  }
  std::vector<v1::Event> story;
  for (const EventBody& body : events) wire::EncodeBody(body, story.emplace_back());
  return story;
}

// Applies the events, one of which is replaced. Ticks after the replaced event and at the end.
void TellWith(const std::vector<v1::Event>& story, std::size_t replaced, const v1::Event& hostile) {
  JobMonitorOptions options;
  options.indicators = {"tidemark", "nearestfit"};
  options.limits.map_tasks_max = 1000;
  options.limits.reduce_tasks_max = 100;
  JobMonitor monitor("job-1", options);
  for (std::size_t i = 0; i < story.size(); ++i) {
    const absl::Time now = At(static_cast<double>(i));
    const auto body = wire::ParseBody(i == replaced ? hostile : story[i]);
    if (body.ok()) {
      monitor
          .Apply({.job_id = "job-1",
                  .source_id = "app-master",
                  .sequence = i + 1,
                  .sent_at = now,
                  .arrived_at = now,
                  .body = *body})
          .IgnoreError();
    }
    if (i == replaced) test::Check(monitor.Tick(now));
  }
  test::Check(monitor.Tick(At(60)));
}

TEST(HostileNumbers, EveryFieldOfEveryEventAtItsExtremesLeavesSnapshotsFiniteAndWithinBounds) {
  const std::vector<v1::Event> story = Story();
  std::size_t tried = 0;
  for (std::size_t i = 0; i < story.size(); ++i) {
    std::vector<Number> numbers;
    AddNumbers("event", story[i], numbers);
    ASSERT_FALSE(numbers.empty());
    for (const Number& number : numbers) {
      for (std::size_t extreme = 0; extreme < number.extremes; ++extreme) {
        v1::Event hostile = story[i];
        number.set(hostile, extreme);
        TellWith(story, i, hostile);
        ++tried;
        ASSERT_FALSE(HasFailure()) << number.path << " of event " << i << ", extreme " << extreme;
      }
    }
  }
  EXPECT_GT(tried, 1000U);
}

TEST(HostileNumbers, AllNumbersOfAnEventAtOnce) {
  const std::vector<v1::Event> story = Story();
  for (std::size_t i = 0; i < story.size(); ++i) {
    std::vector<Number> numbers;
    AddNumbers("event", story[i], numbers);
    for (std::size_t extreme = 0; extreme < 5; ++extreme) {
      v1::Event hostile = story[i];
      for (const Number& number : numbers) {
        // The ids of the event remain unchanged, since the event would otherwise be rejected.
        const bool is_subject = number.path.find("attempt") != std::string::npos ||
                                number.path.find("sequence") != std::string::npos ||
                                number.path.find("state") != std::string::npos ||
                                number.path.find(".partition") != std::string::npos;
        if (!is_subject && extreme < number.extremes) number.set(hostile, extreme);
      }
      TellWith(story, i, hostile);
      ASSERT_FALSE(HasFailure()) << "event " << i << ", extreme " << extreme;
    }
  }
}

}  // namespace
}  // namespace tidemark::hostile_numbers_test
