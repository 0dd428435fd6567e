include(GNUInstallDirs)
install(TARGETS attend_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
