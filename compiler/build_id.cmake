# SPDX-License-Identifier: MIT
# Writes HEADER with TENON_BUILD_ID: a hash over the name (from ROOT) and the bytes of each file named in LIST, sorted.
# Run by the build. Paths outside the sources do not enter, so two checkouts of one commit agree.
file(STRINGS ${LIST} files)
list(SORT files)
set(lines "")
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  file(RELATIVE_PATH name ${ROOT} ${file})
  string(APPEND lines "${hash} ${name}\n")
endforeach()
string(SHA256 id "${lines}")
string(SUBSTRING ${id} 0 32 id)
file(WRITE ${HEADER} "#define TENON_BUILD_ID \"${id}\"\n")
