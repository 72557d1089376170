#include "serve/doctor.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::serve::doctor_test {
namespace {

constexpr FileId kFile = {.device_major = 0xfe, .device_minor = 0, .inode = 9987572};

TEST(LockHolder, IsTheProcessThatHasLockedTheFile) {
  const std::string locks =
      "1: POSIX  ADVISORY  WRITE 1 fe:00:9987572 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 2 fe:00:99875720 0 EOF\n"
      "3: FLOCK  ADVISORY  WRITE 3 fe:01:9987572 0 EOF\n"
      "4: FLOCK  ADVISORY  WRITE 4711 fe:00:9987572 0 EOF\n";
  EXPECT_EQ(LockHolder(locks, kFile), 4711);
}

TEST(LockHolder, IsNotAWaitingOrHiddenProcess) {
  EXPECT_EQ(LockHolder("1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:9987572 0 EOF\n", kFile),
            std::nullopt);
  EXPECT_EQ(LockHolder("1: FLOCK  ADVISORY  WRITE 0 fe:00:9987572 0 EOF\n", kFile), std::nullopt);
  for (const char* none :
       {"", "\n", "1: FLOCK", "1: FLOCK  ADVISORY  WRITE x fe:00:9987572 0 EOF"}) {
    EXPECT_EQ(LockHolder(none, kFile), std::nullopt) << none;
  }
}

TEST(HolderOfADirectory, IsRecognizedAsStopped) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_TRUE(IsStopped(child));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(IsStopped(child));
  EXPECT_FALSE(IsStopped(getpid()));
}

TEST(HolderOfADirectory, IsAbsentWithoutALock) {
  const test::ScratchDirectory directory;
  EXPECT_EQ(LockHolderOf(directory.path()), std::nullopt);
  directory.Write("LOCK", "");
  EXPECT_EQ(LockHolderOf(directory.path()), std::nullopt) << "a file without a lock";
  EXPECT_EQ(LockHolderOf(""), std::nullopt);
}

TEST(Diagnose, WarnsOfAlertsWithoutLinks) {
  for (const bool has_url : {false, true}) {
    std::vector<SettingOverride> settings = {
        {"--set", "alerts.webhooks", {"json=https://ops.example/"}},
        {"--set", "web.listen", {"127.0.0.1:7412"}},
        {"--set", "spark_logs", {"/missing"}}};  // The failure ends the checks.
    if (has_url) {
      settings.push_back({"--set", "web.public_url", {"https://tidemark.example/"}});
    }
    std::vector<std::string> warnings;
    EXPECT_FALSE(Diagnose("", settings, {}, [&](const Finding& found) {
      const bool is_warning = found.verdict == Finding::Verdict::kWarning;
      if (is_warning && found.subject == "alerts") warnings.push_back(found.text);
    }));
    EXPECT_EQ(warnings.size(), has_url ? 0u : 1u);
  }
}

}  // namespace
}  // namespace tidemark::serve::doctor_test
