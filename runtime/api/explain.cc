// SPDX-License-Identifier: MIT
// See include/tenon/explain.h and stats.h.
#include "tenon/explain.h"

#include <ostream>

#include "runtime/api/access.h"
#include "runtime/session/compiler_library.h"
#include "runtime/session/explanation.h"
#include "runtime/session/session.h"
#include "tenon/stats.h"

namespace tenon {

struct Explanation::Data {
  std::string text, json;
  int kernels = 0;
};

const std::string& Explanation::text() const { return data_->text; }
const std::string& Explanation::json() const { return data_->json; }
int Explanation::num_kernels() const { return data_->kernels; }

Explanation explain(const std::vector<Tensor>& tensors, const std::source_location& call_site) {
  std::vector<trace::TraceNode*> nodes;
  for (const Tensor& tensor : tensors) {
    if (tensor.is_empty_handle()) throw Error(ErrorCode::kInvalidArgument, "explain", "an empty handle", call_site);
    nodes.push_back(internal::Access::node(tensor));
  }
  const session::CapturedProgram captured = session::capture(nodes);
  if (captured.key_bytes.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "explain", "the tensor is evaluated already; explain it before",
                call_site);
  }
  absl::StatusOr<session::ProgramExplanation> e = session::explain_program(captured.key_bytes);
  if (!e.ok()) throw Error(ErrorCode::kInternal, "explain", std::string(e.status().message()), call_site);
  auto data = std::make_shared<Explanation::Data>();
  data->text = report_text(e->log, e->identity);
  data->json = report_json(e->log, e->identity);
  data->kernels = static_cast<int>(e->log.kernels.size());
  return Explanation(std::move(data));
}

Explanation explain(const TensorArg& tensor) { return explain({tensor.tensor()}, tensor.call_site()); }

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
