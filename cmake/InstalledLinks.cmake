# Links of the installed documents lead to what is installed, where it is installed; of links to what is in the source alone
# their words are left, and its name.
#   docs  the folder of the documents
#   data  the folder of the program's data, relative to it

# Before and after; @ stands for what is done.
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
  # Links out of the folder, and into those that are not installed. From tours/, the folder is `../`.
  set(out "\\.\\./")
  if(file MATCHES "/tours/[^/]*$")
    set(out "\\.\\./\\.\\./")
  endif()
  string(REGEX REPLACE "!?\\[([^]]*)\\]\\(${out}([^)#]*)(#[^)]*)?\\)" "\\1 (\\2 in the source)" text "${text}")
  string(REGEX REPLACE "!?\\[([^]]*)\\]\\(((adr|images)/[^)#]*)(#[^)]*)?\\)" "\\1 (docs/\\2 in the source)" text "${text}")
  string(REPLACE "](@" "](" text "${text}")
  file(WRITE "${file}" "${text}")
endforeach()
