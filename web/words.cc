#include "web/words.h"

#include <utility>

namespace tidemark::web {
namespace {

template <typename Words, typename IdOf>
void RemoveUnchanged(google::protobuf::RepeatedPtrField<Words>& all, const IdOf& id_of,
                     const std::map<std::string, std::string>& before,
                     std::map<std::string, std::string>& sent) {
  google::protobuf::RepeatedPtrField<Words> changed;
  for (Words& each : all) {
    const std::string id = id_of(each);
    std::string now = each.SerializeAsString();
    const auto known = before.find(id);
    const bool is_new = known == before.end() || known->second != now;
    sent[id] = std::move(now);
    if (is_new) *changed.Add() = std::move(each);
  }
  all.Swap(&changed);
}

}  // namespace

void WordChanges::RemoveKnown(v1::JobWords& words) {
  const std::map<std::string, std::string> before = std::exchange(sent_, {});
  RemoveUnchanged(
      *words.mutable_stages(),
      [](const v1::StageWords& stage) {
        return std::to_string(stage.id().child()) + "." + std::to_string(stage.id().stage());
      },
      before, sent_);
  RemoveUnchanged(
      *words.mutable_children(),
      [](const v1::ChildWords& child) { return std::to_string(child.number()); }, before, sent_);
}

}  // namespace tidemark::web
