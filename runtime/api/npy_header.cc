// SPDX-License-Identifier: MIT
// A scanner for the little of Python's literal syntax that NumPy writes.
#include "runtime/api/npy_header.h"

#include <charconv>
#include <optional>

#include "compiler/ir/text.h"

namespace tenon::api {
namespace {

struct Descr {
  std::string_view text;
  DType dtype;
};
// One-byte types have no byte order. bfloat16 is not NumPy's own: the ml_dtypes package writes it as two opaque bytes.
constexpr Descr kDescrs[] = {{"|b1", DType::kBool},    {"|i1", DType::kInt8},     {"<i2", DType::kInt16},
                             {"<i4", DType::kInt32},   {"<i8", DType::kInt64},    {"|u1", DType::kUInt8},
                             {"<u2", DType::kUInt16},  {"<u4", DType::kUInt32},   {"<u8", DType::kUInt64},
                             {"<f2", DType::kFloat16}, {"<V2", DType::kBFloat16}, {"<f4", DType::kFloat32},
                             {"<f8", DType::kFloat64}};

std::optional<DType> find_descr(std::string_view descr) {
  if (descr == "bfloat16") return DType::kBFloat16;
  if (descr.size() < 2) return std::nullopt;
  const bool is_little = descr[0] == '<' || descr[0] == '|' || descr[0] == '=';
  for (const Descr& known : kDescrs) {
    if (is_little && descr.substr(1) == known.text.substr(1)) return known.dtype;
  }
  return std::nullopt;
}

absl::Status malformed(std::string_view what) {
  return absl::InvalidArgumentError(cat("the header is malformed: ", what));
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip_blanks();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string_view> take_string() {
    skip_blanks();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view found = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return found;
  }

  std::optional<std::int64_t> take_length() {
    skip_blanks();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    take('L');  // Python 2 wrote long integers so
    return value;
  }

  bool is_at_end() {
    skip_blanks();
    return text_.empty();
  }

 private:
  void skip_blanks() {
    const std::size_t first = text_.find_first_not_of(" \t\n\r");
    text_.remove_prefix(first == std::string_view::npos ? text_.size() : first);
  }
  std::string_view text_;
};

absl::StatusOr<DType> parse_descr(Scanner& in) {
  const std::optional<std::string_view> descr = in.take_string();
  if (!descr) return absl::InvalidArgumentError("structured dtypes are not read");
  if (const std::optional<DType> dtype = find_descr(*descr)) return *dtype;
  if (descr->starts_with('>')) return absl::InvalidArgumentError("big-endian elements are not read");
  return absl::InvalidArgumentError("the dtype is not one of the library's");
}

absl::StatusOr<Shape> parse_shape(Scanner& in) {
  Shape shape;
  if (!in.take('(')) return malformed("shape is not a tuple");
  while (!in.take(')')) {
    const std::optional<std::int64_t> length = in.take_length();
    if (!length || shape.size() == kMaxRank) return malformed("shape is not a tuple of lengths");
    shape.push_back(*length);
    if (in.take(',')) continue;
    if (in.take(')')) break;
    return malformed("shape is not a tuple of lengths");
  }
  if (!is_possible_shape(shape)) return malformed("shape is too large");
  return shape;
}

/// What the dictionary has said so far.
struct Fields {
  std::optional<DType> dtype;
  std::optional<bool> is_fortran_order;
  std::optional<Shape> shape;
};

absl::Status parse_field(Scanner& in, std::string_view key, Fields* fields) {
  if (key == "descr") {
    const absl::StatusOr<DType> dtype = parse_descr(in);
    if (dtype.ok()) fields->dtype = *dtype;
    return dtype.status();
  }
  if (key == "shape") {
    const absl::StatusOr<Shape> shape = parse_shape(in);
    if (shape.ok()) fields->shape = *shape;
    return shape.status();
  }
  if (key != "fortran_order") return malformed("it has an unknown key");
  const bool is_true = in.take_word("True");
  if (!is_true && !in.take_word("False")) return malformed("fortran_order is not True or False");
  fields->is_fortran_order = is_true;
  return absl::OkStatus();
}

std::string_view descr_of(DType dtype) {
  for (const Descr& known : kDescrs) {
    if (known.dtype == dtype) return known.text;
  }
  return "";
}

}  // namespace

absl::StatusOr<NpyHeader> parse_npy_header(std::string_view text) {
  Scanner in(text);
  Fields fields;
  if (!in.take('{')) return malformed("it is not a dictionary");
  while (!in.take('}')) {
    const std::optional<std::string_view> key = in.take_string();
    if (!key || !in.take(':')) return malformed("it is not a dictionary");
    if (absl::Status status = parse_field(in, *key, &fields); !status.ok()) return status;
    if (!in.take(',')) {
      if (in.take('}')) break;
      return malformed("it is not a dictionary");
    }
  }
  if (!in.is_at_end()) return malformed("something follows the dictionary");
  if (!fields.dtype || !fields.shape || !fields.is_fortran_order) {
    return malformed("descr, fortran_order or shape is missing");
  }
  return NpyHeader{{*fields.dtype, *fields.shape}, *fields.is_fortran_order};
}

std::string npy_preamble(const TensorType& type) {
  const std::string comma = type.shape.size() == 1 ? "," : "";
  std::string text = cat("{'descr': '", descr_of(type.dtype), "', 'fortran_order': False, 'shape': (",
                         join(absl::MakeConstSpan(type.shape)), comma, "), }");
  constexpr std::size_t kFixed = 10;  // magic, version, length
  text.append(63 - (kFixed + text.size()) % 64, ' ');
  text.push_back('\n');
  std::string preamble = "\x93NUMPY";
  preamble += {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return preamble + text;
}

}  // namespace tenon::api
