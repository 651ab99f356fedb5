// SPDX-License-Identifier: MIT
// The canonical bytes of a graph. Persisted; any change raises kGraphFormat.
//
//   header   u32 magic "TNGR", u32 kGraphFormat, u32 nodes, u32 outputs
//   node     u16 op, u8 semantics of the op, u8 dtype (leaves; else 0), then
//     input      u8 aligned, u8 strides given, u16 rank, i64 extents[rank], i64 strides[rank] if given
//     scalar     nothing
//     constant   u64 bits
//     others     u16 operands, u16 attribute words, i32 operands[], i64 words[]
//   outputs  i32[]
// An op with 65,535 operands or attribute words or more has 65,535 in both counts and the true ones behind, as u32.
#include <cstring>

#include "compiler/ir/byte_stream.h"
#include "compiler/ir/serialize.h"
#include "compiler/ir/text.h"

namespace tenon {
namespace {

constexpr std::uint32_t kMagic = 0x52474E54;  // "TNGR"
constexpr std::size_t kHeaderSize = 16;
constexpr std::size_t kLeastNodeSize = 4;
constexpr std::uint16_t kLongCount = 0xffff;

template <class T>
std::uint8_t* store(std::uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

template <class T>
std::uint8_t* store_all(std::uint8_t* at, absl::Span<const T> values) {
  if (!values.empty()) std::memcpy(at, values.data(), values.size() * sizeof(T));
  return at + values.size() * sizeof(T);
}

std::uint8_t* store_op(std::uint8_t* at, Op op, DType dtype) {
  at = store(at, static_cast<std::uint16_t>(op));
  at = store(at, op_semantics(op));
  return store(at, static_cast<std::uint8_t>(dtype));
}

std::uint16_t short_count(std::size_t count) {
  return count < kLongCount ? static_cast<std::uint16_t>(count) : kLongCount;
}

}  // namespace

std::uint8_t op_semantics(Op op) { return op == Op::k_random_uniform ? 2 : 1; }

std::uint8_t* GraphEncoder::grow(std::size_t size) {
  if (used_ + size > bytes_.size()) bytes_.resize(2 * (used_ + size));
  std::uint8_t* const at = bytes_.data() + used_;
  used_ += size;
  return at;
}

void GraphEncoder::clear() {
  used_ = 0;
  nodes_ = 0;
  outputs_.clear();
  grow(kHeaderSize);
}

void GraphEncoder::input(const TensorType& type, const InputLayout& layout) {
  const std::size_t words = type.shape.size() + layout.strides.size();
  std::uint8_t* at = store_op(grow(kLeastNodeSize + 4 + 8 * words), Op::k_input, type.dtype);
  at = store(at, static_cast<std::uint8_t>(layout.aligned64));
  at = store(at, static_cast<std::uint8_t>(!layout.strides.empty()));
  at = store(at, static_cast<std::uint16_t>(type.shape.size()));
  at = store_all<std::int64_t>(at, type.shape);
  store_all<std::int64_t>(at, layout.strides);
  ++nodes_;
}

void GraphEncoder::scalar(DType dtype) {
  store_op(grow(kLeastNodeSize), Op::k_scalar, dtype);
  ++nodes_;
}

void GraphEncoder::constant(DType dtype, std::uint64_t bits) {
  store(store_op(grow(kLeastNodeSize + 8), Op::k_constant, dtype), bits);
  ++nodes_;
}

void GraphEncoder::node(Op op, absl::Span<const NodeId> operands, const Attrs& attrs) {
  const auto words = attrs.words();
  const bool is_long = operands.size() >= kLongCount || words.size() >= kLongCount;
  const std::size_t size = kLeastNodeSize + 4 + 4 * operands.size() + 8 * words.size();
  std::uint8_t* at = store_op(grow(size + (is_long ? 8 : 0)), op, DType::kBool);
  at = store(at, is_long ? kLongCount : short_count(operands.size()));
  at = store(at, is_long ? kLongCount : short_count(words.size()));
  if (is_long) {
    at = store(at, static_cast<std::uint32_t>(operands.size()));
    at = store(at, static_cast<std::uint32_t>(words.size()));
  }
  at = store_all(at, operands);
  store_all(at, words);
  ++nodes_;
}

absl::Span<const std::byte> GraphEncoder::finish() {
  store_all<NodeId>(grow(sizeof(NodeId) * outputs_.size()), outputs_);
  std::uint8_t* at = bytes_.data();
  at = store(at, kMagic);
  at = store(at, kGraphFormat);
  at = store(at, nodes_);
  store(at, static_cast<std::uint32_t>(outputs_.size()));
  return absl::MakeConstSpan(reinterpret_cast<const std::byte*>(bytes_.data()), used_);
}

std::vector<std::byte> encode_graph(const Graph& graph) {
  GraphEncoder encoder;
  for (const Node& node : graph.nodes) {
    if (node.op == Op::k_input) {
      encoder.input(node.type, graph.layouts[static_cast<std::size_t>(node.attrs.value(0))]);
    } else if (node.op == Op::k_scalar) {
      encoder.scalar(node.type.dtype);
    } else if (node.op == Op::k_constant) {
      encoder.constant(node.type.dtype, static_cast<std::uint64_t>(node.attrs.value(0)));
    } else {
      encoder.node(node.op, node.operands, node.attrs);
    }
  }
  for (const NodeId id : graph.outputs) encoder.output(id);
  const auto bytes = encoder.finish();
  return {bytes.begin(), bytes.end()};
}

namespace {

class GraphDecoder {
 public:
  explicit GraphDecoder(absl::Span<const std::byte> bytes) : reader_(bytes) {}

