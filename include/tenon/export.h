// SPDX-License-Identifier: MIT
// Marks what libtenon.so shows to programs; every other symbol of the library is hidden.
#pragma once

/// Put before each public class and each public function that is not inline.
#define TENON_API __attribute__((visibility("default")))
