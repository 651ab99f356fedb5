// SPDX-License-Identifier: MIT
// Cuts the text form into tokens with their places.
//
// Blanks and comments (# to the end of the line) are dropped. Newlines count only outside brackets. Any text is cut
// into tokens: a character that starts none is punctuation, and so is a string without its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tenon {

struct Token {
  enum Kind : std::uint8_t { kEnd, kNewline, kName, kNumber, kString, kPunctuation };
  Kind kind = kEnd;
  std::string_view text;
  int line = 1, column = 1;

  bool is(std::string_view what) const { return kind != kString && text == what; }
};

class TextScanner {
 public:
  /// `text` must outlive the scanner and its tokens.
  explicit TextScanner(std::string_view text) : text_(text) {}
  /// The next token; at the end of the text always kEnd.
  Token next();

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks();
  void new_line();
  Token::Kind scan();
  void scan_number();
  Token::Kind scan_string();

  std::string_view text_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1, depth_ = 0;
};

}  // namespace tenon
