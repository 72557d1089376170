#include "web/words.h"

#include <gtest/gtest.h>

namespace tidemark::web {
namespace {

v1::JobWords Two(const std::string& second) {
  v1::JobWords words;
  for (const std::string& state : {std::string("done"), second}) {
    v1::StageWords& stage = *words.add_stages();
    stage.mutable_id()->set_stage(static_cast<unsigned>(words.stages_size()));
    stage.set_state(state);
  }
  words.add_children()->set_state(second);
  return words;
}

TEST(WordChanges, LeavesOutWhatWasSaidBefore) {
  WordChanges told;
  v1::JobWords words = Two("running");
  told.KeepNews(words);
  EXPECT_EQ(words.stages_size(), 2);
  EXPECT_EQ(words.children_size(), 1);
  words = Two("running");
  told.KeepNews(words);
  EXPECT_EQ(words.stages_size(), 0);
  EXPECT_EQ(words.children_size(), 0);
  words = Two("done");
  told.KeepNews(words);
  ASSERT_EQ(words.stages_size(), 1);
  EXPECT_EQ(words.stages(0).id().stage(), 2);
}

TEST(WordChanges, SendsWordsAgainOfAStageThatWasGone) {
  WordChanges changes;
  v1::JobWords words = Two("running");
  changes.KeepNews(words);
  words = Two("running");
  words.mutable_stages()->RemoveLast();
  changes.KeepNews(words);
  words = Two("running");
  changes.KeepNews(words);
  ASSERT_EQ(words.stages_size(), 1);
  EXPECT_EQ(words.stages(0).id().stage(), 2);
}

}  // namespace
}  // namespace tidemark::web
