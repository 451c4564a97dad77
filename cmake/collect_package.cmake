# The package for C++ programs that record themselves: a header, the recorder, and the sources of an observer of libtorch.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(STEPSCOPE_OBSERVER_SOURCES collect/clock.h collect/recorder.h collect/torch/collective.h collect/torch/device_memory.cpp
                               collect/torch/device_memory.h collect/torch/lookups.h
                               collect/torch/memory.cpp collect/torch/observer.cpp collect/torch/padding.h collect/torch/shapes.h collect/torch/signature.h record/format.h record/signature.h)

target_include_directories(stepscope_collect INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(stepscope_collect PROPERTIES EXPORT_NAME collect)
target_compile_features(stepscope_collect INTERFACE cxx_std_17)
install(TARGETS stepscope_collect EXPORT stepscopeTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT collect)
install(FILES include/stepscope/collect.h include/stepscope/io.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stepscope COMPONENT collect)
foreach(source ${STEPSCOPE_OBSERVER_SOURCES})
  get_filename_component(folder ${source} DIRECTORY)
  install(FILES src/${source} DESTINATION ${CMAKE_INSTALL_DATADIR}/stepscope/observer/${folder} COMPONENT collect)
endforeach()
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/stepscope)
install(EXPORT stepscopeTargets NAMESPACE stepscope:: DESTINATION ${package} COMPONENT collect)
configure_package_config_file(cmake/stepscopeConfig.cmake.in ${PROJECT_BINARY_DIR}/stepscopeConfig.cmake INSTALL_DESTINATION ${package}
                              PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stepscopeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stepscopeConfig.cmake ${PROJECT_BINARY_DIR}/stepscopeConfigVersion.cmake DESTINATION ${package}
        COMPONENT collect)
