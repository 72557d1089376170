function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${result}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
# What clients in other languages are made of is there and complete.
run(protoc -I ${WORK_DIR}/prefix/share/tidemark/proto -o ${WORK_DIR}/prefix/api.binpb
  tidemark/v1/ingest_service.proto tidemark/v1/job_service.proto tidemark/rpc/v1/error_details.proto)
foreach(file bin/tidemark lib/systemd/system/tidemark.service share/doc/tidemark/serve.md
             share/doc/tidemark/tidemark.yaml share/tidemark/proto/tidemark/v1/job_service.proto)
  if(NOT EXISTS ${WORK_DIR}/prefix/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
file(STRINGS ${WORK_DIR}/prefix/lib/systemd/system/tidemark.service commands REGEX "^Exec")
foreach(command IN LISTS commands)
  if(NOT command MATCHES "=${PREFIX}/bin/tidemark ")
    message(FATAL_ERROR "the unit does not run what is installed: ${command}")
  endif()
endforeach()
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/examples/embedding -B ${WORK_DIR}/build -G ${GENERATOR}
  -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix -D CMAKE_BUILD_TYPE=${BUILD_TYPE}
  -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${CXX_LAUNCHER}
  -D CMAKE_CXX_FLAGS=${CXX_FLAGS})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(bash ${CMAKE_CURRENT_LIST_DIR}/embedding_test.sh ${WORK_DIR}/build/embedding)
file(REMOVE_RECURSE ${WORK_DIR})
