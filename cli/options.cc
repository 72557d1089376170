#include "cli/options.h"

#include <filesystem>
#include <system_error>

#include "cli/process.h"
#include "text/counted.h"
#include "text/did_you_mean.h"
#include "text/size_text.h"
#include "tidemark/job_monitor.h"
#include "transport/listen_address.h"

namespace tidemark::cli {
namespace {

const std::map<std::string, ProgressMode> kProgressModes = {{"auto", ProgressMode::kAuto},
                                                            {"bar", ProgressMode::kBar},
                                                            {"plain", ProgressMode::kPlain},
                                                            {"jsonl", ProgressMode::kJsonl},
                                                            {"quiet", ProgressMode::kQuiet}};

const std::map<std::string, TableFormat> kTableFormats = {{"table", TableFormat::kTable},
                                                          {"wide", TableFormat::kWide},
                                                          {"json", TableFormat::kJson},
                                                          {"jsonl", TableFormat::kJsonl}};

struct ConnectionOption {
  const char* name;
  const char* variable;
  const char* type;
  const char* help;
  std::string ClientSecurity::*target;  // null for the address
};
constexpr ConnectionOption kConnectionOptions[] = {
    {"--master", "TIDEMARK_MASTER", "HOST:PORT",
     "Address of the master, or unix:PATH [127.0.0.1:7411]", nullptr},
    {"--tls-ca", "TIDEMARK_TLS_CA", "FILE", "CA certificates that verify the master; turns on TLS",
     &ClientSecurity::ca_file},
    {"--tls-certificate", "TIDEMARK_TLS_CERTIFICATE", "FILE",
     "Client certificate that the master verifies", &ClientSecurity::certificate_file},
    {"--tls-key", "TIDEMARK_TLS_KEY", "FILE", "Private key of the client certificate",
     &ClientSecurity::key_file},
    {"--tls-server-name", "TIDEMARK_TLS_SERVER_NAME", "NAME",
     "Name in the master's certificate, if it differs from the host", &ClientSecurity::server_name},
    {"--token-file", "TIDEMARK_TOKEN_FILE", "FILE", "File that contains the token",
     &ClientSecurity::token_file}};

// A check returns the fault of a word, as text that follows the name of the option.
constexpr char kEmptyWord[] = "must not be empty; is a shell variable unset?";

}  // namespace

bool IsPath(const std::string& subject) {
  std::error_code ignored;
  return std::filesystem::exists(subject, ignored) || subject.starts_with('/') ||
         subject.starts_with('.') || subject.ends_with(".jhist");
}

std::string OrEmpty(const std::string& word) { return word.empty() ? "empty" : word; }

CLI::Option* OneOf(const std::vector<std::string>& names, CLI::Option* option) {
  const auto check = [names](const std::string& word) -> std::string {
    if (std::find(names.begin(), names.end(), word) != names.end()) return "";
    return fmt::format("must be {}, not {}{}", text::AnyOf(names), OrEmpty(word),
                       text::DidYouMean(word, names));
  };
  return option->check(check, fmt::format("{{{}}}", fmt::join(names, ",")));
}

CLI::Option* NotEmpty(CLI::Option* option) {
  const auto check = [](const std::string& word) -> std::string {
    return word.empty() ? kEmptyWord : "";
  };
  return option->check(check, "");
}

CLI::Option* Address(CLI::Option* option) {
  const auto check = [](const std::string& word) { return transport::MasterAddressFault(word); };
  return option->check(check, "")->type_name("HOST:PORT");
}

CLI::Option* NetworkAddress(CLI::Option* option) {
  const auto check = [](const std::string& word) -> std::string {
    if (!word.starts_with("unix:") && !word.starts_with("unix-abstract:")) return "";
    return fmt::format("must be host:port, not {}: connectors in a JVM cannot use unix sockets",
                       word);
  };
  return Address(option->check(check, ""));
}

CLI::Option* Directory(CLI::Option* option) {
  const auto check = [](const std::string& path) -> std::string {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return "";
    return std::filesystem::exists(path, ignored) ? path + " is not a directory"
                                                  : "no directory " + path;
  };
  return NotEmpty(option)->check(check, "")->type_name("DIR");
}

CLI::Option* Size(CLI::Option* option) {
  const auto in_bytes = [](std::string& word) -> std::string {
    const std::uint64_t bytes = text::SizeIn(word).value_or(0);
    if (bytes == 0) {
      return fmt::format("must be a size of at least 1 byte, such as 10GiB, not {}", OrEmpty(word));
    }
    word = fmt::format("{}", bytes);
    return "";
  };
  return option->transform(CLI::Validator(in_bytes, ""))->type_name("SIZE");
}

std::pair<std::string, std::string> ParseAssignment(const char* option, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw CLI::ValidationError(fmt::format("{} must be KEY=VALUE, not {}", option, word));
  }
  return {word.substr(0, equals), word.substr(equals + 1)};
}

