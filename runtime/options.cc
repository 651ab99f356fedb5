// SPDX-License-Identifier: MIT
// See options.h.
#include "runtime/options.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/log.h"

extern char** environ;

namespace tenon {
namespace {

absl::Status bad(std::string_view value, std::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("'", std::string(value), "' is not ", std::string(wanted)));
}

struct flag {
  static absl::Status parse(std::string_view text, bool& out) {
    if (text != "0" && text != "1") return bad(text, "0 or 1");
    out = text == "1";
    return absl::OkStatus();
  }
};

struct integer {
  static absl::Status parse(std::string_view text, std::int64_t& out) {
    const bool ok = absl::SimpleAtoi(std::string(text), &out) && out >= 0;
    return ok ? absl::OkStatus() : bad(text, "a number, 0 or more");
  }
};

struct bytes {
  static absl::Status parse(std::string_view text, std::int64_t& out) {
    constexpr std::string_view kUnits = "KMGT";
    const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
    const bool has_unit = unit != std::string_view::npos;
    std::int64_t number = 0;
    const std::string digits(has_unit ? text.substr(0, text.size() - 1) : text);
    const int shift = has_unit ? 10 * (static_cast<int>(unit) + 1) : 0;
    if (!absl::SimpleAtoi(digits, &number) || number < 0 || number > (std::int64_t{1} << 62 >> shift)) {
      return bad(text, "a size such as 512M or 2G");
    }
    out = number << shift;
    return absl::OkStatus();
  }
};

struct text {
  static absl::Status parse(std::string_view value, std::string& out) {
    out = std::string(value);
    return absl::OkStatus();
  }
};

bool is_one_of(std::string_view value, const char* names) {
  const std::vector<std::string> list = absl::StrSplit(names, '|');
  return std::find(list.begin(), list.end(), value) != list.end();
}

struct choice {
  explicit choice(const char* names) : names_(names) {}
  absl::Status parse(std::string_view value, std::string& out) const {
    if (!is_one_of(value, names_)) return bad(value, absl::StrCat("one of ", names_));
    out = std::string(value);
    return absl::OkStatus();
  }
  const char* names_;
};

struct choices {
  explicit choices(const char* names) : names_(names) {}
  absl::Status parse(std::string_view value, std::string& out) const {
    const std::vector<std::string> given = absl::StrSplit(std::string(value), ',', absl::SkipEmpty());
    for (const std::string& name : given) {
      if (!is_one_of(name, names_)) return bad(name, absl::StrCat("one of ", names_));
    }
    out = std::string(value);
    return absl::OkStatus();
  }
  const char* names_;
};

std::string to_text(bool v) { return v ? "1" : "0"; }
std::string to_text(std::int64_t v) { return absl::StrCat(v); }
std::string to_text(const std::string& v) { return v; }

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

std::string nearest_variable(std::string_view name) {
  std::string best;
  std::size_t least = std::string_view::npos;
  for (const OptionRow& row : describe(Options())) {
    const std::size_t d = distance(name, row.variable);
    if (d < least) {
      least = d;
      best = row.variable;
    }
  }
  return best;
}

Options defaults() {
  Options o;
#define TENON_OPTION(field, type, value, variable, documentation) (void)set_option(o, variable, value);
#include "runtime/options.def"
#undef TENON_OPTION
  return o;
}

Options from_environment() {
  Options o = defaults();
  set_log_level(o.log);
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view line(*entry);
    const std::size_t equals = line.find('=');
    if (!line.starts_with("TENON_") || equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals);
    const absl::Status status = set_option(o, name, line.substr(equals + 1));
    if (absl::IsNotFound(status)) {
      log(LogLevel::kWarn,
          absl::StrCat(std::string(name), " is not a setting; did you mean ", nearest_variable(name), "?"));
    } else if (!status.ok()) {
      log(LogLevel::kWarn, absl::StrCat(std::string(name), ": ", std::string(status.message()), "; it is ignored"));
    }
  }
  set_log_level(o.log);
  return o;
}

}  // namespace

absl::Status set_option(Options& o, std::string_view name, std::string_view value) {
#define TENON_OPTION(field, type, default_value, variable, documentation) \
  if (name == variable) return type.parse(value, o.field);
#include "runtime/options.def"
#undef TENON_OPTION
  return absl::NotFoundError("no such setting");
}

std::vector<OptionRow> describe(const Options& o) {
  return {
#define TENON_OPTION(field, type, default_value, variable, documentation) \
  OptionRow{variable, default_value, documentation, to_text(o.field)},
#include "runtime/options.def"
#undef TENON_OPTION
  };
}

Options& options() {
  static Options* const instance = new Options(from_environment());
  return *instance;
}

}  // namespace tenon
