# `cmake --install`: programs, public headers, static libraries with the static ones inside them, and a package for
# find_package(attend [COMPONENTS train]).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/attend)

install(TARGETS attend_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
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
