// SPDX-License-Identifier: MIT
// Cutting the text form into tokens.
#include "compiler/ir/text_scanner.h"

#include <algorithm>

namespace tenon {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '.'; }

}  // namespace

Token TextScanner::next() {
  skip_blanks();
  const std::size_t start = at_;
  Token token;
  token.line = line_;
  token.column = static_cast<int>(start - line_start_) + 1;
  if (at_ == text_.size()) return token;
  token.kind = scan();
  token.text = text_.substr(start, at_ - start);
  return token;
}

void TextScanner::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\n' && depth_ > 0) {
      ++at_;
      new_line();
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

void TextScanner::new_line() {
  ++line_;
  line_start_ = at_;
}

Token::Kind TextScanner::scan() {
  const char c = text_[at_++];
  if (c == '\n') {
    new_line();
    return Token::kNewline;
  }
  if (c == '"') return scan_string();
  if (is_letter(c) || c == '%') {
    while (is_word(peek())) ++at_;
    return Token::kName;
  }
  if (is_digit(c) || c == '.' || ((c == '-' || c == '+') && is_word(peek()))) {
    scan_number();
    return Token::kNumber;
  }
  depth_ += (c == '(' || c == '[') - (c == ')' || c == ']');
  return Token::kPunctuation;
}

void TextScanner::scan_number() {
  const bool is_hex = text_[at_ - 1] == '0' && peek() == 'x';
  const auto is_exponent_sign = [&] {
    return (peek() == '-' || peek() == '+') && !is_hex && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
  };
  while (is_word(peek()) || is_exponent_sign()) ++at_;
}

Token::Kind TextScanner::scan_string() {
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') ++at_;
  if (peek() != '"') return Token::kPunctuation;
  ++at_;
  return Token::kString;
}

}  // namespace tenon
