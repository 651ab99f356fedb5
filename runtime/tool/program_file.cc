// SPDX-License-Identifier: MIT
// See program_file.h.
#include "runtime/tool/program_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "compiler/ir/fill.h"
#include "compiler/ir/serialize.h"
#include "compiler/ops/scalar_eval.h"
#include "runtime/api/access.h"
#include "runtime/device/cpu/allocator.h"
#include "runtime/tool/case_program.h"
#include "tenon/io.h"

namespace tenon::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxText = std::size_t{256} << 20;

absl::Status with_file(const absl::Status& status, const std::string& path) {
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

/// The span of memory that a strided input covers, in elements: lowest and highest position.
std::pair<std::int64_t, std::int64_t> extent_of(const TensorType& type, const InputLayout& layout) {
  if (layout.strides.empty()) return {0, numel(type.shape) - 1};
  std::int64_t lo = 0, hi = 0;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    const std::int64_t reach = (type.shape[i] - 1) * layout.strides[i];
    (reach < 0 ? lo : hi) += reach;
  }
  return {lo, hi};
}

/// Element `i` in row-major order of the initialiser, as bits.
std::uint64_t element(const Initialiser& from, DType dtype, std::int64_t i) {
  if (from.kind == Initialiser::kLiteral) return from.elements[static_cast<std::size_t>(i)];
  if (from.kind == Initialiser::kNone) return 0;
  const float value = fill_value(static_cast<std::uint64_t>(i), from.seed, from.lo, from.hi);
  const std::uint64_t bits = bits_of(DType::kFloat32, static_cast<double>(value));
  return dtype == DType::kFloat32 ? bits : eval_scalar(Op::k_cast, dtype, DType::kFloat32, &bits);
}

absl::Status fill_input(const Node& node, const InputLayout& layout, const Initialiser& from, LoadedProgram& out) {
  const auto [lo, hi] = extent_of(node.type, layout);
  const auto size = static_cast<std::int64_t>(size_of(node.type.dtype));
  device::StorageRef block = device::allocate(static_cast<std::size_t>(std::max<std::int64_t>(hi - lo + 1, 0) * size));
  if (!block) return absl::ResourceExhaustedError(absl::StrCat("no memory for input ", to_string(node.type)));
  auto* origin = static_cast<std::byte*>(block->data) - lo * size;
  const Shape strides = layout.strides.empty() ? row_major_strides(node.type.shape) : layout.strides;
  Shape index(node.type.shape.size(), 0);
  for (std::int64_t i = 0; i < numel(node.type.shape); ++i) {
    std::int64_t position = 0, rest = i;
    for (std::size_t d = index.size(); d-- > 0;) {
      position += rest % node.type.shape[d] * strides[d];
      rest /= node.type.shape[d];
    }
    const std::uint64_t bits = element(from, node.type.dtype, i);
    std::memcpy(origin + position * size, &bits, static_cast<std::size_t>(size));
  }
  out.inputs.push_back(std::move(block));
  out.input_offsets.push_back(-lo * size);
  return absl::OkStatus();
}

absl::Status read_input(const Node& node, const std::string& path, LoadedProgram& out) {
  absl::StatusOr<Tensor> array = read_npy(path);
  if (!array.ok()) return array.status();
  const trace::TraceNode& value = *internal::Access::node(*array);
  if (!(value.type == node.type)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": holds ", to_string(value.type), ", the program wants ", to_string(node.type)));
  }
  out.inputs.push_back(value.storage);
  out.input_offsets.push_back(value.byte_offset);
  return absl::OkStatus();
}

absl::Status bind_inputs(const ProgramText& program, const std::string& path, LoadedProgram& out) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  for (std::size_t i = 0; i < program.graph.inputs.size(); ++i) {
    const Node& node = program.graph.node(program.graph.inputs[i]);
    const Initialiser& from = program.inputs[i];
    const absl::Status status = from.kind == Initialiser::kFile
                                    ? read_input(node, from.file[0] == '/' ? from.file : folder + from.file, out)
                                    : fill_input(node, program.graph.layouts[i], from, out);
    if (!status.ok()) return status;
  }
  for (const Initialiser& scalar : program.scalars) {
    out.scalars.push_back(scalar.kind == Initialiser::kLiteral ? scalar.elements[0] : 0);
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadedProgram> load_tir(const std::string& path) {
  absl::StatusOr<std::string> text = read_text(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<ProgramText> program = parse_program(*text);
  if (!program.ok()) return with_file(program.status(), path);
  if (program->graph.outputs.empty()) return absl::InvalidArgumentError(path + ": the program has no output line");
  LoadedProgram out;
  if (absl::Status status = bind_inputs(*program, path, out); !status.ok()) return status;
  for (NodeId id : program->graph.outputs) {
    out.outputs.push_back(program->graph.node(id).type);
    out.output_names.push_back(absl::StrCat("%", id));
  }
  out.key_bytes = encode_graph(program->graph);
  return out;
}

}  // namespace

absl::StatusOr<Tensor> read_npy(const std::string& path) {
  try {
    return load(path).eval();
  } catch (const Error& error) {
    return absl::InvalidArgumentError(error.message());
  }
}

absl::StatusOr<std::string> read_text(const std::string& path) {
  std::error_code error;
  const fs::file_status kind = fs::status(path, error);
  if (!error && fs::exists(kind) && !fs::is_regular_file(kind) && !fs::is_fifo(kind))
    return absl::InvalidArgumentError(absl::StrCat("'", path, "' is neither a regular file nor a pipe"));
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> piece;
  while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxText)
      return absl::InvalidArgumentError(absl::StrCat("'", path, "' is larger than ", kMaxText, " bytes"));
  }
  if (!file.is_open() || file.bad()) return absl::InvalidArgumentError(absl::StrCat("cannot read '", path, "'"));
  return text;
}

absl::StatusOr<LoadedProgram> load_program(const std::string& prog) {
  const std::size_t hash = prog.rfind('#');
  const bool is_case = hash != std::string::npos && prog.substr(0, hash).ends_with(".json");
  return is_case ? load_case(prog.substr(0, hash), prog.substr(hash + 1)) : load_tir(prog);
}

}  // namespace tenon::tool
