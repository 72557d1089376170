// Tests the parts of `tidemark run hadoop`. LocalModeIT and YarnIT run the command with a real
// Hadoop.
#include <zip.h>

#include "cli/hadoop/settings.h"
#include "cli/launch.h"
#include "cli/process.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::cli::hadoop_run_test {
namespace {

namespace fs = std::filesystem;

// Creates an empty folder for each test.
class Folder : public ::testing::Test {
 protected:
  void Write(const fs::path& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  std::string Read(const fs::path& name) const { return test::BytesOf(path_ / name); }

  const test::ScratchDirectory directory_;
  const fs::path path_ = directory_.path();
};

struct Ran {
  absl::StatusOr<int> exit_code = 0;
  std::vector<std::string> lines;
};

Ran RunShell(const std::string& script, const std::map<std::string, std::string>& variables = {},
             bool stops = false) {
  Ran ran;
  const std::atomic<bool> stop = stops;
  ran.exit_code = RunChild(
      {"sh", "-c", script}, variables, [&](const std::string& line) { ran.lines.push_back(line); },
      stop);
  return ran;
}

TEST(RunChild, ReturnsTheExitCodeOfTheCommand) {
  EXPECT_EQ(*RunShell("exit 0").exit_code, 0);
  EXPECT_EQ(*RunShell("exit 42").exit_code, 42);
  EXPECT_EQ(*RunShell("kill -9 $$").exit_code, 128 + 9);
}

TEST(RunChild, ForwardsEveryLineAndAnIncompleteLastOne) {
  EXPECT_THAT(RunShell("echo one >&2; echo two >&2; printf three >&2").lines,
              ElementsAre("one", "two", "three"));
}

TEST(RunChild, ReturnsBeforeGrandchildrenEnd) {
  const Ran ran = RunShell("sleep 600 & echo $! >&2");
  EXPECT_EQ(*ran.exit_code, 0);
  ASSERT_EQ(ran.lines.size(), 1u);
  RunShell("kill " + ran.lines[0]);
}

TEST(RunChild, SetsTheVariables) {
  EXPECT_THAT(RunShell("echo $HADOOP_CONF_DIR >&2", {{"HADOOP_CONF_DIR", "/some where"}}).lines,
              ElementsAre("/some where"));
}

TEST(RunChild, TerminatesTheCommandWhenStopped) {
  EXPECT_EQ(*RunShell("exec sleep 600", {}, true).exit_code, 128 + 15);
}

TEST(RunChild, NamesAMissingProgram) {
  const std::atomic<bool> stop = false;
  const auto exit_code = RunChild(
      {"no-such-hadoop"}, {}, [](const std::string&) {}, stop);
  EXPECT_TRUE(absl::IsNotFound(exit_code.status()));
  EXPECT_THAT(std::string(exit_code.status().message()), HasSubstr("no-such-hadoop"));
}

TEST(JobIdsIn, FindsIdsOfClustersAndOfLocalMode) {
  EXPECT_THAT(JobIdsIn("INFO mapreduce.Job: Running job: job_1700000000000_0001"),
              ElementsAre("job_1700000000000_0001"));
  EXPECT_THAT(JobIdsIn("job_local12_0001: job_1_2,job_3_4"),
              ElementsAre("job_local12_0001", "job_1_2", "job_3_4"));
}

TEST(JobIdsIn, OmitsSimilarWords) {
  EXPECT_THAT(JobIdsIn("my_job_1"), IsEmpty());
  EXPECT_THAT(JobIdsIn("jobjob_1_2 job_local_1 job_12 job_12_ job_"), IsEmpty());
}

class FindConfigurationTest : public Folder {
 protected:
  absl::StatusOr<std::string> Find(const std::string& program,
                                   const std::map<std::string, std::string>& variables) const {
    return FindConfiguration(program, [&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? "" : found->second;
    });
  }
};

TEST_F(FindConfigurationTest, UsesTheVariable) {
  EXPECT_EQ(*Find("hadoop", {{"HADOOP_CONF_DIR", path_.string()}}), path_.string());
  EXPECT_TRUE(absl::IsNotFound(Find("hadoop", {{"HADOOP_CONF_DIR", "/no/such"}}).status()));
}

TEST_F(FindConfigurationTest, SearchesTheHomeAndTheProgram) {
  Write("etc/hadoop/core-site.xml", "");
  Write("bin/hadoop", "");
  fs::create_symlink(path_ / "bin/hadoop", path_ / "link");
  const std::string expected = (path_ / "etc/hadoop").string();
  EXPECT_EQ(*Find("hadoop", {{"HADOOP_HOME", path_.string()}}), expected);
  EXPECT_EQ(*Find("hadoop", {{"PATH", "/no/such:" + (path_ / "bin").string()}}), expected);
  EXPECT_EQ(*Find((path_ / "link").string(), {}), expected);
  EXPECT_TRUE(absl::IsNotFound(Find("hadoop", {{"PATH", "/no/such"}}).status()));
}

class CopyConfigurationTest : public Folder {
 protected:
  ReplacedSite Site(const std::vector<HadoopSetting>& settings) const {
    return {.name = "mapred-site.xml",
            .original = path_ / "site/mapred-site.xml",
            .settings = settings,
            .beside = Beside};
  }
};

TEST_F(CopyConfigurationTest, AddsTheSettingsToTheSite) {
  Write("site/core-site.xml", "core");
  Write("site/mapred-site.xml",
        "<configuration><property><name>tmpjars</name><value>a.jar</value></property>"
        "</configuration>");
  fs::create_directories(path_ / "copy");
  ASSERT_TRUE(
      CopyConfiguration(path_ / "site", Site({{"tmpjars", "file:///t.jar"}}), path_ / "copy").ok());
  EXPECT_EQ(Read("copy/core-site.xml"), "core");
  EXPECT_THAT(Read("copy/mapred-site.xml"), HasSubstr("<value>file:///t.jar,a.jar</value>"));
  EXPECT_THAT(Read("site/mapred-site.xml"), Not(HasSubstr("t.jar")));
}

TEST_F(CopyConfigurationTest, NamesAnInvalidSite) {
  Write("site/mapred-site.xml", "<configuration>");
  fs::create_directories(path_ / "copy");
  const absl::Status copied = CopyConfiguration(path_ / "site", Site({}), path_ / "copy");
  EXPECT_THAT(std::string(copied.message()), HasSubstr("mapred-site.xml"));
}

class FindJarTest : public Folder {
 protected:
  // Writes a jar with these files. Returns its path.
  std::string Jar(const std::vector<std::string>& entries) const {
    const std::string path = path_ / "a.jar";
    zip_t* jar = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (const std::string& entry : entries) {
      zip_file_add(jar, entry.c_str(), zip_source_buffer(jar, "x", 1, 0), 0);
    }
    EXPECT_EQ(zip_close(jar), 0);
    return path;
  }
  static absl::StatusOr<std::string> FindHadoopJar(const std::string& jar) {
    return FindJar(jar, "hadoop", ConnectorClasses());
  }
  static std::string Fault(const std::string& jar) {
    return std::string(FindHadoopJar(jar).status().message());
  }
};

TEST_F(FindJarTest, AcceptsTheConnector) {
  const std::string jar = Jar(
      {"META-INF/MANIFEST.MF", "org/tidemark/hadoop/TidemarkCollector.class",
       "org/tidemark/hadoop/TidemarkPolicy.class", "org/tidemark/hadoop/TidemarkShuffle.class"});
  EXPECT_EQ(*FindHadoopJar(jar), fs::canonical(jar));
}

TEST_F(FindJarTest, RejectsAnotherJar) {
  EXPECT_THAT(Fault(Jar({"META-INF/MANIFEST.MF", "org/example/WordCount.class"})),
              HasSubstr("a.jar: not Tidemark's connector: it lacks "
                        "org.tidemark.hadoop.TidemarkCollector; build the connector"));
  EXPECT_THAT(Fault(Jar({"org/tidemark/hadoop/TidemarkCollector.class"})),
              HasSubstr("it lacks org.tidemark.hadoop.TidemarkShuffle"));
}

TEST_F(FindJarTest, RejectsOtherFiles) {
  Write("text.jar", "no jar at all");
  EXPECT_THAT(Fault(path_ / "text.jar"), HasSubstr("text.jar: not a jar ("));
}

TEST(NamedJobs, AreUnreportedUntilTheyReport) {
  NamedJobs jobs;
  EXPECT_FALSE(jobs.Contains("job_1_1")) << "it may be another command's";
  jobs.Add("job_1_1", absl::UnixEpoch());
  jobs.Add("job_1_2", absl::UnixEpoch());
  EXPECT_TRUE(jobs.OnReport("job_1_1"));
  EXPECT_FALSE(jobs.OnReport("job_1_1"));
  jobs.Add("job_1_1", absl::UnixEpoch());
  EXPECT_THAT(jobs.Unreported(), ElementsAre("job_1_2"));
  EXPECT_TRUE(jobs.OnReport("job_1_3"));
}

TEST(NamedJobs, AreReturnedAsLateOnce) {
  NamedJobs jobs;
  const absl::Time start = absl::UnixEpoch();
  jobs.Add("job_1_1", start);
  jobs.Add("job_1_2", start + absl::Seconds(5));
  jobs.Add("job_1_1", start + absl::Seconds(5));
  EXPECT_THAT(jobs.NewlyLate(start + NamedJobs::kReportsWithin - absl::Seconds(1)), IsEmpty());
  EXPECT_THAT(jobs.NewlyLate(start + NamedJobs::kReportsWithin), ElementsAre("job_1_1"));
  EXPECT_THAT(jobs.NewlyLate(start + absl::Hours(1)), ElementsAre("job_1_2"));
  EXPECT_THAT(jobs.NewlyLate(start + absl::Hours(2)), IsEmpty());
}

}  // namespace
}  // namespace tidemark::cli::hadoop_run_test
