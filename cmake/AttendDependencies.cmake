# Finds every library the project links; CONTRIBUTING.md says why each is there.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(ZLIB REQUIRED)
find_path(ATTEND_RE2_INCLUDE re2/re2.h REQUIRED)
find_library(ATTEND_RE2_LIBRARY re2 REQUIRED)
add_library(attend::re2 INTERFACE IMPORTED)
target_include_directories(attend::re2 INTERFACE ${ATTEND_RE2_INCLUDE})
target_link_libraries(attend::re2 INTERFACE ${ATTEND_RE2_LIBRARY})
find_path(ATTEND_ZSTD_INCLUDE zstd.h REQUIRED)
find_library(ATTEND_ZSTD_LIBRARY zstd REQUIRED)
add_library(attend::zstd INTERFACE IMPORTED)
target_include_directories(attend::zstd INTERFACE ${ATTEND_ZSTD_INCLUDE})
target_link_libraries(attend::zstd INTERFACE ${ATTEND_ZSTD_LIBRARY})
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
foreach(library sndfile samplerate)
  string(TOUPPER ${library} name)
  find_path(ATTEND_${name}_INCLUDE ${library}.h REQUIRED)
  find_library(ATTEND_${name}_LIBRARY ${library} REQUIRED)
  add_library(attend::${library} INTERFACE IMPORTED)
  target_include_directories(attend::${library} INTERFACE ${ATTEND_${name}_INCLUDE})
  target_link_libraries(attend::${library} INTERFACE ${ATTEND_${name}_LIBRARY})
endforeach()
find_path(ATTEND_KISSFFT_INCLUDE kissfft/kissfft.hh REQUIRED)  # a header alone
find_package(Boost 1.74 CONFIG REQUIRED)

# The metrics themselves: prometheus-cpp's own package would also ask for libcurl and civetweb.
find_path(ATTEND_PROMETHEUS_INCLUDE prometheus/registry.h REQUIRED)
find_library(ATTEND_PROMETHEUS_LIBRARY prometheus-cpp-core REQUIRED)
add_library(attend::prometheus INTERFACE IMPORTED)
target_include_directories(attend::prometheus INTERFACE ${ATTEND_PROMETHEUS_INCLUDE})
target_link_libraries(attend::prometheus INTERFACE ${ATTEND_PROMETHEUS_LIBRARY})

# Detects the language of a text, for the service; optional.
find_path(ATTEND_CLD2_INCLUDE cld2/public/compact_lang_det.h)
find_library(ATTEND_CLD2_LIBRARY cld2)
set(has_cld2 OFF)
if(ATTEND_CLD2_INCLUDE AND ATTEND_CLD2_LIBRARY)
  set(has_cld2 ON)
endif()
option(ATTEND_LANGUAGE_DETECTION "detect the language of texts that are served (needs libcld2-dev)" ${has_cld2})
if(ATTEND_LANGUAGE_DETECTION)
  add_library(attend::cld2 INTERFACE IMPORTED)
  target_include_directories(attend::cld2 INTERFACE ${ATTEND_CLD2_INCLUDE})
  target_link_libraries(attend::cld2 INTERFACE ${ATTEND_CLD2_LIBRARY})
endif()

find_path(ATTEND_SODIUM_INCLUDE sodium.h REQUIRED)
find_library(ATTEND_SODIUM_LIBRARY NAMES libsodium.a sodium REQUIRED)
add_library(attend::sodium INTERFACE IMPORTED)
target_include_directories(attend::sodium INTERFACE ${ATTEND_SODIUM_INCLUDE})
target_link_libraries(attend::sodium INTERFACE ${ATTEND_SODIUM_LIBRARY})

# SentencePiece, built from source by tools/setup.
set(ATTEND_SENTENCEPIECE ${PROJECT_SOURCE_DIR}/.deps/sentencepiece-0.2.1 CACHE PATH "where SentencePiece is installed")
if(NOT EXISTS ${ATTEND_SENTENCEPIECE}/lib/libsentencepiece.a)
  message(FATAL_ERROR "SentencePiece is not at ${ATTEND_SENTENCEPIECE}; run `make setup` first")
