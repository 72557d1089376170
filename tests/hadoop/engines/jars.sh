# shellcheck shell=bash
# Defines jars(), for the tests of Hadoop and Tez. They set $root to the checkout.

# shellcheck disable=SC2154  # $root
# Prints the folder with the jars of Pig or Hive, which Maven keeps.
jars() {
  local folder=$root/.cache/tools/$1
  if ! [[ -d $folder ]]; then
    rm -rf "$folder.new" "$folder.patch"
    mvn --batch-mode --no-transfer-progress -q -f "$root/tests/hadoop/engines/pom.xml" -P "$1" \
      org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
      -DoutputDirectory="$folder.new" >&2
    if [[ $1 == hive ]]; then
      javac -nowarn -proc:none --release 8 -cp "$folder.new/*" -d "$folder.patch" \
        "$root/tests/hadoop/engines/SubLists.java"
      jar uf "$folder.new"/hive-exec-*.jar -C "$folder.patch" org
    fi
    mv "$folder.new" "$folder"
  fi
  echo "$folder"
}
