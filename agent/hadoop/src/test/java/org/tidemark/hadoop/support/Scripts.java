package org.tidemark.hadoop.support;

import static org.junit.Assume.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * A Pig script and a Hive script, as commands of a shell whose $1 is the folder for the
 * output. A test without the jars (tests/hadoop/engines) is skipped.
 */
public final class Scripts {
  /** The folder that both scripts read. */
  public static final String WORDS = "/words";

  private static final String PIG =
      "lines = LOAD '" + WORDS + "' USING TextLoader() AS (line:chararray);\n"
          + "words = FOREACH lines GENERATE FLATTEN(TOKENIZE(line)) AS word;\n"
          + "counts = FOREACH (GROUP words BY word) GENERATE group, COUNT(words) AS n;\n"
          + "often = FOREACH (GROUP counts BY n) GENERATE group AS n, COUNT(counts) AS c;\n";

  private static final String SORT = "often = ORDER often BY n;\n";
  private static final String STORE = "STORE often INTO '$OUT';\n";

  private static final String HIVE =
      "drop table if exists lines;\n"
          + "create external table lines(line string) location '" + WORDS + "';\n"
          + "insert overwrite directory '${OUT}'\n"
          + "select length(a.word) l, count(distinct a.n) d, sum(b.n) s from\n"
          + "  (select word, count(*) n from lines lateral view\n"
          + "    explode(split(line, ' ')) w as word group by word) a join\n"
          + "  (select line, count(*) n from lines group by line) b\n"
          + "  on a.n = b.n group by length(a.word) order by l;\n";

  private Scripts() {}

  /** Writes the input. */
  public static void writeWords(Configuration conf, int lines) throws IOException {
    final Path path = new Path(WORDS, "part");
    try (FSDataOutputStream out = path.getFileSystem(conf).create(path)) {
      out.write(Inputs.words(lines, 10).getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Returns the names and contents of all files below a folder. */
  public static String content(Configuration conf, String folder) throws IOException {
    final FileSystem files = FileSystem.get(conf);
    final RemoteIterator<LocatedFileStatus> each = files.listFiles(new Path(folder), true);
    final Map<String, String> parts = new TreeMap<>();
    while (each.hasNext()) {
      final Path path = each.next().getPath();
      try (InputStream in = files.open(path)) {
        parts.put(
            path.toUri().getPath().substring(folder.length()), IOUtils.toString(in, "UTF-8"));
      }
    }
    final StringBuilder content = new StringBuilder();
    parts.forEach((name, text) -> content.append(name).append('\n').append(text));
    return content.toString();
  }

  /** Returns options for Java 9 and later that open internal packages to Pig and Hive. */
  public static String opens() {
    final StringBuilder opens = new StringBuilder();
    final String packages =
        "lang lang.reflect util util.concurrent util.concurrent.atomic util.regex math"
            + " net io nio text";
    for (String each : packages.split(" ")) {
      opens.append(" --add-opens=java.base/java.").append(each).append("=ALL-UNNAMED");
    }
    return opens.toString();
  }

  private static String jars(String engine) {
    final String folder = System.getProperty("tidemark." + engine, "");
    assumeTrue("no jars of " + engine, new File(folder).isDirectory());
    return folder;
  }

  private static String with(String jars) {
    return "export HADOOP_CLASSPATH=\"" + jars + "/*:$HADOOP_CLASSPATH\"\n"
        + "export JDK_JAVA_OPTIONS='" + opens() + "'\n";
  }

  private static File write(File folder, String name, String text) throws IOException {
    final File script = new File(folder, name);
    Files.write(script.toPath(), text.getBytes(StandardCharsets.UTF_8));
    return script;
  }

  /**
   * Returns commands that run the Pig script. {@code type} is mapreduce or tez. On Tez, it does
   * not sort, since Pig 0.17 cannot read the plan of a sort on newer versions of Java.
   */
  public static String pig(Client client, String type, File folder) throws IOException {
    final String jars = jars("pig");
    final boolean isTez = type.equals("tez");
    return with(jars) + client.program() + " jar " + jars + "/pig-0.17.0.jar -x " + type
        + " -p OUT=$1 " + write(folder, "words.pig", PIG + (isTez ? "" : SORT) + STORE) + "\n";
  }

  /** Returns commands that run the Hive script on MapReduce with a database in the folder. */
  public static String hive(Client client, File folder) throws IOException {
    final String jars = jars("hive");
    final Map<String, String> settings = new TreeMap<>();
    settings.put("hive.execution.engine", "mr");
    settings.put("hive.auto.convert.join", "false");
    settings.put("hive.async.log.enabled", "false");
    settings.put("hive.cbo.enable", "false");
    settings.put("hive.stats.autogather", "false");
    settings.put("hive.metastore.schema.verification", "false");
    settings.put("datanucleus.schema.autoCreateAll", "true");
    settings.put("hive.metastore.warehouse.dir", "/warehouse");
    settings.put("hive.exec.scratchdir", "/hive-scratch");
    settings.put("hive.exec.local.scratchdir", folder + "/scratch");
    settings.put("hive.downloaded.resources.dir", folder + "/resources");
    settings.put("hive.querylog.location", folder + "/log");
    settings.put(
        "javax.jdo.option.ConnectionURL",
        "jdbc:derby:;databaseName=" + folder + "/metastore;create=true");
    for (String kind : new String[] {"map", "reduce"}) {
      settings.put(
          "mapreduce." + kind + ".java.opts",
          "-Xmx160m -XX:+UseSerialGC -XX:TieredStopAtLevel=1" + opens());
    }
    // Hive 3 requires a URLClassLoader. On Java 9 and later, only Hadoop's client class loader is
    // one.
    final StringBuilder commands = new StringBuilder(with(jars));
    commands.append("export HADOOP_USE_CLIENT_CLASSLOADER=true\n");
    commands.append("export HADOOP_CLIENT_CLASSLOADER_SYSTEM_CLASSES=-org.apache.hadoop.hive.,");
    commands.append("org.apache.hadoop.,java.,javax.xml.,org.w3c.,org.xml.,org.slf4j.,");
    commands.append("org.apache.commons.logging.,org.apache.log4j.\n").append(client.program());
    commands.append(" jar ").append(jars).append("/hive-cli-3.1.3.jar");
    commands.append(" org.apache.hadoop.hive.cli.CliDriver --hivevar OUT=$1 -f ");
    // Hive ships the jars of ADD JAR in place of the jars in the settings.
    final String addJar = "add jar " + jars + "/commons-collections-3.2.2.jar;\n";
    commands.append(write(folder, "words.sql", addJar + HIVE));
    settings.forEach(
        (name, value) ->
            commands.append(" --hiveconf '").append(name).append('=').append(value).append('\''));
    return commands + "\n";
  }
}
