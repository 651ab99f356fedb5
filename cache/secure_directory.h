// SPDX-License-Identifier: MIT
//
// Opening the root of the cache. Whoever can write there runs code as the user, so each directory on the way must
// belong to root or the user and be closed to others' writing (a sticky one, such as /tmp, will do on the way), and
// the root itself is no symbolic link. What is held afterwards is a descriptor, so nothing can be swapped behind it.
#pragma once

#include <string>

#include "cache/file_system.h"

namespace tenon::cache {

struct SecureDirectory {
  OpenFile directory;
  std::string problem;  // one line when not open; empty otherwise
};

/// Opens `path`, absolute or from the working directory; with `create`, makes what is missing (mode 0700).
SecureDirectory open_secure_directory(FileSystem& files, const std::string& path, bool create);

/// Opens the directory `name` inside `parent` under the rules for a root.
SecureDirectory open_secure_child(FileSystem& files, int parent, const std::string& name, bool create);

}  // namespace tenon::cache
