// SPDX-License-Identifier: MIT
// Whether this build watches memory: a sanitizer of addresses or threads ends the process where `new` would throw
// std::bad_alloc, so what follows such a throw cannot be tested under one.
#pragma once

namespace tenon::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kNewThrows = false;
#elif defined(__has_feature)
inline constexpr bool kNewThrows = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
inline constexpr bool kNewThrows = true;
#endif

}  // namespace tenon::testing
