// SPDX-License-Identifier: MIT
// LLVM's fatal errors call a handler of the whole process and then exit. Ours never returns on a thread made here; on
// any other thread (an application that uses the same LLVM) it returns, and LLVM ends the process as it would have.
#include "compiler/codegen/guarded_call.h"

#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/Support/ErrorHandling.h"

namespace tenon::codegen {
namespace {

// What the work came to, and whether its thread is held in LLVM's handler for good instead of ending.
struct Outcome {
  absl::Status status;
  bool is_held;
};

// Shared by the caller and the thread, since either may be the last to need it.
class Call {
 public:
  explicit Call(std::function<absl::Status()> work) : work_(std::move(work)) {}

  void run() { finish({work_(), false}); }

  void finish(Outcome outcome) {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    done_.notify_one();
  }

  /// Allocates nothing.
  void give_up_for_memory() { finish({std::move(no_memory_), true}); }

  Outcome wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return outcome_.has_value(); });
    return *std::move(outcome_);
  }

 private:
  std::function<absl::Status()> work_;
  absl::Status no_memory_ = absl::UnavailableError("no memory for the compiler");
  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<Outcome> outcome_;
};

thread_local Call* current_call = nullptr;

void on_fatal_error(void*, const char* reason, bool) {
  if (current_call == nullptr) {
    std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
    return;
  }
  current_call->finish({absl::InternalError(absl::StrCat("LLVM gave up: ", reason)), true});
  while (true) ::pause();
}

std::new_handler other_new_handler = nullptr;

// Much of LLVM must not throw, bad_alloc included.
void hold_if_compiling() {
  if (current_call == nullptr) return;
  current_call->give_up_for_memory();
  while (true) ::pause();
}

// As if it were not there on any thread but ours.
void on_no_memory() {
  hold_if_compiling();
  if (other_new_handler == nullptr) throw std::bad_alloc();
  other_new_handler();
}

void install_handlers() {
  llvm::install_fatal_error_handler(on_fatal_error);
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { hold_if_compiling(); });
  other_new_handler = std::set_new_handler(on_no_memory);
}

void* run_call(void* shared) {
  const std::unique_ptr<std::shared_ptr<Call>> call(static_cast<std::shared_ptr<Call>*>(shared));
  current_call = call->get();
  (*call)->run();
  current_call = nullptr;
  return nullptr;
}

// Deep expressions recurse deeply in the back end, and the caller's own stack may be small.
constexpr std::size_t kStackBytes = std::size_t{64} << 20;

bool start_thread(std::shared_ptr<Call>* call, pthread_t* thread) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const bool started = pthread_create(thread, &attributes, run_call, call) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

absl::Status guarded_call(std::function<absl::Status()> work) {
  static std::once_flag once;
  std::call_once(once, install_handlers);
  const auto call = std::make_shared<Call>(std::move(work));
  auto handle = std::make_unique<std::shared_ptr<Call>>(call);
  pthread_t thread;
  if (!start_thread(handle.get(), &thread)) return absl::UnavailableError("no thread for the compiler");
  handle.release();
  Outcome outcome = call->wait();
  // A thread that ends is waited for, so that nothing of a compile still runs when its caller goes on or exits.
  outcome.is_held ? pthread_detach(thread) : pthread_join(thread, nullptr);
  return std::move(outcome.status);
}

}  // namespace tenon::codegen
