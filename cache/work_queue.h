// SPDX-License-Identifier: MIT
//
// A bounded queue of jobs run in order by one background thread, which is started by the first job. Nothing waits
// for it without a limit: a full queue refuses, draining has a deadline, and a job that hangs is left behind. After
// fork the child has an empty queue and starts its own thread; the parent's jobs stay with the parent.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>

namespace tenon::cache {

class WorkQueue {
 public:
  explicit WorkQueue(size_t capacity) : capacity_(capacity) {}
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// Drops the jobs that have not begun. Ends the thread; one that is inside a job is left to end by itself, so a job
  /// owns all that it touches.
  ~WorkQueue();

  /// Queues `job`; false when the queue is full or there can be no thread. What a job throws is swallowed. Any thread.
  bool submit(std::function<void()> job);

  /// Waits until every job queued by this process has run, at most `limit`; true when they have. Any thread.
  bool drain(std::chrono::milliseconds limit);

  /// Whether a job waits behind another. Any thread.
  bool is_behind();

 private:
  struct State;

  State& state();

  const size_t capacity_;
  std::atomic<State*> state_{nullptr};
};

}  // namespace tenon::cache
