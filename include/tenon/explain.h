// SPDX-License-Identifier: MIT
// Why a program is compiled as it is: every decision, as data, text, JSON, DOT or a page for a browser.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/decisions.h"
#include "tenon/export.h"
#include "tenon/tensor.h"

namespace tenon {

/// The decisions of one compilation. A value; cheap to copy. Where a node or a kernel is asked for by name, that is the
/// node's number after rewriting ("%7") or the kernel's position or symbol ("k0", "tenon_k0_sum_multiply").
class TENON_API Explanation {
 public:
  /// Tables: stages; rewrites; the realize table (each value inlined into which others, or realized by which rule, with
  /// costs); every pair of kernels that was tested for fusion, with score and verdict; kernels; memory; the cache key.
  std::string text() const;
  /// The same as JSON, with the keys stages, rewrites, realize, rounds, searches, kernels, memory, key.
  std::string json() const;
  /// The graph, kernels as clusters, for Graphviz.
  std::string dot() const;
  /// The same as one HTML page that needs no other file and no network.
  std::string html() const;

  /// What each stage made of the graph, in order.
  const std::vector<StageRecord>& stages() const;
  /// Composite ops taken apart, and matches of rewrite rules.
  const std::vector<RewriteRecord>& rewrites() const;
  /// Of every value but inputs and constants: inlined or realized, and why.
  const std::vector<RealizeRecord>& realize_table() const;

  /// Rounds of fusion, counted from 1; 0 when there was no pair to test.
  int num_rounds() const;
  /// Every pair that the round tested, legal or not; empty if there is no such round.
  std::vector<CandidateRecord> candidates(int round) const;
  /// How the kernels of each component (values that fusion may join) were found: best pair first alone, or also by an
  /// exact or a beam search over partitions.
  const std::vector<SearchRecord>& searches() const;
  /// The pair's score when it was last tested, in picoseconds; nothing if it never was.
  std::optional<std::int64_t> score(std::string_view a, std::string_view b) const;
  /// Why the two are not one kernel, or that they are.
  PairAnswer why_not(std::string_view a, std::string_view b) const;

  /// The kernels, in the order in which they run.
  const std::vector<KernelRecord>& kernels() const;
  int num_kernels() const { return static_cast<int>(kernels().size()); }

  /// Values between kernels, with their place in the arena and the kernels from first use to last.
  const std::vector<MemoryRecord>& memory() const;
  /// Bytes of the arena.
  std::int64_t peak_bytes() const;

  /// XXH3-128 of the canonical graph, 32 hexadecimal digits.
  const std::string& key() const;
  /// All that the program's name in the cache depends on.
  const std::vector<KeyRecord>& key_ingredients() const;
  /// Names of the ingredients that differ from those of another program: why one is no hit for the other.
  std::vector<std::string> key_difference(const Explanation& other) const;

  struct Data;
  explicit Explanation(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

 private:
  std::shared_ptr<const Data> data_;
};

/// Whether an explanation has only predicted times of its kernels, or measured ones beside them.
enum class Timing : std::uint8_t { kPredicted, kMeasured };

/// Explains the program that would compute `tensors` together. If all are evaluated: the program that has computed
/// them, or the last of them where each was asked for on its own; throws Error, kInvalidArgument, if its values were
/// given. Compiles no machine code and computes nothing, unless it is to measure: then each kernel is compiled and run
/// some times on the tensors' inputs, in order, and its record holds the median. The tensors stay unevaluated; of
/// evaluated ones, whose inputs are gone, nothing is measured (throws).
TENON_API Explanation explain(const std::vector<Tensor>& tensors, Timing timing = Timing::kPredicted,
                              const std::source_location& call_site = std::source_location::current());
TENON_API Explanation explain(const TensorArg& tensor, Timing timing = Timing::kPredicted);

TENON_API std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

}  // namespace tenon
