// The background thread's half of a task agent: turns what the task measured into events.
#pragma once

namespace tidemark::agent {

// Belongs to the background thread.
class Reporter {
 public:
  virtual ~Reporter() = default;
  // Takes over what the task's thread has measured, so that its buffer does not fill. Often.
  virtual void Collect() {}
  // The task's input is complete: from now on profiles.
  virtual void BeginProfiles() {}
  // Adds to the outbox what is new, at every flush.
  virtual void Report() = 0;
  // The same for the last time.
  virtual void ReportLast() { Report(); }
};

}  // namespace tidemark::agent
