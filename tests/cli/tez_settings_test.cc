// Tests the parts of `tidemark run tez` and `tidemark tez conf`. YarnDagIT runs the command with a
// real Tez.

#include "cli/tez/settings.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::cli::tez_settings_test {
namespace {

namespace fs = std::filesystem;

const std::vector<HadoopSetting> kSettings = TezConnectorSettings("m:1", "/opt/t.jar");

TEST(TezConnectorSettings, NamesTheMasterTheJarAndTheClass) {
  EXPECT_THAT(kSettings, ElementsAre(HadoopSetting{"tidemark.master", "m:1"},
                                     HadoopSetting{"tez.aux.uris", "file:///opt/t.jar"},
                                     HadoopSetting{"tez.history.logging.service.class",
                                                   "org.tidemark.tez.TidemarkHistory"}));
}

TEST(BesideTez, KeepsTheJarsAndTheHistoryOfTheSite) {
  const auto settings = BesideTez(
      {{"tez.aux.uris", "hdfs:///a.jar"}, {"tez.history.logging.service.class", "org.ATS"}},
      kSettings);
  ASSERT_EQ(settings.size(), 4u);
  EXPECT_EQ(settings[1].value, "file:///opt/t.jar,hdfs:///a.jar");
  EXPECT_EQ(settings[2].value, "org.tidemark.tez.TidemarkHistory");
  EXPECT_EQ(settings[3], (HadoopSetting{"tidemark.history.delegate", "org.ATS"}));
}

TEST(BesideTez, UsesTheJarThatTheSiteHasForAllNodes) {
  const std::string jars = "hdfs:///a.jar,hdfs:///apps/tidemark-tez.jar";
  EXPECT_EQ(BesideTez({{"tez.aux.uris", jars}}, kSettings)[1].value, jars);
}

TEST(BesideTez, DoesNotDelegateToItself) { EXPECT_EQ(BesideTez(kSettings, kSettings), kSettings); }

TEST(FindTezSite, PrefersTheFolderThatHadoopReadsFirst) {
  const test::ScratchDirectory directory;
  const fs::path path = directory.path();
  std::map<std::string, std::string> variables = {
      {"HADOOP_CLASSPATH", "/no/such:" + (path / "class").string()},
      {"TEZ_CONF_DIR", (path / "tez").string()}};
  const auto find = [&] {
    return FindTezSite(path / "hadoop", [&](const char* name) { return variables[name]; });
  };
  EXPECT_EQ(find(), (path / "hadoop/tez-site.xml").string());
  for (const char* folder : {"tez", "class", "hadoop"}) {
    fs::create_directories(path / folder);
    std::ofstream(path / folder / "tez-site.xml") << "<configuration/>";
    EXPECT_EQ(find(), (path / folder / "tez-site.xml").string());
  }
}

TEST(DagIdsIn, FindsTheIdsThatTezsClientWrites) {
  EXPECT_THAT(DagIdsIn("applicationId=application_17_0001, dagId=dag_17_0001_2, dagName=words"),
              ElementsAre("dag_17_0001_2"));
  EXPECT_THAT(DagIdsIn("dag_1_2_3;dag_4_5_6"), ElementsAre("dag_1_2_3", "dag_4_5_6"));
  EXPECT_THAT(DagIdsIn("dag_ dag_1 dag_1_2 dag_1_2_ mydag_1_2_3 dag_1__3 dag_x_1_2"), IsEmpty());
  EXPECT_THAT(DagIdsIn(""), IsEmpty());
}

}  // namespace
}  // namespace tidemark::cli::tez_settings_test
