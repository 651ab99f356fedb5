// SPDX-License-Identifier: MIT
// See json_file.h.
#include "runtime/tool/json_file.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace tenon::tool {
namespace {

using Json = nlohmann::json;

/// Takes no values; remembers where the parser gave up.
class FirstError : public nlohmann::json_sax<Json> {
 public:
  std::size_t read = 0;    ///< bytes, with the one that was wrong; at the end of the text, one more than there are
  bool is_number = false;  ///< well formed, but beyond double

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    read = position;
    is_number = dynamic_cast<const Json::out_of_range*>(&error) != nullptr;
    return false;
  }
};

/// What is wrong, after the line's text up to there.
std::string reason(const FirstError& error, std::string_view line, bool is_at_end) {
  constexpr std::size_t kShown = 30;
  if (is_at_end) return "the JSON ends too early";
  const bool is_long = line.size() > kShown;
  const std::string shown = absl::CHexEscape(std::string(line.substr(is_long ? line.size() - kShown : 0)));
  return absl::StrCat(error.is_number ? "the number is too large" : "the JSON is wrong", " at the end of '",
                      is_long ? "..." : "", shown, "'");
}

}  // namespace

absl::StatusOr<Json> parse_json(const std::string& text, const std::string& path) {
  FirstError error;
  if (Json::sax_parse(text, &error)) return Json::parse(text);
  const bool is_at_end = error.read > text.size();
  const std::string_view read = std::string_view(text).substr(0, error.read);
  const std::string_view before = is_at_end ? read : read.substr(0, read.size() - 1);
  const std::size_t line_start = before.rfind('\n') + 1;  // 0 in the first line
  return absl::InvalidArgumentError(absl::StrCat(path, ":", 1 + std::count(before.begin(), before.end(), '\n'), ":",
                                                 before.size() - line_start + 1, ": ",
                                                 reason(error, read.substr(line_start), is_at_end)));
}

}  // namespace tenon::tool
