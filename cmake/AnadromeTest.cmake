# SPDX-License-Identifier: BSD-2-Clause
# Tests declare their ranks; each rank count is one CTest entry. OpenMPI as root and with more ranks than
# cores works without the user setting anything.
set(ANADROME_TEST_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe  # the same for Open MPI 5
  OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl=self,vader OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1  # ranks that wait give way: there may be fewer cores than ranks
  HDF5_USE_FILE_LOCKING=FALSE
  # Without intercept_tls_get_addr=0 the leak check of gcc 12 ends in "Tracer caught signal 11" now and then: where a
  # module's thread-local block begins 16 bytes into a page, it takes the allocator's header for one of glibc 2.19.
  "ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:intercept_tls_get_addr=0"
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/suppressions/lsan.txt:print_suppressions=0"
  "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1"
  "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/suppressions/tsan.txt:ignore_noninstrumented_modules=1")
if(ANADROME_SANITIZE OR ANADROME_FULL_TESTS)
  list(APPEND ANADROME_TEST_ENVIRONMENT ANADROME_TEST_SECONDS=600)
endif()

# Ranks of MPICH that wait keep a core busy: no more of them than there are cores, and nothing beside them.
set(ANADROME_TEST_MOST_RANKS 1000)
set(ANADROME_TEST_RANKS_SPIN OFF)
if(NOT ANADROME_MPI)
  set(ANADROME_TEST_MOST_RANKS 1)
elseif(MPI_C_LIBRARIES MATCHES mpich)
  include(ProcessorCount)
  ProcessorCount(ANADROME_TEST_MOST_RANKS)
  set(ANADROME_TEST_RANKS_SPIN ON)
endif()

# anadrome_add_mpi_test(NAME name COMMAND command... RANKS 1 2 ... [TIMEOUT seconds] [TOPIC topic])
# A timeout is for what hangs: where another program keeps a core busy, four ranks on two cores take
# thirty times as long.
function(anadrome_add_mpi_test)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT;TOPIC" "COMMAND;RANKS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  if(NOT ARG_TOPIC)
    set(ARG_TOPIC mpi)
  endif()
  if(NOT TARGET mpi_test_programs)
    add_custom_target(mpi_test_programs)
  endif()
  list(POP_FRONT ARG_COMMAND program)
  string(REGEX REPLACE "^\\$<TARGET_FILE:(.*)>$" "\\1" program ${program})
  add_dependencies(mpi_test_programs ${program})
  foreach(ranks IN LISTS ARG_RANKS)
    if(ranks GREATER ANADROME_TEST_MOST_RANKS)
      continue()
    endif()
    set(test ${ARG_TOPIC}.${ARG_NAME}.np${ranks})
    set(launch ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS})
    if(NOT ANADROME_MPI)
      set(launch)
    endif()
    set(own ${CMAKE_CURRENT_BINARY_DIR}/tests/${test})  # with the default directory a run lies where it was started
    file(MAKE_DIRECTORY ${own})
    add_test(NAME ${test} COMMAND ${launch} $<TARGET_FILE:${program}> ${ARG_COMMAND} WORKING_DIRECTORY ${own})
    set(processors 2)  # two such tests at a time in scripts/test
    if(ranks EQUAL 1 OR ANADROME_TEST_RANKS_SPIN)
      set(processors ${ranks})
    endif()
    set_tests_properties(${test} PROPERTIES
      PROCESSORS ${processors} TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${ANADROME_TEST_ENVIRONMENT}")
  endforeach()
endfunction()

# The tests of scripts/test --quick: of every room, of the command, a pair of ranks, what an earlier build left.
set(ANADROME_QUICK_TESTS
  "^(unit\\.|mpi\\.engine\\.agreement\\.np2$|tool\\.|files\\.golden\\.|docs\\.reference$)")

# anadrome_label_tests(): at the top of a folder of tests. Each of them gets labels by its name: the kind of test that
# the name begins with, the room, or `petsc`, that it is about, and `quick`.
function(anadrome_label_tests)
  cmake_language(DEFER CALL anadrome_label_tests_now)
endfunction()
function(anadrome_label_tests_now)
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test IN LISTS tests)
    string(REGEX MATCH "^[a-z]+" labels ${test})
    if(test MATCHES "\\.(base|schedule|planners|sketch|store|engine|objects|check|api|petsc)(\\.|$)")
      list(APPEND labels ${CMAKE_MATCH_1})
    endif()
    if(test MATCHES "${ANADROME_QUICK_TESTS}" AND NOT test STREQUAL tool.runs.Damaged)
      list(APPEND labels quick)
    endif()
    set_tests_properties(${test} PROPERTIES LABELS "${labels}")
  endforeach()
endfunction()
