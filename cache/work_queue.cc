// SPDX-License-Identifier: MIT
//
// The state of a queue belongs to one process. State that a fork has made stale is abandoned, never destroyed: its
// lock may be held and its thread does not exist.
#include "cache/work_queue.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "cache/fork_generation.h"

namespace tenon::cache {

struct WorkQueue::State {
  const uint64_t generation = fork_generation();
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool is_running = false;
  bool is_stopping = false;
  bool is_abandoned = false;  // by a queue that has ended; the thread deletes the state
  std::thread thread;

  bool ensure_thread();
  std::thread start_thread();
  void run();
};

namespace {

// The job and what it owns end here, outside the lock.
void run_job(std::function<void()> job) {
  try {
    job();
  } catch (...) {
    return;
  }
}

}  // namespace

// Called with the lock held. Signals are left to the threads of the program.
bool WorkQueue::State::ensure_thread() {
  if (thread.joinable()) return true;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread = start_thread();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread.joinable();
}

std::thread WorkQueue::State::start_thread() {
  try {
    return std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return {};
  }
}

void WorkQueue::State::run() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return is_stopping || !jobs.empty(); });
    if (is_stopping) break;
    std::function<void()> job = std::move(jobs.front());
    jobs.pop_front();
    is_running = true;
    lock.unlock();
    run_job(std::move(job));
    lock.lock();
    is_running = false;
    changed.notify_all();
  }
  const bool is_mine = is_abandoned;
  lock.unlock();
  if (is_mine) delete this;
}

WorkQueue::~WorkQueue() {
  State* state = state_.load();
  if (state == nullptr || state->generation != fork_generation()) return;
  std::unique_lock lock(state->mutex);
  state->is_stopping = true;
  state->jobs.clear();
  state->changed.notify_all();
  if (state->is_running) {
    state->is_abandoned = true;
    state->thread.detach();
    return;
  }
  lock.unlock();
  if (state->thread.joinable()) state->thread.join();
  delete state;
}

WorkQueue::State& WorkQueue::state() {
  State* current = state_.load(std::memory_order_acquire);
  if (current != nullptr && current->generation == fork_generation()) return *current;
  auto fresh = std::make_unique<State>();
  if (state_.compare_exchange_strong(current, fresh.get())) return *fresh.release();
  return *current;
}

bool WorkQueue::submit(std::function<void()> job) {
  State& current = state();
  const std::lock_guard lock(current.mutex);
  if (current.jobs.size() >= capacity_ || !current.ensure_thread()) return false;
  current.jobs.push_back(std::move(job));
  current.changed.notify_all();
  return true;
}

bool WorkQueue::is_behind() {
  State& current = state();
  const std::lock_guard lock(current.mutex);
  return current.jobs.size() + (current.is_running ? 1 : 0) > 1;
}

bool WorkQueue::drain(std::chrono::milliseconds limit) {
  State& current = state();
  std::unique_lock lock(current.mutex);
  return current.changed.wait_for(lock, limit, [&] { return current.jobs.empty() && !current.is_running; });
}

}  // namespace tenon::cache
