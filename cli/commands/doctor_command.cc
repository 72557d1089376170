#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "console/text.h"
#include "serve/doctor.h"

namespace tidemark::cli {
namespace {

struct DoctorArguments {
  ServeArguments serve;     // the settings to check
  ClientSecurity security;  // for the connection to a running master
};

const char* NameOf(serve::Finding::Verdict verdict) {
  switch (verdict) {
    case serve::Finding::Verdict::kOk:
      return "ok";
    case serve::Finding::Verdict::kWarning:
      return "warn";
    case serve::Finding::Verdict::kFailure:
      break;
  }
  return "FAIL";
}

int Run(const DoctorArguments& arguments) {
  const auto print = [](const serve::Finding& finding) {
    WriteLine(stdout, fmt::format("{:<5} {:<12} {}", NameOf(finding.verdict), finding.subject,
                                  console::Printable(finding.text, /*unicode=*/true)));
  };
  const bool is_healthy = serve::Diagnose(arguments.serve.config_file, arguments.serve.overrides,
                                          arguments.security, print);
  return is_healthy ? kSuccess : kJobFailed;
}

}  // namespace

void AddDoctor(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand("doctor", "Check whether `serve` works with these settings");
  auto& arguments = ArgumentsOf<DoctorArguments>(app, invocation, Run);
  AddServeOptions(app, arguments.serve);
  AddSecurity(app, arguments.security);
  AddFooter(
      app,
      "Exit code: 0 no check failed (there may be warnings), 1 a check failed, 2 usage error.");
}

}  // namespace tidemark::cli
