# Adds the library tidemark_<name> with the alias tidemark::<name>. Headers below include/ are public.
# Other headers are included as "<folder>/<file>.h" and are not installed.
function(tidemark_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;PUBLIC_HEADERS;DEPS;PRIVATE_DEPS")
  set(target tidemark_${arg_NAME})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(tidemark::${arg_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${arg_NAME} VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  if(arg_PUBLIC_HEADERS)
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${arg_PUBLIC_HEADERS})
  endif()
  target_link_libraries(${target} PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS} tidemark_warnings)
  install(TARGETS ${target} EXPORT tidemarkTargets FILE_SET HEADERS)
endfunction()

set(TIDEMARK_COMMON_HEADERS
  <algorithm> <functional> <map> <memory> <optional> <string> <thread> <variant> <vector>
  <absl/container/flat_hash_map.h> <absl/status/statusor.h> <absl/time/clock.h>
  <absl/time/time.h> <fmt/format.h> <grpcpp/grpcpp.h>)

# Compiles the sources of `target` in batches. CMake's own unity builds name sources by their absolute
# paths, so that ccache never hits in another checkout; these paths start at the project's root.
# The helpers of a test are in a namespace with the name of its file, since batches share them.
# A source with separate compile definitions is compiled alone.
function(tidemark_batch_sources target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(source_dir ${target} SOURCE_DIR)
  get_target_property(binary_dir ${target} BINARY_DIR)
  cmake_path(RELATIVE_PATH source_dir BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  set(batched)
  foreach(source ${sources})
    get_source_file_property(definitions ${source_dir}/${source} TARGET_DIRECTORY ${target}
                             COMPILE_DEFINITIONS)
    if(source MATCHES "^[a-z][a-z0-9_/]*\\.cc$" AND NOT definitions)
      list(APPEND batched ${source})
    endif()
  endforeach()
  list(LENGTH batched left)
  if(left LESS 2)
    return()
  endif()
  list(TRANSFORM batched PREPEND ${source_dir}/ OUTPUT_VARIABLE paths)
  set_source_files_properties(${paths} TARGET_DIRECTORY ${target} PROPERTIES HEADER_FILE_ONLY ON)
  set(number 0)
  while(batched)
    list(SUBLIST batched 0 8 batch)
    list(REMOVE_ITEM batched ${batch})
    list(TRANSFORM batch REPLACE "(.+)" "#include \"${folder}/\\1\"\n")
    string(JOIN "" content ${batch})
    file(CONFIGURE OUTPUT ${binary_dir}/batches/${target}_${number}.cc CONTENT "${content}" @ONLY)
    target_sources(${target} PRIVATE ${binary_dir}/batches/${target}_${number}.cc)
    math(EXPR number "${number} + 1")
  endwhile()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

# Precompiles common headers for all targets of these folders that have our warnings, and compiles
# their sources in batches.
function(tidemark_compile_quickly)
  file(CONFIGURE OUTPUT headers.cc CONTENT "")
  add_library(tidemark_headers STATIC ${CMAKE_CURRENT_BINARY_DIR}/headers.cc)
  target_link_libraries(tidemark_headers PRIVATE tidemark_warnings)
  target_precompile_headers(tidemark_headers PRIVATE ${TIDEMARK_COMMON_HEADERS})
  foreach(folder ${ARGN})
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target ${targets})
      get_target_property(libraries ${target} LINK_LIBRARIES)
      if("tidemark_warnings" IN_LIST libraries)
        target_precompile_headers(${target} REUSE_FROM tidemark_headers)
        tidemark_batch_sources(${target})
      endif()
    endforeach()
  endforeach()
endfunction()

# A GoogleTest binary, in most cases of all tests of one folder with the same dependencies. THREADS
# marks tests that drive our threads without gRPC, for the thread sanitizer (label threads, target
# thread_tests). Debian's gRPC is not instrumented, so the sanitizer reports false races in it.
add_custom_target(thread_tests)
# Tests that run no whole programs link these libraries.
add_custom_target(unit_tests)
# In seconds. Sanitizers make computations ten times as slow.
set(TIDEMARK_TEST_TIMEOUT 120 CACHE STRING "How long one test may take, seconds")
# With sanitizers it takes longer to start a process than to run most tests.
option(TIDEMARK_WHOLE_SUITES "Run all tests of a binary in one process, which is one test of ctest" OFF)
function(tidemark_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "THREADS" "NAME" "SOURCES;DEPS")
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE ${arg_DEPS} tidemark_test_headers GTest::gtest_main)
  target_precompile_headers(${arg_NAME} REUSE_FROM tidemark_test_headers)
  if(TIDEMARK_BATCHES)
    tidemark_batch_sources(${arg_NAME})
  endif()
  add_dependencies(unit_tests ${arg_NAME})
  set(labels)
  if(arg_THREADS)
    set(labels LABELS threads)
    add_dependencies(thread_tests ${arg_NAME})
  endif()
  if(TIDEMARK_WHOLE_SUITES)
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME})
    list(LENGTH arg_SOURCES cost)  # large suites start first
    set_tests_properties(${arg_NAME} PROPERTIES TIMEOUT ${TIDEMARK_TEST_TIMEOUT} COST ${cost} ${labels})
  else()
    # A value would appear in the name of its test as bytes with addresses, which differ in each build.
    gtest_discover_tests(${arg_NAME} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
                         PROPERTIES TIMEOUT ${TIDEMARK_TEST_TIMEOUT} ${labels})
  endif()
endfunction()
