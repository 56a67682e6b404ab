# emcc is a script: before it calls clang it takes as long as clang does for a small file. Objects
# are therefore compiled by clang itself, with the flags that emcc would give it. Links need emcc.
execute_process(COMMAND ${CMAKE_C_COMPILER} --cflags
  OUTPUT_VARIABLE YW_EMCC_FLAGS ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
file(WRITE ${CMAKE_BINARY_DIR}/empty.c "")
execute_process(COMMAND ${CMAKE_C_COMPILER} -v -c ${CMAKE_BINARY_DIR}/empty.c -o /dev/null
  OUTPUT_QUIET ERROR_VARIABLE YW_EMCC_CALLS)
if(YW_EMCC_FLAGS MATCHES "^-target wasm32" AND YW_EMCC_CALLS MATCHES "([^ \"]+)\"? -target wasm32")
  set(CMAKE_C_COMPILE_OBJECT
    "${CMAKE_MATCH_1} ${YW_EMCC_FLAGS} <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
endif()
