# SPDX-License-Identifier: MIT
# Installs the build in BUILD under WORK/prefix, then configures, builds and runs the consumer in SOURCE against it.
# FLAGS are those that a sanitized library asks of its users.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${status}): ${command}\n${output}")
  endif()
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
     -D CMAKE_CXX_FLAGS=${FLAGS} -D CMAKE_PREFIX_PATH=${WORK}/prefix)
step(${CMAKE_COMMAND} --build ${WORK}/build)
set(ENV{TENON_CACHE_DIR} ${WORK}/cache)
step(${WORK}/build/consumer)

# libtenon.so starts without LLVM, and the compiler shows its one entry.
file(GLOB library ${WORK}/prefix/lib*/libtenon.so ${WORK}/prefix/lib/*/libtenon.so)
execute_process(COMMAND readelf -d ${library} OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
if(needed MATCHES "LLVM")
  message(FATAL_ERROR "libtenon.so needs LLVM:\n${needed}")
endif()
cmake_path(GET library PARENT_PATH folder)
execute_process(COMMAND nm -D --defined-only ${folder}/libtenon_compiler.so OUTPUT_VARIABLE shown COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+ [A-Z] [^\n]+" shown "${shown}")
if(NOT shown MATCHES "^[0-9a-f]+ T tenon_compiler_compile$")
  message(FATAL_ERROR "libtenon_compiler.so shows: ${shown}")
endif()