CLI::Option* AddAssignments(CLI::App& app, const char* option,
                            std::map<std::string, std::string>& values, const char* help) {
  const auto set = [option, &values](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const auto [key, value] = ParseAssignment(option, word);
      if (values.try_emplace(key, value).second) continue;
      throw CLI::ValidationError(
          fmt::format("{} {}: given twice; run the command once for each value", option, key));
    }
  };
  return app.add_option_function<std::vector<std::string>>(option, set, help)->expected(1, -1);
}

void AddProgress(CLI::App& app, ProgressArguments& progress) {
  AddChoice(app, "-o,--output", kProgressModes, progress.mode,
            "How to show progress [auto: a bar on a terminal, plain lines elsewhere]");
  app.add_flag("--compare", progress.compare,
               "Also show the other indicators and, at the end, their errors");
  AddDeadline(app, "--deadline", progress.deadline,
              "Show the probability that the job ends after WHEN: 07:30, or 2h30m after its start")
      ->type_name("WHEN");
}

CLI::Option* AddDeadline(CLI::App& app, const std::string& name, std::optional<Deadline>& deadline,
                         const std::string& help) {
  const auto parse = [&deadline, name](const std::string& word) {
    const absl::StatusOr<Deadline> parsed = ParseDeadline(word);
    if (!parsed.ok()) {
      throw CLI::ValidationError(
          fmt::format("{} {}", name, std::string(parsed.status().message())));
    }
    deadline = *parsed;
  };
  return app.add_option_function<std::string>(name, parse, help);
}

CLI::Option* AddIndicators(CLI::App& app, std::vector<std::string>& indicators) {
  return OneOf(KnownIndicators(), app.add_option("--indicator", indicators,
                                                 "Indicators to compute, the main one first")
                                      ->expected(1, -1));
}

void AddFormat(CLI::App& app, TableFormat& format, const char* names) {
  AddChoice(app, names, kTableFormats, format, "Output format [table]");
}

void AddFooter(CLI::App& app, const std::string& text) {
  std::string footer = app.get_footer();
  footer.erase(0, footer.find_first_not_of('\n'));
  app.footer(footer.empty() ? text : footer + "\n" + text);
}

void AddSecurity(CLI::App& app, ClientSecurity& security) {
  for (const ConnectionOption& option : kConnectionOptions) {
    if (option.target == nullptr) continue;
    NotEmpty(app.add_option(option.name, security.*option.target, option.help))
        ->envname(option.variable)
        ->type_name(option.type)
        ->group(kConnectionGroup);
  }
  AddFooter(app, "TLS and tokens: see `tidemark help connection`.");
}

void AddMaster(CLI::App& app, MasterArguments& master) {
  master.address = serve::kDefaultMaster;
  AddSecurity(app, master.security);
  Address(app.add_option("--master", master.address, kConnectionOptions[0].help))
      ->envname(kConnectionOptions[0].variable)
      ->group(kConnectionGroup);
  app.footer("The master (--master HOST:PORT), TLS and tokens: see `tidemark help connection`.");
}

MasterArguments MasterOfEnvironment() {
  MasterArguments master;
  for (const ConnectionOption& option : kConnectionOptions) {
    const std::string value = EnvironmentVariable(option.variable);
    (option.target == nullptr ? master.address : master.security.*option.target) = value;
  }
  if (master.address.empty()) master.address = serve::kDefaultMaster;
  return master;
}

std::string ConnectionHelp() {
  std::string text =
      "Every command that queries a master takes these options. If an option is\n"
      "missing, its environment variable applies.\n\n";
  for (const ConnectionOption& option : kConnectionOptions) {
    text += fmt::format("  {:<29} {:<26} {}\n", fmt::format("{} {}", option.name, option.type),
                        option.variable, option.help);
  }
  return text +
         "\nTokens and keys are read from files, because other users of the host can read the "
         "arguments\n"
         "of a command line. Without --tls-ca the connection is not encrypted.\n"
         "Connectors in a JVM cannot use unix:PATH.";
}

}  // namespace tidemark::cli
