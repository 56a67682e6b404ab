# make install: libraries, headers, pkg-config file, CMake package, program, its scenes, manual pages
# and completion.
include(CMakePackageConfigHelpers)
install(TARGETS yawara_static yawara_shared EXPORT yawara-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/yawara DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET yawara)
  install(TARGETS yawara yawara-studies RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/yawara)
  # The page for `yawara view`, where make web has built it.
  install(DIRECTORY out/web DESTINATION ${CMAKE_INSTALL_DATADIR}/yawara OPTIONAL)
  # The program prints its own manual pages.
  set(YW_MANUAL ${CMAKE_BINARY_DIR}/man/yawara.1)
  add_custom_command(OUTPUT ${YW_MANUAL} DEPENDS yawara yawara-studies scripts/write_manual.sh
    COMMAND ${CMAKE_SOURCE_DIR}/scripts/write_manual.sh $<TARGET_FILE:yawara> ${CMAKE_BINARY_DIR}/man)
  add_custom_target(manual ALL DEPENDS ${YW_MANUAL})
  install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES apps/yawara/completion/yawara.bash RENAME yawara
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES apps/yawara/completion/_yawara DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES apps/yawara/completion/yawara.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
# Relative, so that the installed tree can be moved or staged.
file(RELATIVE_PATH YW_PC_PREFIX ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig
     ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/yawara.pc.in ${CMAKE_BINARY_DIR}/yawara.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/yawara.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT yawara-targets NAMESPACE yawara:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/yawara)
configure_package_config_file(cmake/yawara-config.cmake.in ${CMAKE_BINARY_DIR}/yawara-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/yawara)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/yawara-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/yawara-config.cmake ${CMAKE_BINARY_DIR}/yawara-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/yawara)
