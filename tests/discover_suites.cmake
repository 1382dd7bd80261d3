# Run after a test program is linked: lists its suites and makes a test of ctest of each. Not one of each TEST as gtest_discover_tests does: a
# process a test loads LibTorch or Qt some 800 times, which was half of the time of all tests.
# PROGRAM, PREFIX, LABEL, TIMEOUT; OUT: the file that ctest includes.
execute_process(COMMAND "${PROGRAM}" --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests: ${failed}")
endif()
string(REGEX MATCHALL "(^|\n)[^ \n][^\n]*[.]" suites "${listed}")
set(tests "")
foreach(suite IN LISTS suites)
  string(STRIP "${suite}" suite)
  # Of "Models/Axes." and "Running main() from ....": only a name and its dot.
  if(suite MATCHES "^[A-Za-z0-9_/]+[.]$")
    string(REGEX REPLACE "[.]$" "" name "${suite}")
    string(APPEND tests "add_test([=[${PREFIX}.${name}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${name}.*]=])\n"
      "set_tests_properties([=[${PREFIX}.${name}]=] PROPERTIES LABELS ${LABEL} TIMEOUT ${TIMEOUT})\n")
  endif()
endforeach()
if(tests STREQUAL "")
  message(FATAL_ERROR "${PROGRAM} has no tests")
endif()
file(WRITE "${OUT}" "${tests}")
