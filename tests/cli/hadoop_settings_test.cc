#include "cli/hadoop/settings.h"
#include "tests/test.h"

namespace tidemark::cli::hadoop_settings_test {
namespace {

TEST(ConnectorSettings, ContainTheMasterTheJarAndThreePlugIns) {
  const auto settings = ConnectorSettings("node-1:7411", "/opt/tidemark-hadoop.jar");
  ASSERT_EQ(settings.size(), 6u);
  EXPECT_EQ(settings[0], (HadoopSetting{"tidemark.master", "node-1:7411"}));
  EXPECT_EQ(settings[1], (HadoopSetting{"tmpjars", "file:///opt/tidemark-hadoop.jar"}));
  EXPECT_EQ(settings[2],
            (HadoopSetting{"tmpfiles", "file:///opt/tidemark-hadoop.jar#tidemark-file.jar"}));
  // Hadoop's own collector is second, so that MapTask can use it as a fallback.
  EXPECT_THAT(settings[3].value, HasSubstr(",org.apache.hadoop.mapred.MapTask$MapOutputBuffer"));
}

TEST(HadoopXml, EscapesSpecialCharacters) {
  EXPECT_EQ(ToHadoopXml({{"k", "a<b>&c"}}),
            "<configuration>\n  <property>\n    <name>k</name>\n    "
            "<value>a&lt;b&gt;&amp;c</value>\n  </property>\n</configuration>\n");
}

TEST(HadoopOptions, AreQuotedForAShell) {
  EXPECT_EQ(ToHadoopOptions({{"a", "X$Y"}, {"b", "it's"}}), "-D 'a=X$Y' \\\n-D 'b=it'\\''s'\n");
}

const std::vector<HadoopSetting> kJars = {{"tmpjars", "file:///t.jar"}};

// The name becomes a part of mapred-site.xml. The letter has two bytes, of which one would fit.
TEST(CommandName, IsCutBetweenCharacters) {
  EXPECT_EQ(CommandName({"/bin/" + std::string(127, 'a') + "\u00fc"}), std::string(127, 'a'));
}

TEST(SettingsIn, IgnoresSpacing) {
  EXPECT_THAT(
      SettingsIn("<property><name>\n tmpjars </name> <value>a&amp;b\n</value></property>", kJars),
      ElementsAre(HadoopSetting{"tmpjars", "a&b"}));
  EXPECT_THAT(SettingsIn("<property><value>v</value><name>tmpjars</name></property>", kJars),
              ElementsAre(HadoopSetting{"tmpjars", "v"}));
}

TEST(SettingsIn, OmitsOtherNamesAndComments) {
  EXPECT_THAT(SettingsIn("<property><name>tmpjars.more</name></property>", kJars), IsEmpty());
  EXPECT_THAT(SettingsIn("<!-- <property><name>tmpjars</name></property> -->", kJars), IsEmpty());
  EXPECT_THAT(SettingsIn("<property><name>tmpjars</name>", kJars), IsEmpty());
  EXPECT_THAT(SettingsIn("<!-- <property>", kJars), IsEmpty());
}

TEST(Beside, CombinesJarsAndFiles) {
  EXPECT_THAT(Beside({{"tmpjars", "a.jar,b.jar"}}, kJars),
              ElementsAre(HadoopSetting{"tmpjars", "file:///t.jar,a.jar,b.jar"}));
  EXPECT_THAT(Beside({{"tmpfiles", "a"}}, {{"tmpfiles", "file:///t.jar#t"}}),
              ElementsAre(HadoopSetting{"tmpfiles", "file:///t.jar#t,a"}));
}

TEST(Beside, KeepsPlugInsOfASiteAsDelegates) {
  const std::vector<HadoopSetting> site = {
      {"mapreduce.job.map.output.collector.class", "site.Collector,site.Fallback"},
      {"mapreduce.job.reduce.shuffle.consumer.plugin.class", "site.Shuffle"},
      {"yarn.app.mapreduce.am.preemption.policy", "site.Policy"}};
  const auto settings = Beside(site, ConnectorSettings("node-1:7411", "/t.jar"));
  ASSERT_EQ(settings.size(), 9u);
  EXPECT_EQ(settings[3].value,
            "org.tidemark.hadoop.TidemarkCollector,site.Collector,site.Fallback");
  EXPECT_EQ(settings[4].value, "org.tidemark.hadoop.TidemarkShuffle");
  EXPECT_EQ(settings[6], (HadoopSetting{"tidemark.collector.delegate", "site.Collector"}));
  EXPECT_EQ(settings[7], (HadoopSetting{"tidemark.shuffle.delegate", "site.Shuffle"}));
  EXPECT_EQ(settings[8], (HadoopSetting{"tidemark.preemption.delegate", "site.Policy"}));
}

TEST(Beside, IgnoresTheConnectorsOwnSettings) {
  const auto settings = ConnectorSettings("node-1:7411", "/t.jar");
  EXPECT_EQ(Beside(settings, settings), settings);
}

TEST(WithSettings, AppendsTheSettings) {
  EXPECT_EQ(*WithSettings("<configuration><a/></configuration>\n", {{"k", "v"}}),
            "<configuration><a/>  <property>\n    <name>k</name>\n    <value>v</value>\n"
            "  </property>\n</configuration>\n");
  EXPECT_EQ(*WithSettings("", {{"k", "v"}}), ToHadoopXml({{"k", "v"}}));
  EXPECT_TRUE(absl::IsInvalidArgument(WithSettings("not XML", {}).status()));
}

TEST(WithJar, ExtendsListsThatReplaceTheSetting) {
  EXPECT_THAT(WithJar({"hadoop", "jar", "j.jar", "-libjars", "a.jar"}, "/t.jar"),
              ElementsAre("hadoop", "jar", "j.jar", "-libjars", "a.jar,file:///t.jar"));
  EXPECT_THAT(WithJar({"-Dtmpjars=a.jar"}, "/t.jar"), ElementsAre("-Dtmpjars=a.jar,file:///t.jar"));
  EXPECT_THAT(WithJar({"-D", "tmpjars=a.jar"}, "/t.jar"),
              ElementsAre("-D", "tmpjars=a.jar,file:///t.jar"));
  EXPECT_THAT(WithJar({"tmpjars=a.jar", "-libjars"}, "/t.jar"),
              ElementsAre("tmpjars=a.jar", "-libjars"));
}

}  // namespace
}  // namespace tidemark::cli::hadoop_settings_test
