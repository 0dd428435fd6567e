# Uses ccache where it is present; results are shared between checkouts of the project.
find_program(ATTEND_CCACHE ccache)
if(ATTEND_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${ATTEND_CCACHE})
endif()
