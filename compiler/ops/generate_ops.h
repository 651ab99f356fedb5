// SPDX-License-Identifier: MIT
// The texts of the files that are made from the op table: the public functions, their bodies and the table of ops.
//
// The files are committed; a test compares them with these texts and rewrites them with TENON_BLESS=1. Rows whose
// public form takes more than operands and attributes as they are (slices, padding, creation ...) have hand-written
// functions, and stand in OPS.md only.
#pragma once

#include <string>

namespace tenon {

/// include/tenon/ops.h
std::string generate_ops_header();
/// runtime/api/ops_generated.cc
std::string generate_ops_bodies();
/// include/tenon/OPS.md
std::string generate_ops_page();

}  // namespace tenon
