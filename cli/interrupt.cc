#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "cli/exit_code.h"

namespace tidemark::cli {
namespace {

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void Handle(int) {
  if (stop_requested.exchange(true)) _exit(kInterrupted);
}

void Install(int signal, void (*handler)(int)) {
  struct sigaction before {};
  if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

const std::atomic<bool>& StopOnInterrupt() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) Install(signal, Handle);
  return stop_requested;
}

// A handler, unlike SIG_IGN, is reset by exec().
void SurviveClosedPipes() {
  Install(SIGPIPE, [](int) {});
}

}  // namespace tidemark::cli
