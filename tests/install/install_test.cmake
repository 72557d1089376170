function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${result}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
# The proto files for clients in other languages are installed completely.
run(protoc -I ${WORK_DIR}/prefix/share/tidemark/proto -o ${WORK_DIR}/prefix/api.binpb
  tidemark/v1/ingest_service.proto tidemark/v1/job_service.proto tidemark/rpc/v1/error_details.proto)
foreach(file bin/tidemark lib/systemd/system/tidemark.service etc/tidemark/tidemark.yaml
             share/bash-completion/completions/tidemark share/doc/tidemark/alerts.md
             share/doc/tidemark/openlineage/ProgressRunFacet.json
             share/doc/tidemark/serve.md share/doc/tidemark/tidemark.yaml
             share/fish/vendor_completions.d/tidemark.fish share/man/man1/tidemark.1
             share/tidemark/examples/report_job.py
             share/tidemark/grafana/tidemark.json
             share/tidemark/prometheus/tidemark.rules.yaml
             share/tidemark/proto/tidemark/v1/job_service.proto
             share/zsh/vendor-completions/_tidemark)
  if(NOT EXISTS ${WORK_DIR}/prefix/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
# All links of the documents lead to installed files. Brackets would join the items of a list.
file(GLOB_RECURSE documents ${WORK_DIR}/prefix/share/doc/tidemark/*.md)
list(FILTER documents EXCLUDE REGEX "/CHANGELOG.md$")
foreach(document IN LISTS documents)
  file(READ ${document} text)
  string(REPLACE "](" "LINK " text "${text}")
  string(REGEX REPLACE "[][;]" "" text "${text}")
  string(REGEX MATCHALL "LINK [^)#: \n]+[)#]" links "${text}")
  cmake_path(GET document PARENT_PATH folder)
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^LINK (.*)[)#]$" "\\1" link "${link}")
    if(NOT EXISTS ${folder}/${link})
      message(FATAL_ERROR "${document} has a link to ${link}, which is not there")
    endif()
  endforeach()
endforeach()
file(STRINGS ${WORK_DIR}/prefix/lib/systemd/system/tidemark.service commands REGEX "^Exec")
foreach(command IN LISTS commands)
  if(NOT command MATCHES "=${PREFIX}/bin/tidemark ")
    message(FATAL_ERROR "the unit does not run what is installed: ${command}")
  endif()
endforeach()
foreach(command IN LISTS commands)
  if(NOT command MATCHES "--config ${PREFIX}/etc/tidemark/tidemark.yaml ")
    message(FATAL_ERROR "the unit does not read the settings that are installed: ${command}")
  endif()
endforeach()
# Each command is in the manual.
execute_process(COMMAND ${WORK_DIR}/prefix/bin/tidemark --help OUTPUT_VARIABLE help)
file(READ ${WORK_DIR}/prefix/share/man/man1/tidemark.1 manual)
string(REPLACE "\\-" "-" manual "${manual}")
string(REGEX MATCH "Subcommands:.*" help "${help}")
string(REGEX MATCHALL "\n  [a-z-]+ " names "${help}")
list(LENGTH names count)
if(count LESS 10)
  message(FATAL_ERROR "no subcommands in the help: ${help}")
endif()
foreach(name IN LISTS names)
  string(STRIP "${name}" name)
  if(NOT manual MATCHES "[^a-z-]${name}[^a-z-]")
    message(FATAL_ERROR "the manual says nothing of `tidemark ${name}`")
  endif()
endforeach()
# Changed settings are kept, and a jar in the package's place is found.
file(APPEND ${WORK_DIR}/prefix/etc/tidemark/tidemark.yaml "# mine\n")
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix --component program)
file(STRINGS ${WORK_DIR}/prefix/etc/tidemark/tidemark.yaml mine REGEX "^# mine")
if(NOT mine)
  message(FATAL_ERROR "installing again has overwritten the settings")
endif()
file(WRITE ${WORK_DIR}/prefix/share/tidemark/jars/tidemark-spark.jar "no jar")
execute_process(COMMAND ${WORK_DIR}/prefix/bin/tidemark run spark -- spark-submit a.py ERROR_VARIABLE said
                RESULT_VARIABLE result)
if(NOT result EQUAL 2 OR NOT said MATCHES "${WORK_DIR}/prefix/share/tidemark/jars/tidemark-spark.jar: not a jar")
  message(FATAL_ERROR "the installed connector is not looked for: ${said}")
endif()
run(${CMAKE_COMMAND} -S ${WORK_DIR}/prefix/share/doc/libtidemark-dev/examples/embedding -B ${WORK_DIR}/build -G ${GENERATOR}
  -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix -D CMAKE_BUILD_TYPE=${BUILD_TYPE}
  -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${CXX_LAUNCHER}
  -D CMAKE_CXX_FLAGS=${CXX_FLAGS})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(bash ${CMAKE_CURRENT_LIST_DIR}/embedding_test.sh ${WORK_DIR}/build/embedding)
file(REMOVE_RECURSE ${WORK_DIR})
