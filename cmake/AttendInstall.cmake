# `cmake --install`: programs, public headers, static libraries with the static ones inside them, and a package for
# find_package(attend [COMPONENTS train]).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/attend)

install(TARGETS attend_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# Manual pages and shell completion, of docs/options.md. Made now, since every way of building installs them.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS docs/options.md tools/option_list.py tools/man_pages tools/completions)
foreach(made man_pages completions)
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/${made} ${PROJECT_BINARY_DIR}/${made}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/man_pages/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/completions/attend DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/completions/_attend DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_BINARY_DIR}/completions/attend.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY include/attend DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} PATTERN nn EXCLUDE)
install(TARGETS attend EXPORT attendTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT attendTargets NAMESPACE attend:: DESTINATION ${package_folder})
install(FILES ${ATTEND_SENTENCEPIECE}/lib/libsentencepiece.a ${ATTEND_SENTENCEPIECE}/lib/libsentencepiece_train.a
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/attend)
install(FILES LICENSE NOTICE THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET attend_train_program)
  install(TARGETS attend_train_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY include/attend/nn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attend)
  install(TARGETS attend_train EXPORT attendTrainTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT attendTrainTargets NAMESPACE attend:: DESTINATION ${package_folder})
endif()

configure_package_config_file(cmake/attendConfig.cmake.in ${PROJECT_BINARY_DIR}/attendConfig.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attendConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attendConfig.cmake ${PROJECT_BINARY_DIR}/attendConfigVersion.cmake
  DESTINATION ${package_folder})
