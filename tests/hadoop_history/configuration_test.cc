#include "hadoop/configuration.h"

#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::hadoop::configuration_test {
namespace {

TEST(HadoopConfiguration, HasTheLastValueOfEachKey) {
  const Configuration found = ParseConfiguration(
      "<configuration><property><name> a </name><value>1 &lt; 2 &amp;lt; &quot;3&quot;</value>"
      "<source>job.xml</source></property><!-- <property><name>b</name><value>x</value></property>"
      "--><property><name>c</name></property><property><name>c</name><value>4</value></property>");
  EXPECT_EQ(found, (Configuration{{"a", "1 < 2 &lt; \"3\""}, {"c", "4"}}));
  EXPECT_EQ(ValueOf(found, "a"), "1 < 2 &lt; \"3\"");
  EXPECT_EQ(ValueOf(found, "b", "none"), "none");
}

TEST(HadoopConfiguration, OfATruncatedOrMissingFileHasWhatWasRead) {
  const test::ScratchDirectory directory;
  const std::string path =
      directory.Write("conf.xml", "<property><name>a</name><value>1</value></property><property>");
  EXPECT_EQ(ReadConfiguration(path), (Configuration{{"a", "1"}}));
  EXPECT_TRUE(ReadConfiguration(directory / "none").empty());
  EXPECT_TRUE(ReadConfiguration(directory.path()).empty());
}

}  // namespace
}  // namespace tidemark::hadoop::configuration_test
