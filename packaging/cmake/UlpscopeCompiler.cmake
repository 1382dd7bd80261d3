# Language level, warnings, sanitizers, and the function every folder's target is made with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Base directory and sloppiness let a fresh clone in another folder hit the cache, precompiled headers included.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${CCACHE_PROGRAM})
endif()

add_library(ulpscope_compiler INTERFACE)
target_compile_options(ulpscope_compiler INTERFACE
  # GCC 12 reports std::string concatenation falsely (GCC bug 105329).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -fpch-preprocess
  # Numbers: no contraction into fused multiply-adds behind our back.
  -ffp-contract=off)
if(ULPSCOPE_WERROR)
  target_compile_options(ulpscope_compiler INTERFACE -Werror)
endif()
if(ULPSCOPE_SANITIZE)
  target_compile_options(ulpscope_compiler INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(ulpscope_compiler INTERFACE -fsanitize=address,undefined)
endif()
if(ULPSCOPE_LIBFUZZER)
  target_compile_options(ulpscope_compiler INTERFACE -fsanitize=fuzzer-no-link)
endif()

# ulpscope_library(<folder> SOURCES ... [PUBLIC libs] [PRIVATE libs]) -> target ulpscope_<folder>, alias ulpscope::<folder>
function(ulpscope_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(ulpscope_${name} STATIC ${ARG_SOURCES})
  add_library(ulpscope::${name} ALIAS ulpscope_${name})
  target_include_directories(ulpscope_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(ulpscope_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ulpscope_compiler ${ARG_PRIVATE})
endfunction()
