# The few functions every CMakeLists.txt here uses.

# Warnings and flags of the project's own code. Contraction stays off: a product-sum must not round differently from one
# compiler or instruction set to the next unless the kernel says so.
function(attend_compile_options target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -ffp-contract=off)
  if(CMAKE_UNITY_BUILD)  # g++ takes the one file's parts for headers, whose unnamed namespaces would be a mistake
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  if(ATTEND_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${ATTEND_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${ATTEND_SANITIZE})
  endif()
endfunction()

# attend_sources(TARGET GROUP a.cc ...): sources which compile as one file where CMAKE_UNITY_BUILD is on. A group is a folder or
# less, so that the names of unnamed namespaces need to differ within one alone.
function(attend_sources target group)
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
endfunction()

# attend_embed(VARIABLE HEADER FUNCTION FILE ...): sets VARIABLE to a source with files of this folder in it, which attend::FUNCTION()
# gives as HEADER declares it.
function(attend_embed variable header function)
  set(output ${PROJECT_BINARY_DIR}/generated/${function}.cc)
  list(JOIN ARGN "," names)
  add_custom_command(OUTPUT ${output} DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR} -DFILES=${names} -DHEADER=${header} -DFUNCTION=${function}
            -DOUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()

# attend_test(NAME SOURCES a_test.cc ... [LIBRARIES ...] [LABELS ...]): one GoogleTest program, which is one test of ctest's. Its
# sources compile as one file where CMAKE_UNITY_BUILD is on, so the names of their unnamed namespaces differ.
# Label `fast` by default; `slow` ones run in `make test` too, `full` ones only in `make test-full`.
function(attend_test name)
  if(NOT ATTEND_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS fast)
  endif()
  add_executable(${name} ${arg_SOURCES})
  attend_compile_options(${name})
  list(FILTER arg_SOURCES INCLUDE REGEX "\\.cc$")
  set_source_files_properties(${arg_SOURCES} PROPERTIES UNITY_GROUP tests)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${name} PRIVATE ATTEND_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ATTEND_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE attend fmt::fmt nlohmann_json::nlohmann_json GTest::gtest GTest::gmock GTest::gtest_main ${arg_LIBRARIES})
  set(temporary ${PROJECT_BINARY_DIR}/tests/tmp/${name})  # testing::TempDir(), of this build alone
  file(MAKE_DIRECTORY ${temporary})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 900
    ENVIRONMENT "OMP_WAIT_POLICY=passive;TEST_TMPDIR=${temporary}/")
endfunction()

# What a program that uses Torch needs to share attend_train's precompiled header.
function(attend_use_torch target)
  target_link_libraries(${target} PRIVATE attend_train spdlog::spdlog fmt::fmt nlohmann_json::nlohmann_json)
  target_include_directories(${target} SYSTEM BEFORE PRIVATE ${ATTEND_FMT_HEADERS})
  target_precompile_headers(${target} REUSE_FROM attend_train)
  # The header was compiled with -fPIC, and g++ refuses it under -fPIE, CMake's choice for programs.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_compile_definitions(${target} PRIVATE BOOST_ALL_NO_LIB)  # attend_train's, from Boost::headers
endfunction()

# attend_torch_test(NAME SOURCES ... [LIBRARIES ...] [LABELS ...]): attend_test for code that uses Torch.
function(attend_torch_test name)
  if(NOT ATTEND_TESTS)
    return()
  endif()
  attend_test(${name} ${ARGN})
  attend_use_torch(${name})
endfunction()

# attend_torch_program(NAME SOURCES ...): a program that a Python test runs, left in tests/ of the build folder.
function(attend_torch_program name)
  if(NOT ATTEND_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  attend_compile_options(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  attend_use_torch(${name})
endfunction()

# attend_python_test(NAME file.py [ALONE] [LABELS ...] [ARGS ...]): a pytest file, run with the interpreter of .venv; BUILD_DIR
# tells it where the programs are. ALONE: no other test runs beside it, since it waits for several processes, for a browser or
# for a build. No plugins: those that come with packages for tests take seconds to load.
function(attend_python_test name file)
  if(NOT ATTEND_TESTS OR NOT ATTEND_PYTHON OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  cmake_parse_arguments(arg "ALONE" "" "LABELS;ARGS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS fast)
  endif()
  add_test(NAME ${name} COMMAND ${ATTEND_PYTHON} -m pytest -q -rs -p no:cacheprovider ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${arg_ARGS})
  # pytest ends with 5 where it collected no test: what the file needs is not installed, as it says.
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS};python" TIMEOUT 1800 RUN_SERIAL ${arg_ALONE} SKIP_RETURN_CODE 5
    ENVIRONMENT "BUILD_DIR=${PROJECT_BINARY_DIR};OMP_WAIT_POLICY=passive;PYTHONDONTWRITEBYTECODE=1;PYTEST_DISABLE_PLUGIN_AUTOLOAD=1")
endfunction()