  absl::StatusOr<Graph> decode() {
    if (reader_.get<std::uint32_t>() != kMagic) return malformed("they do not start as a graph does");
    if (reader_.get<std::uint32_t>() != kGraphFormat) return malformed("they are of another format");
    const std::size_t nodes = reader_.get_count(kLeastNodeSize);
    const std::size_t outputs = reader_.get<std::uint32_t>();
    for (std::size_t i = 0; i < nodes && reader_.ok(); ++i) {
      if (auto status = decode_node(); !status.ok()) return status;
    }
    for (std::size_t i = 0; i < outputs && reader_.ok(); ++i) graph_.outputs.push_back(read_id());
    if (!reader_.at_end()) return malformed("they end too early or too late");
    return std::move(graph_);
  }

 private:
  static absl::Status malformed(std::string_view why) {
    return absl::InvalidArgumentError(cat("the bytes of a graph are malformed: ", why));
  }

  NodeId read_id() {
    const auto id = reader_.get<NodeId>();
    if (id >= 0 && static_cast<std::size_t>(id) < graph_.size()) return id;
    reader_.fail();
    return 0;
  }

  absl::Status decode_node() {
    Node node;
    node.origin = static_cast<NodeId>(graph_.size());
    const auto number = reader_.get<std::uint16_t>();
    if (number >= kNumOps) return malformed(cat("there is no op ", number));
    node.op = static_cast<Op>(number);
    if (reader_.get<std::uint8_t>() != op_semantics(node.op)) return malformed("an op has another meaning");
    node.type.dtype = reader_.get_enum<DType>(kNumDTypes);
    absl::Status status = row_of(node.op).kind == OpKind::leaf ? decode_leaf(&node) : decode_call(&node);
    if (!reader_.ok()) return malformed("they end too early");
    if (status.ok()) graph_.nodes.push_back(std::move(node));
    return status;
  }

  absl::Status decode_leaf(Node* node) {
    if (node->op == Op::k_input) return decode_input(node);
    if (node->op == Op::k_constant) {
      const auto bits = reader_.get<std::uint64_t>();
      if (!is_element(node->type.dtype, bits)) return malformed("a constant is wider than its dtype");
      node->attrs.append(static_cast<std::int64_t>(bits));
    } else {
      add_leaf(node, &graph_.scalars);
    }
    return absl::OkStatus();
  }

  absl::Status decode_input(Node* node) {
    InputLayout layout;
    layout.aligned64 = reader_.get_bool();
    const bool is_strided = reader_.get_bool();
    const std::size_t rank = reader_.get<std::uint16_t>();
    if (rank > kMaxRank || (is_strided && rank == 0)) return malformed("an input's shape is not possible");
    node->type.shape.resize(rank);
    reader_.get_raw(node->type.shape.data(), 8 * rank);
    layout.strides.resize(is_strided ? rank : 0);
    reader_.get_raw(layout.strides.data(), 8 * layout.strides.size());
    if (!reader_.ok() || !is_possible_shape(node->type.shape)) return malformed("an input's shape is not possible");
    if (!are_possible_strides(node->type.shape, layout.strides))
      return malformed("an input's strides are not possible");
    graph_.layouts.push_back(std::move(layout));
    add_leaf(node, &graph_.inputs);
    return absl::OkStatus();
  }

  void add_leaf(Node* node, std::vector<NodeId>* leaves) {
    node->attrs.append(static_cast<std::int64_t>(leaves->size()));
    leaves->push_back(static_cast<NodeId>(graph_.size()));
  }

  absl::Status decode_call(Node* node) {
    if (node->type.dtype != DType::kBool) return malformed("an op has a dtype of its own");
    std::size_t operands = reader_.get<std::uint16_t>(), words = reader_.get<std::uint16_t>();
    if ((operands == kLongCount) != (words == kLongCount)) return malformed("a count is not possible");
    if (operands == kLongCount) {
      operands = reader_.get_count(sizeof(NodeId));
      words = reader_.get_count(sizeof(std::int64_t));
      if (operands < kLongCount && words < kLongCount) return malformed("a count is not in its short form");
    }
    for (std::size_t i = 0; i < operands && reader_.ok(); ++i) node->operands.push_back(read_id());
    std::vector<std::int64_t> list(reader_.ok() ? words : 0);
    reader_.get_raw(list.data(), 8 * list.size());
    if (!reader_.ok()) return malformed("they end too early");
    if (!Attrs::parse(list, num_attributes(node->op), &node->attrs)) return malformed("an attribute is not a list");
    return infer_type(node);
  }

  absl::Status infer_type(Node* node) const {
    absl::InlinedVector<const TensorType*, 4> types;
    for (const NodeId id : node->operands) types.push_back(&graph_.node(id).type);
    auto type = infer(node->op, types, node->attrs);
    if (!type.ok()) return malformed(std::string(type.status().message()));
    node->type = *std::move(type);
    return absl::OkStatus();
  }

  ByteReader reader_;
  Graph graph_;
};

}  // namespace

absl::StatusOr<Graph> decode_graph(absl::Span<const std::byte> bytes) { return GraphDecoder(bytes).decode(); }

}  // namespace tenon
