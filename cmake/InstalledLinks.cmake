# Rewrites the links of the installed documents to the installed files. A link to a file that only the source contains
# becomes its text and the name of the file.
#   docs  the folder of the documents
#   data  the folder of the program's data, relative to it

# Pairs of an old and a new prefix. @ marks rewritten links, which later steps leave unchanged.
set(moved "../packaging/prometheus/" "@${data}/prometheus/" "../packaging/grafana/" "@${data}/grafana/"
          "../packaging/proxy/" "@proxy/" "../packaging/kubernetes/" "@kubernetes/"
          "../packaging/tidemark.yaml" "@tidemark.yaml" "../proto/tidemark/v1/" "@${data}/proto/tidemark/v1/")

file(GLOB files "${docs}/*.md" "${docs}/tours/*.md")
list(FILTER files EXCLUDE REGEX "/CHANGELOG.md$")  # not of this folder in the source
foreach(file IN LISTS files)
  file(READ "${file}" text)
  set(left ${moved})
  while(left)
    list(POP_FRONT left from to)
    string(REPLACE "](${from}" "](${to}" text "${text}")
  endwhile()
  # These links lead out of the folder, or into folders that are not installed. From tours/, the folder is `../`.
  set(out "\\.\\./")
  if(file MATCHES "/tours/[^/]*$")
    set(out "\\.\\./\\.\\./")
  endif()
  string(REGEX REPLACE "!?\\[([^]]*)\\]\\(${out}([^)#]*)(#[^)]*)?\\)" "\\1 (\\2 in the source)" text "${text}")
  string(REGEX REPLACE "!?\\[([^]]*)\\]\\((\\.\\./)?((internals|images)/[^)#]*)(#[^)]*)?\\)" "\\1 (docs/\\3 in the source)" text "${text}")
  string(REPLACE "](@" "](" text "${text}")
  file(WRITE "${file}" "${text}")
endforeach()
