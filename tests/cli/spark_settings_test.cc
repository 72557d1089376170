// Tests the parts of `tidemark run spark` and `tidemark spark conf`. SparkIT runs the commands with
// a real Spark.

#include "cli/engines.h"
#include "cli/spark/settings.h"
#include "tests/test.h"

namespace tidemark::cli::spark_settings_test {
namespace {

using ::testing::Pair;
using Words = std::vector<std::string>;

const std::vector<SparkSetting> kSettings = SparkConnectorSettings("m:1", "/t.jar", {});

TEST(WithSparkSettings, PutsThemAmongTheOptionsOfSpark) {
  EXPECT_THAT(
      WithSparkSettings({"spark-submit", "--name", "my app", "-v", "app.py", "--jars", "its own"},
                        {}, kSettings),
      ElementsAre("spark-submit", "--name", "my app", "-v", "--jars", "/t.jar", "--conf",
                  "spark.plugins=org.tidemark.spark.TidemarkPlugin", "--conf",
                  "spark.tidemark.master=m:1", "app.py", "--jars", "its own"));
  EXPECT_THAT(WithSparkSettings({"pyspark"}, {}, {{"spark.tidemark.master", "m:1"}}),
              ElementsAre("pyspark", "--conf", "spark.tidemark.master=m:1"));
}

TEST(WithSparkSettings, KeepsTheJarsAndPluginsThatAreNamedAlready) {
  const std::vector<SparkSetting> settings(kSettings.begin(), kSettings.begin() + 2);
  const auto behind = [&](const Words& options) {
    Words words =
        WithSparkSettings(options, {{"spark.jars", "d.jar"}, {"spark.plugins", "D"}}, settings);
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(options.size()));
    return words;
  };
  EXPECT_THAT(behind({"spark-shell"}),
              ElementsAre("--jars", "d.jar,/t.jar", "--conf",
                          "spark.plugins=D,org.tidemark.spark.TidemarkPlugin"));
  EXPECT_THAT(behind({"spark-shell", "--jars=a.jar,b.jar", "--conf", "spark.plugins=A"}),
              ElementsAre("--jars", "a.jar,b.jar,/t.jar", "--conf",
                          "spark.plugins=A,org.tidemark.spark.TidemarkPlugin"));
  EXPECT_THAT(behind({"spark-shell", "-c", "spark.jars=a.jar", "--jars", "/t.jar"}),
              ElementsAre("--jars", "/t.jar", "--conf",
                          "spark.plugins=D,org.tidemark.spark.TidemarkPlugin"));
}

TEST(WithSparkSettings, TakesNoWordOfTheApplicationForAnOption) {
  EXPECT_THAT(WithSparkSettings({"spark-sql", "-S", "--driver-java-options", "-Xmx1g", "-e", "-1"},
                                {}, {{"k", "v"}}),
              ElementsAre("spark-sql", "-S", "--driver-java-options", "-Xmx1g", "-e", "-1",
                          "--conf", "k=v"));
}

TEST(ParametersAmong, AreNumbersThatTheArgumentsOfTheApplicationName) {
  EXPECT_THAT(ParametersAmong({"spark-submit", "--num-executors", "4", "app.py", "k=80",
                               "--iterations=20", "--tolerance", "1e-4", "-n", "-3", "in/2026=1"},
                              {}),
              ElementsAre(Pair("spark.tidemark.param.k", "80"),
                          Pair("spark.tidemark.param.iterations", "20"),
                          Pair("spark.tidemark.param.tolerance", "1e-4"),
                          Pair("spark.tidemark.param.n", "-3")));
}

TEST(ParametersAmong, LeavesOutWordsSecretsAndWhatIsSetAlready) {
  EXPECT_THAT(ParametersAmong({"spark-submit", "--conf", "spark.tidemark.param.k=7", "app.py",
                               "k=80", "--k", "81", "d=5", "--input", "s3://a/b", "--db-password",
                               "1234", "--api_token=5", "x=nan", "y=", "=4", "5", "--z"},
                              {{"spark.tidemark.param.d", "6"}}),
              IsEmpty());
  EXPECT_THAT(ParametersAmong({"spark-submit"}, {}), IsEmpty());
  EXPECT_THAT(ParametersAmong({"spark-submit", "app.py"}, {}), IsEmpty());
}

TEST(SparkDefaults, AreReadAsJavaReadsThem) {
  EXPECT_THAT(
      SparkDefaults("# a comment\nspark.jars  a.jar,b.jar \nspark.plugins=A\n a: b c\r\n\n"),
      UnorderedElementsAre(Pair("spark.jars", "a.jar,b.jar"), Pair("spark.plugins", "A"),
                           Pair("a", "b c")));
}

TEST(PropertiesFileOf, IsTheOneThatTheOptionsName) {
  EXPECT_EQ(PropertiesFileOf({"spark-submit", "--properties-file", "f", "app.jar"}), "f");
  EXPECT_EQ(PropertiesFileOf({"spark-submit", "app.jar", "--properties-file", "f"}), "");
}

TEST(SparkConnectorSettings, NameWhatAProtectedMasterWants) {
  const auto settings =
      SparkConnectorSettings("m:1", "/t.jar", {.ca_file = "/ca.pem", .token_file = "/token"});
  EXPECT_EQ(ToSparkDefaults(settings),
            "spark.jars /t.jar\nspark.plugins org.tidemark.spark.TidemarkPlugin\n"
            "spark.tidemark.master m:1\nspark.tidemark.tls.ca /ca.pem\n"
            "spark.tidemark.token.file /token\n");
  EXPECT_EQ(ToSparkOptions({{"a", "b c"}, {"d", "e"}}), "--conf 'a=b c' \\\n--conf 'd=e'\n");
}

TEST(ApplicationIdsIn, FindsWhatTheConnectorWritesAndThoseOfYarn) {
  EXPECT_THAT(ApplicationIdsIn("Tidemark: reporting on application app-20260101120000-0000"),
              ElementsAre("app-20260101120000-0000"));
  EXPECT_THAT(ApplicationIdsIn("INFO Client: Submitted application application_17_0001"),
              ElementsAre("application_17_0001"));
  EXPECT_THAT(ApplicationIdsIn("my application_x, application_12, myapplication_1_2"), IsEmpty());
}

}  // namespace
}  // namespace tidemark::cli::spark_settings_test
