// SPDX-License-Identifier: MIT
// Layout of printed tensors: nested brackets, lines of at most 75 columns, and in large tensors the first and last
// three of each axis with "..." between.
#include <ostream>
#include <string>
#include <vector>

#include "compiler/ir/tensor_type.h"
#include "runtime/api/access.h"
#include "runtime/api/print_number.h"
#include "runtime/device/cpu/parallel.h"

namespace tenon {
namespace {

constexpr std::int64_t kMaxShown = 1000;
constexpr std::int64_t kEdge = 3;
constexpr std::size_t kLineWidth = 75;

/// Walks a row-major tensor twice in the same order: once to collect the shown elements, once to lay them out.
class Printer {
 public:
  Printer(const TensorType& type, const std::byte* data)
      : type_(type), strides_(row_major_strides(type.shape)), is_cut_(numel(type.shape) > kMaxShown) {
    collect(0, data);
    words_ = api::format_elements(type.dtype, shown_);
  }

  std::string text() { return block(0, " "); }

 private:
  std::size_t rank() const { return type_.shape.size(); }
  bool is_cut(std::size_t axis) const { return is_cut_ && type_.shape[axis] > 2 * kEdge; }

  /// Indices along an axis that are shown; -1 stands for "...".
  std::vector<std::int64_t> shown_along(std::size_t axis) const {
    std::vector<std::int64_t> indices;
    const std::int64_t extent = type_.shape[axis];
    for (std::int64_t i = 0; i < extent; ++i) {
      if (is_cut(axis) && i == kEdge) {
        indices.push_back(-1);
        i = extent - kEdge;
      }
      indices.push_back(i);
    }
    return indices;
  }

  void collect(std::size_t axis, const std::byte* at) {
    if (axis == rank()) {
      shown_.push_back(at);
      return;
    }
    const auto width = static_cast<std::int64_t>(size_of(type_.dtype));
    for (const std::int64_t i : shown_along(axis)) {
      if (i >= 0) collect(axis + 1, at + i * strides_[axis] * width);
    }
  }

  std::string block(std::size_t axis, const std::string& indent) {
    const std::string inside = axis + 1 == rank() ? row(axis, indent) : rows(axis, indent);
    return "[" + inside.substr(indent.size()) + "]";
  }

  std::string row(std::size_t axis, const std::string& indent) {
    // Room for the closing brackets of all axes.
    const std::size_t width = kLineWidth - rank();
    std::string done, line = indent;
    for (const std::int64_t i : shown_along(axis)) {
      const std::string word = i < 0 ? "..." : words_[next_++];
      if (line.size() + word.size() > width && line.size() > indent.size()) {
        done += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        line = indent;
      }
      line += word + " ";
    }
    line.pop_back();
    return done + line;
  }

  std::string rows(std::size_t axis, const std::string& indent) {
    const std::string separator(rank() - axis - 1, '\n');
    std::string text;
    for (const std::int64_t i : shown_along(axis)) {
      if (!text.empty()) text += separator;
      text += indent + (i < 0 ? "..." : block(axis + 1, indent + " "));
    }
    return text;
  }

  const TensorType& type_;
  Shape strides_;
  bool is_cut_;
  std::vector<const std::byte*> shown_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;  ///< of words_
};

}  // namespace

std::string to_string(const Tensor& tensor, const std::source_location& call_site) {
  const trace::TraceNode& node = *internal::Access::node(tensor.eval(call_site));
  const device::DefaultFloatMode mode;
  const std::byte* data = static_cast<const std::byte*>(node.storage->data) + node.byte_offset;
  if (numel(node.type.shape) == 0) return "[]";
  if (node.type.shape.empty()) return api::format_element(node.type.dtype, data);
  return Printer(node.type, data).text();
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  const trace::TraceNode* node = internal::Access::node(tensor);
  return out << to_string(tensor, node ? node->call_site : std::source_location());
}

}  // namespace tenon