endif()
foreach(library sentencepiece sentencepiece_train)
  add_library(attend::${library} STATIC IMPORTED)
  set_target_properties(attend::${library} PROPERTIES
    IMPORTED_LOCATION ${ATTEND_SENTENCEPIECE}/lib/lib${library}.a
    INTERFACE_INCLUDE_DIRECTORIES ${ATTEND_SENTENCEPIECE}/include)
endforeach()

# Python of .venv: runs the tests that compare with other toolkits, and holds LibTorch.
find_program(ATTEND_PYTHON NAMES python PATHS ${PROJECT_SOURCE_DIR}/.venv/bin NO_DEFAULT_PATH)

# The Python package's module, where nanobind is in .venv and the interpreter can load what is built.
set(has_nanobind OFF)
if(ATTEND_PYTHON AND NOT CMAKE_CROSSCOMPILING AND NOT ATTEND_SANITIZE)
  execute_process(COMMAND ${ATTEND_PYTHON} -m nanobind --version RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    set(has_nanobind ON)
  endif()
endif()
option(ATTEND_PYTHON_MODULE "build the Python package's module (needs nanobind)" ${has_nanobind})

if(ATTEND_TRAIN)
  if(NOT ATTEND_TORCH)
    file(GLOB torch_folders ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
    if(NOT torch_folders)
      message(FATAL_ERROR "LibTorch is not in .venv; run `make setup`, or give -DATTEND_TORCH=DIR, or -DATTEND_TRAIN=OFF")
    endif()
    list(GET torch_folders 0 ATTEND_TORCH)
  endif()
  list(APPEND CMAKE_PREFIX_PATH ${ATTEND_TORCH})
  # LibTorch's package looks for its profiler as a library of its own and warns that it is none, as in PyPI's builds, which
  # hold it in libtorch_cpu.
  if(NOT EXISTS ${ATTEND_TORCH}/lib/libkineto.a)
    set(kineto_LIBRARY torch)
  endif()
  find_package(CUDAToolkit QUIET)
  if(EXISTS ${ATTEND_TORCH}/lib/libtorch_cuda.so AND NOT CUDAToolkit_FOUND)
    # PyPI's build for GPUs. Its package wants a CUDA toolkit, which programs for CPUs do without.
    message(STATUS "LibTorch is for GPUs and there is no CUDA toolkit: the programs are for CPUs alone")
    add_library(torch INTERFACE IMPORTED)
    set_target_properties(torch PROPERTIES
      INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_C10D_GLOO"
      INTERFACE_INCLUDE_DIRECTORIES "${ATTEND_TORCH}/include;${ATTEND_TORCH}/include/torch/csrc/api/include"
      INTERFACE_LINK_LIBRARIES "${ATTEND_TORCH}/lib/libtorch_cpu.so;${ATTEND_TORCH}/lib/libc10.so")
  else()
    find_package(Torch 2.11 REQUIRED)
  endif()
  unset(kineto_LIBRARY)
  find_package(mimalloc 2.0 REQUIRED)
  # LibTorch holds Gloo, but not the headers that c10d's include.
  find_path(ATTEND_GLOO_INCLUDE gloo/context.h REQUIRED)
  # The same of NCCL, whose header comes with PyPI's torch, or with Debian's libnccl-dev.
  if(TARGET torch_cuda)
    find_path(ATTEND_NCCL_INCLUDE nccl.h HINTS ${ATTEND_TORCH}/../nvidia/nccl/include)
    if(NOT ATTEND_NCCL_INCLUDE)
      message(WARNING "nccl.h was not found: one process trains on one GPU, and no more of them together")
    endif()
  endif()
  # A folder with nothing but the system's fmt, to be searched before LibTorch's own copy of another version.
  get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  set(ATTEND_FMT_HEADERS ${PROJECT_BINARY_DIR}/fmt_headers)
  file(MAKE_DIRECTORY ${ATTEND_FMT_HEADERS})
  file(CREATE_LINK ${fmt_include}/fmt ${ATTEND_FMT_HEADERS}/fmt SYMBOLIC)
endif()

# The tests, by default where GoogleTest is.
find_package(GTest QUIET)
option(ATTEND_TESTS "build the tests (needs GoogleTest)" ${GTest_FOUND})
if(ATTEND_TESTS)
  find_package(GTest REQUIRED)
  if(NOT TARGET GTest::gmock)
    add_library(GTest::gmock INTERFACE IMPORTED)
    target_link_libraries(GTest::gmock INTERFACE gmock)
  endif()
endif()
