// SPDX-License-Identifier: MIT
// What things cost on a machine: the constants behind every decision that weighs memory against computation.
//
// Integers, so that decisions are the same wherever they are made. One table a machine, handed to the compiler with its
// options and part of the key under which programs are cached. The values below are the built-in table: measured on two
// cores of a server with AVX-512 (bench/RESULTS.md: 58.6 GB/s by two cores), launch and op weights from the design.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tenon {

struct CostTable {
  std::int64_t kernel_ps = 300'000;         ///< to start a kernel
  std::int64_t threads_ps = 3'000'000;      ///< to hand a kernel's tasks to threads, beside that
  std::int64_t cores = 2;                   ///< threads that a kernel may get
  std::int64_t thread_work = 32'768;        ///< weighted ops that are worth a thread
  std::int64_t core_ps_per_kib = 35'000;    ///< memory traffic of one core
  std::int64_t memory_ps_per_kib = 17'500;  ///< memory traffic of all of them: never faster
  std::int64_t near_factor = 4;             ///< how much faster bytes are that the kernel touched before
  std::int64_t nearest_factor = 10;         ///< the same for a buffer of at most nearest_bytes
  std::int64_t nearest_bytes = 32'768;
  std::int64_t op_ps = 15;  ///< an op of weight 1 on one element

  friend bool operator==(const CostTable&, const CostTable&) = default;
};

/// A field's name and place, in the order of the text form.
struct CostField {
  const char* name;
  std::int64_t CostTable::* value;
};

inline constexpr std::array<CostField, 10> kCostFields = {{
    {"kernel_ps", &CostTable::kernel_ps},
    {"threads_ps", &CostTable::threads_ps},
    {"cores", &CostTable::cores},
    {"thread_work", &CostTable::thread_work},
    {"core_ps_per_kib", &CostTable::core_ps_per_kib},
    {"memory_ps_per_kib", &CostTable::memory_ps_per_kib},
    {"near_factor", &CostTable::near_factor},
    {"nearest_factor", &CostTable::nearest_factor},
    {"nearest_bytes", &CostTable::nearest_bytes},
    {"op_ps", &CostTable::op_ps},
}};

/// "kernel_ps 300000, threads_ps 3000000, ...": every field, so that equal texts are equal tables.
inline std::string to_string(const CostTable& table) {
  std::string out;
  for (const CostField& field : kCostFields)
    absl::StrAppend(&out, out.empty() ? "" : ", ", field.name, " ", table.*field.value);
  return out;
}

}  // namespace tenon
