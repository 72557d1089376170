// What the user asked for, out of the words of the command line.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "cli/config/serve_config.h"
#include "examples/local_mapreduce/run.h"
#include "examples/local_mapreduce/workflow.h"
#include "tidemark/client_security.h"

namespace tidemark::cli {

enum class ProgressMode : std::uint8_t { kAuto, kTty, kPlain, kJson, kQuiet };

struct ProgressArguments {
  ProgressMode mode = ProgressMode::kAuto;
  bool compare = false;
};

struct RunArguments {
  examples::RunOptions job;  // as far as the user decides; without output_dir nothing is kept
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

struct JobsArguments {
  std::string master;
  ClientSecurity security;
  bool json = false;
};

struct WatchArguments {
  std::string job_id;
  std::string master;
  ClientSecurity security;
  ProgressArguments progress;
};

struct ReplayArguments {
  std::string log;
  double speed = 0;  // times as fast as it was; 0: without waiting
  ProgressArguments progress;
};

struct HadoopConfArguments {
  std::string jar;
  std::string master;
  std::string site;         // a mapred-site.xml to look for settings in; empty: none
  bool as_options = false;  // -D key=value rather than XML
};

struct HadoopRunArguments {
  std::string jar;
  std::string master;        // empty: one of our own
  ClientSecurity security;   // to watch that master
  MasterOptions own_master;  // if so
  std::vector<std::string> command;
  ProgressArguments progress;
};

struct HadoopPollArguments {
  std::string application;
  std::string resource_manager;  // URL
  absl::Duration interval = absl::Seconds(1);
  ProgressArguments progress;
};

struct WorkflowEstimateArguments {
  std::string file;
  bool json = false;
};

struct WorkflowWhatIfArguments {
  std::string file;
  std::vector<double> slots;
  double data = 1;  // times as much
  bool json = false;
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

struct WorkflowSubmitArguments {
  std::string file;
  std::string master;
  ClientSecurity security;
};

struct WorkflowAttachArguments {
  std::string workflow_id;
  std::string job_name;
  std::string job_id;
  std::string master;
  ClientSecurity security;
};

struct WorkflowWatchArguments {
  std::string workflow_id;
  std::string master;
  ClientSecurity security;
  ProgressArguments progress;
};

using Arguments =
    std::variant<RunArguments, ServeArguments, DoctorArguments, JobsArguments, WatchArguments,
                 ReplayArguments, HadoopConfArguments, HadoopRunArguments, HadoopPollArguments,
                 WorkflowEstimateArguments, WorkflowWhatIfArguments, WorkflowSubmitArguments,
                 WorkflowAttachArguments, WorkflowWatchArguments, WorkflowRunArguments,
                 ProfileNodeArguments>;

// Everything there is to say when there is nothing to do: help, version, or what was wrong.
struct Answer {
  int exit_code = 0;
  std::string out;  // for standard output
  std::string err;  // for standard error
};

// `words` as main() got them. The environment variable TIDEMARK_MASTER stands in for --master of
// `jobs` and `watch`; those of ClientSecurity for the options about TLS and tokens.
std::variant<Arguments, Answer> ParseCommandLine(const std::vector<std::string>& words);

}  // namespace tidemark::cli
