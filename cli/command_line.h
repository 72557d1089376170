// What the user asked for, parsed from the command line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "examples/local_mapreduce/run.h"
#include "examples/local_mapreduce/workflow.h"
#include "serve/config/serve_config.h"
#include "tidemark/client_security.h"
#include "tidemark/deadline.h"
#include "tidemark/explanation.h"
#include "tidemark/job_query.h"
#include "tidemark/plan.h"

namespace tidemark::cli {

// How progress is shown; kAuto: a bar on a terminal, plain lines elsewhere.
enum class ProgressMode : std::uint8_t { kAuto, kBar, kPlain, kJsonl, kQuiet };
// How what is known now is shown.
enum class TableFormat : std::uint8_t { kTable, kWide, kJson, kJsonl, kDot };

struct ProgressArguments {
  ProgressMode mode = ProgressMode::kAuto;
  bool compare = false;
  std::optional<Deadline> deadline;  // of what is shown
};

// The master to ask.
struct MasterArguments {
  std::string address;
  ClientSecurity security;
};

struct RunArguments {
  examples::RunOptions job;  // as far as the user decides; without output_dir nothing is kept
  std::optional<std::uint32_t> reducers;  // empty: two for each slot
  ProgressArguments progress;
};

struct ServeArguments {
  std::string config_file;  // empty: none
  std::vector<SettingOverride> overrides;
};

struct DoctorArguments {
  ServeArguments serve;     // whose installation
  ClientSecurity security;  // to ask the master, if it runs
};

enum class Listed : std::uint8_t { kJobs, kStages, kTasks };

struct GetArguments {
  Listed what = Listed::kJobs;
  std::string job_id;    // empty: all jobs
  JobFilter filter;      // of all jobs
  bool watches = false;  // what comes, too: as WatchArguments
  MasterArguments master;
  TableFormat format = TableFormat::kTable;
};

struct WatchArguments {
  std::string job_id;  // empty: all jobs
  JobFilter filter;    // of all jobs
  MasterArguments master;
  ProgressArguments progress;
  absl::Duration timeout = absl::InfiniteDuration();
  bool waits = false;  // for a job, and a master, that are not there yet
  bool tasks = false;  // also those that run, below the bar of one job
};

struct SubmitArguments {
  std::string file;
  MasterArguments master;
};

struct AttachArguments {
  std::string job_id;
  std::string child_name;
  std::string child_job_id;
  MasterArguments master;
};

struct UpdateArguments {
  std::string job_id;
  std::string file;  // of the jobs to add; empty: none
  std::vector<std::string> cancel_jobs;
  bool cancel = false;
  MasterArguments master;
};

struct ForgetArguments {
  std::string job_id;
  MasterArguments master;
};

struct WhatIfArguments {
  std::string subject;                          // a plan file, or the id of a job
  std::vector<std::uint32_t> slots;             // a scenario for each; empty: as it is
  std::vector<std::uint32_t> executors;         // of an application of Spark, likewise; not both
  std::map<std::string, std::string> settings;  // of Spark
  // Of a log of Spark; a row for each combination. Empty: as it is.
  std::vector<std::uint32_t> cores;  // of an executor
  std::vector<std::string> memory;   // likewise
  std::vector<std::uint32_t> partitions;
  std::vector<std::string> compress;              // "true", "false"
  std::vector<double> data;                       // factors
  std::map<std::string, std::string> parameters;  // of the program
  std::vector<std::string> learn;                 // logs of other runs
  std::optional<double> data_factor;
  std::optional<SchedulingPolicy> policy;
  MasterArguments master;
  TableFormat format = TableFormat::kTable;
};

struct WhyArguments {
  std::string subject;  // an event log of Spark, or the id of a job
  ExplainQuestion question;
  MasterArguments master;
  TableFormat format = TableFormat::kTable;
};

struct AdviseArguments {
  std::vector<std::string> logs;  // of Spark, or folders of them
  std::optional<double> space_bytes;
  std::optional<double> read_bytes_per_second;  // empty: as the logs show
  TableFormat format = TableFormat::kTable;
};

struct ReplayArguments {
  std::string log;
  double speed = 0;     // times as fast as it was; 0: without waiting
  std::string history;  // a folder with history.sqlite; empty: none
  ProgressArguments progress;
};

struct HadoopConfArguments {
  std::string jar;
  std::string master;
  std::string site;         // a mapred-site.xml to look for settings in; empty: none
  bool as_options = false;  // -D key=value rather than XML
};

// A command of an engine whose jobs are to report.
struct WatchedCommandArguments {
  std::string jar;           // the connector for that engine
  std::string master;        // empty: one of our own
  ClientSecurity security;   // to watch that master
  MasterOptions own_master;  // if so
  std::vector<std::string> command;
  ProgressArguments progress;
};

struct HadoopRunArguments : WatchedCommandArguments {};
struct SparkRunArguments : WatchedCommandArguments {};

struct SparkConfArguments {
  std::string jar;
  std::string master;
  ClientSecurity security;  // with what the application connects to it
  bool as_options = false;  // --conf key=value rather than lines of spark-defaults.conf
};

struct HadoopPollArguments {
  std::string application;
  std::string resource_manager;  // URL
  absl::Duration interval = absl::Seconds(1);
  ProgressArguments progress;
};

struct ProfileNodeArguments {
  std::string directory = ".";                     // on the disk to measure
  std::uint64_t bytes = std::uint64_t{256} << 20;  // of the file to write and read
  std::string peer;                                // that runs `iperf3 -s`; empty: loopback
  int peer_port = 5201;
  std::string data_dir;  // of the master that is to know; empty: only shown
};

struct WorkflowRunArguments {
  examples::WorkflowRunOptions
      run;                   // as far as the user decides; without output_dir nothing is kept
  std::uint64_t visits = 0;  // to generate and use as the first input; 0: none
  MasterOptions own_master;  // without run.master_address
  ProgressArguments progress;
};

struct CompletionArguments {
  std::string shell;  // bash, fish or zsh
};

using Arguments =
    std::variant<GetArguments, WatchArguments, SubmitArguments, AttachArguments, UpdateArguments,
                 ForgetArguments, WhatIfArguments, WhyArguments, AdviseArguments, ReplayArguments,
                 RunArguments, WorkflowRunArguments, HadoopRunArguments, HadoopConfArguments,
                 HadoopPollArguments, SparkRunArguments, SparkConfArguments, ServeArguments,
                 DoctorArguments, ProfileNodeArguments, CompletionArguments>;

// What to print when there is nothing to do: help, the version, or what was wrong.
struct Answer {
  int exit_code = 0;
  std::string out;  // for standard output
  std::string err;  // for standard error
};

// `words` as main() got them. The environment variable TIDEMARK_MASTER stands in for --master of
// what asks a master; those of ClientSecurity for the options about TLS and tokens.
std::variant<Arguments, Answer> ParseCommandLine(const std::vector<std::string>& words);

// Completions of the last of `words`: subcommands and options that begin with it.
std::vector<std::string> CompletionsOf(const std::vector<std::string>& words);

}  // namespace tidemark::cli
