// SPDX-License-Identifier: MIT
// What a compilation decided, as plain data: the records that an Explanation holds.
//
// Nodes are named by number, and written %7: those of the traced program in `trace`, those of the program as fused in
// every other record. Times are in picoseconds, and -1 where nobody asked for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// One node of the graph after a stage.
struct NodeRecord {
  int id = -1;
  std::string op;             ///< "multiply"; of a reduction or scan what it computes, "sum"
  std::string text;           ///< "%3 = sum(%1): float32[2048]"
  std::string type;           ///< "float32[2048]"
  std::vector<int> operands;  ///< nodes of the same stage
  int source = -1;            ///< the traced node that it was made from
  std::int64_t bytes = 0;     ///< of its value, if that were stored
  bool is_leaf = false;       ///< an input, a scalar or a constant
  bool is_output = false;
};

struct StageRecord {
  std::string name;  ///< "trace", "decompose", "rewrite", "lower", "loops"
  int nodes_in = 0, nodes_out = 0;
  std::vector<NodeRecord> nodes;  ///< the graph after "trace", "decompose" and "rewrite"
  std::int64_t time = -1;         ///< of the stage, with the keeping of these records
};

/// A composite op taken apart, or a place where a rewrite rule matched.
struct RewriteRecord {
  std::string stage;         ///< "decompose" or "rewrite"
  std::string rule;          ///< the op that was taken apart, or the rule
  std::string before;        ///< the node of the stage before, in text form
  std::vector<int> after;    ///< nodes of the stage after that it became; none: nothing needs it any more
  std::vector<int> sources;  ///< the traced nodes that took part
};

/// A value of the graph after rewriting: inlined into its readers, or realized, and by which rule.
struct RealizeRecord {
  int node = -1;
  std::string text;  ///< the node in text form
  bool realized = false;
  std::string rule;
  std::vector<int> into;  ///< realized nodes that it is computed in; at most eight are kept
  int reads = 0, ops = 0, users = 0;
  std::int64_t bytes_in = 0, bytes_out = 0;
  std::int64_t inline_cost = 0, store_cost = 0;
};

/// One tested pair of a fusion round. a and b name groups by their members' graph nodes, "%3+%7". The fused pairs, in
/// the order of their records, make the kernels.
struct CandidateRecord {
  int round = 0;  ///< pairs of single values are round 1, pairs of a group that was fused in round n are n + 1
  std::string a, b;
  std::string kind;        ///< "vertical", "horizontal", or "partition": made by exact or beam search
  std::int64_t score = 0;  ///< picoseconds saved, weighted by same_kind: what pairs are ranked by; 0 where not reached
  std::int64_t shared_bytes = 0;
  bool same_kind = false;  ///< both are of one kernel class
  int distance = 0;        ///< loop nodes between the two
  std::string
      verdict;  ///< "fused", "rejected", "unprofitable", "lost" to another pair, "stale": legal when first tested
  std::string reason;  ///< a stable code, with a detail where it has one; of a fused pair none
};

/// How the kernels of one component (values that fusion may join) were found.
struct SearchRecord {
  std::vector<int> nodes;                  ///< realized nodes
  std::string method;                      ///< "greedy" alone, or also "exact" or "beam"
  std::string reason;                      ///< why this one
  std::int64_t evaluations = 0;            ///< groups that exact or beam tried to build
  std::int64_t greedy_cost = 0, cost = 0;  ///< of all kernels, as greedy left them and in the end; 0: not computed
};

struct KernelRecord {
  std::string name, kernel_class;
  std::vector<int> members;  ///< realized nodes
  std::int64_t read_bytes = 0, write_bytes = 0, tasks = 0;
  int phases = 0;
  std::int64_t predicted = -1, measured = -1;
};

/// A value that lives in the arena, from one kernel to another.
struct MemoryRecord {
  int node = -1;
  std::int64_t offset = 0, bytes = 0;
  int first_kernel = 0, last_kernel = 0;
};

/// One ingredient of the name under which the program is cached.
struct KeyRecord {
  std::string name, value;
  std::string hash;  ///< XXH3-128 of the value, 32 hexadecimal digits
};

/// Why two nodes or kernels are, or are not, one kernel.
struct PairAnswer {
  bool fused = false;                        ///< they are in one kernel
  std::string code;                          ///< "FUSED", a reason code of the tested pair, or one of those below
  std::string text;                          ///< the whole answer, for people
  std::optional<CandidateRecord> candidate;  ///< the pair's last test, where it was tested
};
// Codes of answers without a tested pair: NO_SUCH_NODE (a name that is neither a node nor a kernel), NO_KERNEL (an
// input or a value without elements: nothing computes it), NO_SHARED_DATA (pairs that share no buffer are not tested),
// WINDOW (both read one buffer, too many other readers lie between).

}  // namespace tenon
