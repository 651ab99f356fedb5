// SPDX-License-Identifier: MIT
// See include/tenon/explain.h and stats.h.
#include "tenon/explain.h"

#include <algorithm>
#include <iterator>
#include <ostream>

#include "compiler/explain/pair_query.h"
#include "runtime/api/access.h"
#include "runtime/device/cpu/parallel.h"
#include "runtime/session/compiler_library.h"
#include "runtime/session/explanation.h"
#include "runtime/session/measure.h"
#include "runtime/session/session.h"
#include "tenon/stats.h"

namespace tenon {

struct Explanation::Data {
  session::ProgramExplanation program;
  const DecisionLog& log() const { return program.log; }
};

std::string Explanation::text() const { return report_text(data_->log(), data_->program.identity); }
std::string Explanation::json() const { return report_json(data_->log(), data_->program.identity); }
std::string Explanation::dot() const { return report_dot(data_->log()); }
std::string Explanation::html() const { return report_html(data_->log(), data_->program.identity); }

const std::vector<StageRecord>& Explanation::stages() const { return data_->log().stages; }
const std::vector<RewriteRecord>& Explanation::rewrites() const { return data_->log().rewrites; }
const std::vector<RealizeRecord>& Explanation::realize_table() const { return data_->log().realize; }
const std::vector<SearchRecord>& Explanation::searches() const { return data_->log().searches; }
const std::vector<KernelRecord>& Explanation::kernels() const { return data_->log().kernels; }
const std::vector<MemoryRecord>& Explanation::memory() const { return data_->log().memory; }
std::int64_t Explanation::peak_bytes() const { return data_->log().arena_bytes; }
const std::string& Explanation::key() const { return data_->program.identity.key; }
const std::vector<KeyRecord>& Explanation::key_ingredients() const { return data_->program.identity.fields; }

int Explanation::num_rounds() const {
  int last = 0;
  for (const CandidateRecord& c : data_->log().candidates) last = std::max(last, c.round);
  return last;
}

std::vector<CandidateRecord> Explanation::candidates(int round) const {
  std::vector<CandidateRecord> out;
  std::ranges::copy_if(data_->log().candidates, std::back_inserter(out),
                       [&](const CandidateRecord& c) { return c.round == round; });
  return out;
}

std::optional<std::int64_t> Explanation::score(std::string_view a, std::string_view b) const {
  return score_of(data_->log(), a, b);
}

PairAnswer Explanation::why_not(std::string_view a, std::string_view b) const {
  return tenon::why_not(data_->log(), a, b);
}

std::vector<std::string> Explanation::key_difference(const Explanation& other) const {
  return session::key_difference(data_->program.identity, other.data_->program.identity);
}

namespace {

/// Inside errors as what they are for the caller of `explain`.
[[noreturn]] void raise(const absl::Status& status, const std::source_location& call_site) {
  const ErrorCode code = absl::IsResourceExhausted(status)    ? ErrorCode::kOutOfMemory
                         : absl::IsFailedPrecondition(status) ? ErrorCode::kInvalidArgument
                                                              : ErrorCode::kInternal;
  throw Error(code, "explain", std::string(status.message()), call_site);
}

absl::Status measure(const session::CapturedProgram& captured, std::vector<KernelRecord>& kernels) {
  std::vector<const void*> inputs;
  for (std::size_t i = 0; i < captured.inputs.size(); ++i) {
    inputs.push_back(static_cast<const std::byte*>(captured.inputs[i]->data) + captured.input_offsets[i]);
  }
  return session::measure_kernels(captured.key_bytes, inputs, captured.scalars, kernels).status();
}

/// The bytes of the program that has computed the last of the nodes, which are ready.
const std::vector<std::byte>& computed_by(const std::vector<trace::TraceNode*>& nodes,
                                          const std::source_location& call_site) {
  const char* wrong = nodes.empty()                ? "takes at least one tensor"
                      : !nodes.back()->computed_by ? "the tensor's values were given: no program has computed them"
                                                   : nullptr;
  if (wrong) throw Error(ErrorCode::kInvalidArgument, "explain", wrong, call_site);
  return *nodes.back()->computed_by;
}

}  // namespace

Explanation explain(const std::vector<Tensor>& tensors, Timing timing, const std::source_location& call_site) {
  const device::DefaultFloatMode mode;
  std::vector<trace::TraceNode*> nodes;
  for (const Tensor& tensor : tensors) {
    if (tensor.is_empty_handle()) throw Error(ErrorCode::kInvalidArgument, "explain", "an empty handle", call_site);
    nodes.push_back(internal::Access::node(tensor));
  }
  const session::CapturedProgram captured = session::capture(nodes);
  const bool is_evaluated = captured.key_bytes.empty();
  if (is_evaluated && timing == Timing::kMeasured) {
    throw Error(ErrorCode::kInvalidArgument, "explain",
                "the tensor is evaluated and what it was computed from is gone; measure before", call_site);
  }
  absl::StatusOr<session::ProgramExplanation> e =
      session::explain_program(is_evaluated ? computed_by(nodes, call_site) : captured.key_bytes);
  if (!e.ok()) raise(e.status(), call_site);
  if (timing == Timing::kMeasured) {
    if (absl::Status status = measure(captured, e->log.kernels); !status.ok()) raise(status, call_site);
  }
  auto data = std::make_shared<Explanation::Data>();
  data->program = *std::move(e);
  return Explanation(std::move(data));
}

Explanation explain(const TensorArg& tensor, Timing timing) {
  return explain({tensor.tensor()}, timing, tensor.call_site());
}

std::ostream& operator<<(std::ostream& out, const Explanation& explanation) { return out << explanation.text(); }

Statistics statistics() {
  const session::Counters c = session::counters();
  Statistics s;
  s.compiled = c.compiled;
  s.memory_hits = c.memory_hits;
  s.disk_hits = c.disk_hits;
  s.kernels = c.kernels;
  s.compiler_opened = session::is_compiler_open();
  s.key_ms = c.key_us / 1e3;
  s.lookup_ms = c.lookup_us / 1e3;
  s.compile_ms = c.compile_us / 1e3;
  s.load_ms = c.load_us / 1e3;
  s.run_ms = c.run_us / 1e3;
  return s;
}

void flush_cache() { session::store().drain(); }

}  // namespace tenon
