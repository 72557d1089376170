package org.tidemark.jvm.support;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A certificate authority, which issues certificates for one test with openssl. */
public final class Certificates {
  /** A certificate and its key, as PEM files. */
  public static final class Pair {
    public final File certificate;
    public final File key;

    private Pair(File folder, String name) {
      certificate = new File(folder, name + ".crt");
      key = new File(folder, name + ".key");
    }
  }

  private final File folder;
  private final Pair authority;

  public Certificates(File folder) throws Exception {
    this.folder = folder;
    authority = new Pair(folder, "authority");
    final List<String> words = request(authority, "ec");
    words.addAll(Arrays.asList("-x509", "-days", "2", "-subj", "/CN=authority"));
    words.addAll(Arrays.asList("-out", authority.certificate.getPath()));
    openssl(words);
  }

  /** Returns the certificate of the authority. */
  public File authority() {
    return authority.certificate;
  }

  /**
   * {@code names} has the form of subjectAltName, such as IP:127.0.0.1. {@code kind} is the kind of
   * key, either ec or rsa.
   */
  public Pair issue(String name, String names, String kind) throws Exception {
    final Pair pair = new Pair(folder, name);
    final File asked = new File(folder, name + ".csr");
    final List<String> words = request(pair, kind);
    words.addAll(Arrays.asList("-subj", "/CN=" + name, "-out", asked.getPath()));
    openssl(words);
    final File extensions = new File(folder, name + ".ext");
    Files.write(
        extensions.toPath(), ("subjectAltName=" + names).getBytes(StandardCharsets.US_ASCII));
    openssl(
        Arrays.asList(
            "x509", "-req", "-days", "2", "-CAcreateserial",
            "-in", asked.getPath(),
            "-CA", authority.certificate.getPath(),
            "-CAkey", authority.key.getPath(),
            "-extfile", extensions.getPath(),
            "-out", pair.certificate.getPath()));
    return pair;
  }

  private static List<String> request(Pair pair, String kind) {
    final List<String> words = new ArrayList<>(Arrays.asList("req", "-nodes", "-newkey"));
    words.addAll(
        kind.equals("ec")
            ? Arrays.asList("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
            : Arrays.asList("rsa:2048"));
    words.addAll(Arrays.asList("-keyout", pair.key.getPath()));
    return words;
  }

  private void openssl(List<String> words) throws IOException, InterruptedException {
    final List<String> command = new ArrayList<>(words);
    command.add(0, "openssl");
    final File says = new File(folder, "openssl.log");
    final Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(says).start();
    if (process.waitFor() != 0) {
      throw new IOException(
          command + ": " + new String(Files.readAllBytes(says.toPath()), StandardCharsets.UTF_8));
    }
  }
}
