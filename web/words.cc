#include "web/words.h"

#include <utility>

namespace tidemark::web {
namespace {

template <typename Words, typename IdOf>
void Keep(google::protobuf::RepeatedPtrField<Words>& all, const IdOf& id_of,
          std::map<std::string, std::string>& told) {
  google::protobuf::RepeatedPtrField<Words> news;
  for (Words& each : all) {
    std::string now = each.SerializeAsString();
    std::string& before = told[id_of(each)];
    if (now == before) continue;
    before = std::move(now);
    *news.Add() = std::move(each);
  }
  all.Swap(&news);
}

}  // namespace

void WordChanges::KeepNews(v1::JobWords& words) {
  Keep(
      *words.mutable_stages(),
      [](const v1::StageWords& stage) {
        return std::to_string(stage.id().child()) + "." + std::to_string(stage.id().stage());
      },
      told_);
  Keep(
      *words.mutable_children(),
      [](const v1::ChildWords& child) { return std::to_string(child.number()); }, told_);
}

}  // namespace tidemark::web
