# Defines the installed files of `cmake --install`, and the Debian packages that `cpack` makes of them:
#   tidemark          the program, its unit, settings, manual, completions, protos, jars, documents
#   libtidemark-dev   headers, libraries, the CMake package
#   python3-tidemark  the package for Python
# This file is included last, since its targets must exist.

# The settings are below the prefix, or in /etc if the prefix is that of a distribution. The unit reads them there.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(settings_dir ${CMAKE_INSTALL_FULL_SYSCONFDIR}/tidemark)
else()
  set(settings_dir ${CMAKE_INSTALL_SYSCONFDIR}/tidemark)
endif()

configure_file(${PROJECT_SOURCE_DIR}/packaging/tidemark.service.in tidemark.service @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tidemark.service DESTINATION lib/systemd/system
        COMPONENT program)
# An installation keeps changed settings.
set(settings ${PROJECT_SOURCE_DIR}/packaging/tidemark.yaml)
install(CODE "
  set(folder \"${settings_dir}\")
  if(NOT IS_ABSOLUTE \"\${folder}\")
    set(folder \"\${CMAKE_INSTALL_PREFIX}/${settings_dir}\")
  endif()
  if(EXISTS \"\$ENV{DESTDIR}\${folder}/tidemark.yaml\")
    message(STATUS \"Kept: \${folder}/tidemark.yaml\")
  else()
    file(INSTALL \"${settings}\" DESTINATION \"\${folder}\")
  endif()" COMPONENT program)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program
        FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN internals EXCLUDE PATTERN images EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/packaging/proxy ${PROJECT_SOURCE_DIR}/packaging/kubernetes
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
file(RELATIVE_PATH data ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_DATADIR}/tidemark)
install(CODE "
  set(data \"${data}\")
  set(docs \"${CMAKE_INSTALL_DOCDIR}\")
  if(NOT IS_ABSOLUTE \"\${docs}\")
    set(docs \"\${CMAKE_INSTALL_PREFIX}/\${docs}\")
  endif()
  set(docs \"\$ENV{DESTDIR}\${docs}\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/InstalledLinks.cmake\")" COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/prometheus/tidemark.rules.yaml
              ${PROJECT_SOURCE_DIR}/packaging/prometheus/tidemark.rules.test.yaml
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tidemark/prometheus COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/data/graphs/musae-github.txt.zst
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tidemark/graphs COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/examples/python/report_job.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tidemark/examples COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/grafana/tidemark.json
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tidemark/grafana COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/tidemark.yaml
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
# Debian's policy requires this place.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/embedding
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libtidemark-dev/examples COMPONENT dev)
configure_file(${PROJECT_SOURCE_DIR}/packaging/tidemark.1.in tidemark.1 @ONLY)

# The program writes its completions itself.
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT tidemark.${shell} DEPENDS tidemark
    COMMAND tidemark completion ${shell} > tidemark.${shell})
  list(APPEND completions ${CMAKE_CURRENT_BINARY_DIR}/tidemark.${shell})
endforeach()
add_custom_target(tidemark_completions ALL DEPENDS ${completions})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tidemark.bash RENAME tidemark COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tidemark.zsh RENAME _tidemark COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tidemark.fish COMPONENT program
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The connectors, where InstalledFile() of cli/launch.cc expects them. Maven builds them.
foreach(engine ${TIDEMARK_ENGINES})
  install(FILES ${PROJECT_SOURCE_DIR}/agent/${engine}/target/tidemark-${engine}.jar
          DESTINATION ${CMAKE_INSTALL_DATADIR}/tidemark/jars COMPONENT program OPTIONAL)
endforeach()

# --- Debian packages ---

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tidemark)
set(CPACK_PACKAGE_VENDOR Tidemark)
set(CPACK_PACKAGE_CONTACT "Tidemark maintainers <tidemark@users.noreply.github.com>")
set(CPACK_SET_DESTDIR ON)  # some files are in /etc
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program dev python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME tidemark)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "init-system-helpers (>= 1.54)")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "prometheus, default-jre-headless")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "live progress of Hadoop and Spark jobs
Predicts the ends of MapReduce and Spark jobs from their finished work and
from past runs, and explains delays.
.
This package contains the command, the service, the connectors for Hadoop and
Spark, and the protocol files.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtidemark-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
# tidemarkConfig.cmake finds these packages.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "libgrpc++-dev, protobuf-compiler-grpc, libprotobuf-dev, protobuf-compiler, libssl-dev, libabsl-dev, libceres-dev, libfmt-dev, libxxhash-dev, libsqlite3-dev, pkg-config")
set(CPACK_DEBIAN_DEV_DESCRIPTION "library that reports and predicts the progress of jobs
Masters and agents of Tidemark for C++ programs. An application master embeds
a master, and its tasks report through agents.
.
This package contains headers, static libraries and a package for CMake.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-tidemark)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), python3-grpcio, python3-protobuf")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "progress of Hadoop and Spark jobs in Python
Client of a Tidemark master. It returns the progress and the predicted ends of
jobs, and draws a bar in terminals and notebooks.")

set(deb ${CMAKE_CURRENT_BINARY_DIR}/deb)
foreach(script postinst prerm postrm)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/deb/${script} ${deb}/${script} @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                  WORLD_READ WORLD_EXECUTE)
endforeach()
file(CONFIGURE OUTPUT ${deb}/conffiles CONTENT "/etc/tidemark/tidemark.yaml\n")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA
    "${deb}/postinst;${deb}/prerm;${deb}/postrm;${deb}/conffiles")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
# For other systems the package for Python comes from pip (docs/python.md).
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(python ${CMAKE_CURRENT_BINARY_DIR}/python)
  file(MAKE_DIRECTORY ${python})
  file(GLOB protos CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/proto/tidemark/v1/*.proto
       ${PROJECT_SOURCE_DIR}/proto/tidemark/rpc/v1/*.proto)
  # python/setup.py does the same.
  add_custom_command(OUTPUT ${python}/_wire.binpb DEPENDS ${protos}
    COMMAND protobuf::protoc -I ${PROJECT_SOURCE_DIR}/proto --include_imports
            --descriptor_set_out=${python}/_wire.binpb
            tidemark/v1/job_service.proto tidemark/rpc/v1/error_details.proto)
  add_custom_target(tidemark_python_descriptors ALL DEPENDS ${python}/_wire.binpb)
  file(CONFIGURE OUTPUT ${python}/METADATA
       CONTENT "Metadata-Version: 2.1\nName: tidemark\nVersion: @PROJECT_VERSION@\n")
  set(packages lib/python3/dist-packages)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/tidemark DESTINATION ${packages} COMPONENT python
          FILES_MATCHING PATTERN "*.py" PATTERN py.typed PATTERN __pycache__ EXCLUDE)
  install(FILES ${python}/_wire.binpb DESTINATION ${packages}/tidemark COMPONENT python)
  install(FILES ${python}/METADATA COMPONENT python
          DESTINATION ${packages}/tidemark-${PROJECT_VERSION}.dist-info)
endif()

# Debian's policy requires these files in addition.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # uses SOURCE_DATE_EPOCH if it is set
  configure_file(${PROJECT_SOURCE_DIR}/packaging/deb/changelog.in ${deb}/changelog.Debian @ONLY)
  execute_process(COMMAND gzip -9nf ${deb}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND gzip -9nc ${CMAKE_CURRENT_BINARY_DIR}/tidemark.1
                  OUTPUT_FILE ${deb}/tidemark.1.gz COMMAND_ERROR_IS_FATAL ANY)
  foreach(package tidemark libtidemark-dev python3-tidemark)
    string(REGEX REPLACE "^python3-tidemark$" python component ${package})
    string(REGEX REPLACE "^libtidemark-dev$" dev component ${component})
    string(REGEX REPLACE "^tidemark$" program component ${component})
    install(FILES ${PROJECT_SOURCE_DIR}/packaging/deb/copyright ${deb}/changelog.Debian.gz
            DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  endforeach()
  # Names the packages from which the program is linked, if dpkg knows them.
  install(CODE "
    execute_process(COMMAND python3 \"${PROJECT_SOURCE_DIR}/packaging/sbom.py\" \"$<TARGET_FILE:tidemark>\"
                            \"${CMAKE_BINARY_DIR}\" ${PROJECT_VERSION}
                    OUTPUT_FILE \"${CMAKE_BINARY_DIR}/tidemark.cdx.json\" COMMAND_ERROR_IS_FATAL ANY)
    " COMPONENT program)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tidemark.cdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
  execute_process(COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md
                  OUTPUT_FILE ${deb}/changelog.gz COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${deb}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
  install(FILES ${deb}/tidemark.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
else()
  install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tidemark.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
          COMPONENT program)
endif()
include(CPack)
