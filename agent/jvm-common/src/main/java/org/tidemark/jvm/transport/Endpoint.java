package org.tidemark.jvm.transport;

import java.io.File;
import java.util.Locale;
import java.util.function.UnaryOperator;

/** The address of a master, and the credentials of both sides. Immutable. */
public final class Endpoint {
  private static final int PORT_MAX = 65_535;

  final String host;
  final int port;
  final String token;
  /** Null if the connection is not encrypted. */
  final Tls tls;

  private Endpoint(String host, int port, String token, Tls tls) {
    this.host = host;
    this.port = port;
    this.token = token;
    this.tls = tls;
  }

  /**
   * Parses {@code host:port}, with brackets around an IPv6 address. Returns null for an invalid
   * address. {@code tls} may be null; the token, which may be empty, is then sent only to addresses
   * of this machine.
   */
  public static Endpoint of(String address, String token, Tls tls) {
    final int colon = address.lastIndexOf(':');
    if (colon <= 0) {
      return null;
    }
    final String host = address.substring(0, colon);
    final String port = address.substring(colon + 1);
    if (!port.matches("[0-9]{1,5}") || Integer.parseInt(port) > PORT_MAX) {
      return null;
    }
    // Without brackets, the end of the address would be ambiguous, since ::1:7411 is also an
    // address.
    if (!host.matches("[^:\\[\\]]+|\\[[^\\[\\]]+\\]")) {
      return null;
    }
    return new Endpoint(
        host, Integer.parseInt(port), tls == null && !isLocal(host) ? "" : token, tls);
  }

  /**
   * Returns the master that the settings name, or null if they name none. {@code settings} returns
   * a trimmed value, or an empty string. {@code prefix} is the common part of the names, such as
   * "spark.tidemark". Throws IllegalArgumentException if the address is invalid.
   */
  public static Endpoint in(UnaryOperator<String> settings, String prefix, String token) {
    final String address = settings.apply(prefix + ".master");
    if (address.isEmpty()) {
      return null;
    }
    final File authorities = file(settings, prefix + ".tls.ca");
    final Tls tls =
        authorities == null
            ? null
            : new Tls(
                authorities,
                file(settings, prefix + ".tls.certificate"),
                file(settings, prefix + ".tls.key"),
                settings.apply(prefix + ".tls.server.name"));
    final Endpoint master = of(address, token, tls);
    if (master == null) {
      throw new IllegalArgumentException(
          prefix
              + ".master is not HOST:PORT, with an IPv6 address in brackets ([::1]:7411): "
              + address);
    }
    return master;
  }

  private static File file(UnaryOperator<String> settings, String key) {
    final String name = settings.apply(key);
    return name.isEmpty() ? null : new File(name);
  }

  String authority() {
    return host + ":" + port;
  }

  String scheme() {
    return tls == null ? "http" : "https";
  }

  // As in transport/listen_address.cc, a name such as 127.evil.example is not an address.
  private static boolean isLocal(String host) {
    return host.toLowerCase(Locale.ROOT).equals("localhost")
        || host.equals("[::1]")
        || host.matches("127\\.[0-9.]*");
  }
}
