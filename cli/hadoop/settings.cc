#include "cli/hadoop/settings.h"

#include <fmt/format.h>

#include <cctype>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "cli/client_process.h"

namespace tidemark::cli {
namespace {

constexpr const char* kJars = "tmpjars";
constexpr const char* kCollector = "mapreduce.job.map.output.collector.class";
constexpr const char* kShuffle = "mapreduce.job.reduce.shuffle.consumer.plugin.class";
constexpr const char* kPreemption = "yarn.app.mapreduce.am.preemption.policy";
constexpr const char* kTidemarkCollector = "org.tidemark.hadoop.TidemarkCollector";
constexpr const char* kTidemarkShuffle = "org.tidemark.hadoop.TidemarkShuffle";
constexpr const char* kTidemarkPolicy = "org.tidemark.hadoop.TidemarkPolicy";
constexpr const char* kHadoopsCollector = "org.apache.hadoop.mapred.MapTask$MapOutputBuffer";

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::size_t SkipDigits(std::string_view text, std::size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

std::string EscapedForXml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Property(const HadoopSetting& setting) {
  return fmt::format("  <property>\n    <name>{}</name>\n    <value>{}</value>\n  </property>\n",
                     EscapedForXml(setting.key), EscapedForXml(setting.value));
}

std::string WithoutComments(std::string_view xml) {
  constexpr std::string_view kBegin = "<!--";
  constexpr std::string_view kEnd = "-->";
  std::string text;
  while (!xml.empty()) {
    const std::size_t begin = xml.find(kBegin);
    text += xml.substr(0, begin);
    const std::size_t end = begin == xml.npos ? begin : xml.find(kEnd, begin);
    xml = end == xml.npos ? std::string_view() : xml.substr(end + kEnd.size());
  }
  return text;
}

// The content of the first element of this name; what follows it stays in `xml`. Both are empty
// when there is none.
std::string_view CutElement(std::string_view name, std::string_view& xml) {
  const std::string begin_tag = fmt::format("<{}>", name);
  const std::string end_tag = fmt::format("</{}>", name);
  const std::size_t begin = xml.find(begin_tag);
  const std::size_t end = begin == xml.npos ? begin : xml.find(end_tag, begin);
  if (end == xml.npos) {
    xml = {};
    return {};
  }
  const std::size_t content = begin + begin_tag.size();
  const std::string_view found = xml.substr(content, end - content);
  xml = xml.substr(end + end_tag.size());
  return found;
}

// The text of an element, as XML means it, without spaces around it.
std::string TextOf(std::string_view name, std::string_view xml) {
  const std::string_view content = CutElement(name, xml);
  return absl::StrReplaceAll(
      absl::StripAsciiWhitespace(absl::string_view(content.data(), content.size())),
      {{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}});
}

}  // namespace

std::vector<HadoopSetting> ConnectorSettings(std::string_view master, std::string_view jar) {
  return {
      {"tidemark.master", std::string(master)},
      {kJars, fmt::format("file://{}", jar)},
      {kCollector, fmt::format("{},{}", kTidemarkCollector, kHadoopsCollector)},
      {kShuffle, kTidemarkShuffle},
      {kPreemption, kTidemarkPolicy},
  };
}

std::vector<std::string> ConnectorClasses() {
  return {kTidemarkCollector, kTidemarkShuffle, kTidemarkPolicy};
}

std::string ToHadoopXml(const std::vector<HadoopSetting>& settings) {
  std::string xml = "<configuration>\n";
  for (const HadoopSetting& setting : settings) xml += Property(setting);
  return xml + "</configuration>\n";
}

std::string ToHadoopOptions(const std::vector<HadoopSetting>& settings) {
  std::string options;
  for (const HadoopSetting& setting : settings) {
    if (!options.empty()) options += " \\\n";
    options += "-D " + QuotedForShell(fmt::format("{}={}", setting.key, setting.value));
  }
  return options + "\n";
}

std::vector<HadoopSetting> SettingsIn(std::string_view xml,
                                      const std::vector<HadoopSetting>& settings) {
  const std::string text = WithoutComments(xml);
  std::vector<HadoopSetting> found;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view property = CutElement("property", rest);
    const std::string key = TextOf("name", property);
    for (const HadoopSetting& setting : settings) {
      if (setting.key == key) found.push_back({key, TextOf("value", property)});
    }
  }
  return found;
}

std::vector<HadoopSetting> Beside(const std::vector<HadoopSetting>& sites,
                                  std::vector<HadoopSetting> connectors) {
  std::vector<HadoopSetting> delegates;
  for (const HadoopSetting& site : sites) {
    for (HadoopSetting& ours : connectors) {
      if (ours.key != site.key || site.value.empty() || site.value == ours.value) continue;
      if (site.key == kJars) ours.value += "," + site.value;
      if (site.key == kCollector) {
        // A list: the first that works. Hadoop goes on with the second if ours cannot.
        delegates.push_back(
            {"tidemark.collector.delegate", site.value.substr(0, site.value.find(','))});
        ours.value = fmt::format("{},{}", kTidemarkCollector, site.value);
      }
      if (site.key == kShuffle) delegates.push_back({"tidemark.shuffle.delegate", site.value});
      if (site.key == kPreemption) {
        delegates.push_back({"tidemark.preemption.delegate", site.value});
      }
    }
  }
  connectors.insert(connectors.end(), delegates.begin(), delegates.end());
  return connectors;
}

absl::StatusOr<std::string> WithSettings(std::string_view xml,
                                         const std::vector<HadoopSetting>& settings) {
  if (xml.empty()) return ToHadoopXml(settings);
  const std::size_t end = xml.rfind("</configuration>");
  if (end == xml.npos) return absl::InvalidArgumentError("</configuration> is missing");
  std::string more;
  for (const HadoopSetting& setting : settings) more += Property(setting);
  return fmt::format("{}{}{}", xml.substr(0, end), more, xml.substr(end));
}

std::vector<std::string> WithJar(std::vector<std::string> command, std::string_view jar) {
  constexpr std::string_view kAssignment = "tmpjars=";
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view word = command[i];
    const bool is_list = i > 0 && (command[i - 1] == "-libjars" || command[i - 1] == "--libjars");
    const bool is_setting = word.starts_with("-Dtmpjars=") ||
                            (i > 0 && command[i - 1] == "-D" && word.starts_with(kAssignment));
    if (is_list || is_setting) command[i] += fmt::format(",file://{}", jar);
  }
  return command;
}

std::vector<std::string> JobIdsIn(std::string_view line) {
  constexpr std::string_view kJob = "job_";
  constexpr std::string_view kLocal = "local";
  std::vector<std::string> ids;
  for (std::size_t at = line.find(kJob); at != line.npos; at = line.find(kJob, at + 1)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0) continue;
    std::size_t number = at + kJob.size();
    if (line.substr(number, kLocal.size()) == kLocal) number += kLocal.size();
    const std::size_t underscore = SkipDigits(line, number);
    if (underscore == number || line.substr(underscore, 1) != "_") continue;
    const std::size_t end = SkipDigits(line, underscore + 1);
    if (end == underscore + 1) continue;
    ids.emplace_back(line.substr(at, end - at));
  }
  return ids;
}

}  // namespace tidemark::cli
