package org.tidemark.jvm.transport;

import java.util.Locale;

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
