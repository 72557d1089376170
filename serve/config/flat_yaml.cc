#include "serve/config/flat_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <sstream>
#include <utility>

namespace tidemark::serve {
namespace {

int LineOf(const YAML::Node& node) { return node.Mark().line + 1; }

// Finds the parts of a text that settings may not contain.
class Outline final : public YAML::EventHandler {
 public:
  // Line numbers from 1; 0 if the text has no such part.
  int second_document() const { return documents_ > 1 ? document_line_ : 0; }
  int alias() const { return alias_line_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    ++documents_;
    document_line_ = mark.line + 1;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    if (alias_line_ == 0) alias_line_ = mark.line + 1;
  }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  int documents_ = 0;
  int document_line_ = 0;
  int alias_line_ = 0;
};

// Returns the outline of the first two documents. Does not call YAML::LoadAll(), which never
// returns for some texts such as `!,`, since each of their documents is followed by an empty one.
Outline OutlineOf(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Outline outline;
  if (parser.HandleNextDocument(outline)) parser.HandleNextDocument(outline);
  return outline;
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  absl::StatusOr<std::vector<YamlEntry>> Read(const std::string& text) {
    const Outline outline = OutlineOf(text);
    if (const int line = outline.second_document(); line > 0) {
      return Fault(line, "only one document is allowed");
    }
    // Many aliases of one section would multiply its settings.
    if (const int line = outline.alias(); line > 0) {
      return Fault(line, "aliases are not allowed; write the values out");
    }
    const YAML::Node settings = YAML::Load(text);
    if (settings.IsNull()) return std::move(entries_);
    if (!settings.IsMap()) return Fault(LineOf(settings), "expected settings as `key: value`");
    ReadMap(settings, "");
    return std::move(entries_);
  }

 private:
  absl::Status Fault(int line, const std::string& what) const {
    return absl::InvalidArgumentError(fmt::format("{}:{}: {}", file_, line, what));
  }

  void AddFault(const std::string& key, int line, std::string fault) {
    entries_.push_back({.key = key, .line = line, .fault = std::move(fault)});
  }

  void ReadMap(const YAML::Node& map, const std::string& section) {
    for (const auto& pair : map) {
      if (!pair.first.IsScalar()) {
        AddFault("", LineOf(pair.first), "a key must be a plain word");
        continue;
      }
      const std::string key = section + pair.first.Scalar();
      const int line = LineOf(pair.first);
      const auto [known, is_new] = lines_.emplace(key, line);
      if (!is_new) {
        AddFault(key, line, fmt::format("{} is already set on line {}", key, known->second));
      } else {
        ReadValue(pair.second, key, line, section.empty());
      }
    }
  }

  void ReadValue(const YAML::Node& value, const std::string& key, int line, bool may_be_section) {
    if (value.IsMap() && may_be_section) return ReadMap(value, key + ".");
    if (value.IsScalar()) {
      entries_.push_back({.key = key, .words = {value.Scalar()}, .line = line});
      return;
    }
    if (!value.IsSequence()) {
      return AddFault(key, line,
                      fmt::format("{}: {}", key,
                                  value.IsMap() ? "sections cannot be nested deeper"
                                                : "has no value; set one or remove the key"));
    }
    YamlEntry entry{.key = key, .is_list = true, .line = line};
    for (const YAML::Node& item : value) {
      if (!item.IsScalar()) {
        return AddFault(key, LineOf(item),
                        fmt::format("{}: each list item must be a plain word", key));
      }
      entry.words.push_back(item.Scalar());
    }
    entries_.push_back(std::move(entry));
  }

  const std::string file_;
  std::map<std::string, int> lines_;
  std::vector<YamlEntry> entries_;
};

}  // namespace

absl::StatusOr<std::vector<YamlEntry>> ReadFlatYaml(const std::string& text,
                                                    const std::string& file) {
  if (text.size() > kYamlBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} bytes; a configuration file may have at most {}", file, text.size(),
                    kYamlBytesMax));
  }
  try {
    return Reader(file).Read(text);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        fmt::format("{}:{}: not valid YAML: {}", file, error.mark.line + 1, error.msg));
  }
}

}  // namespace tidemark::serve
