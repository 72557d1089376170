package org.tidemark.jvm.transport;

import java.util.Locale;

/** Where a master is, and how it and we know each other. Immutable. */
public final class Endpoint {
  private static final int PORT_MAX = 65_535;

  final String host;
  final int port;
  final String token;
  /** Null: the connection is not encrypted. */
  final Tls tls;

  private Endpoint(String host, int port, String token, Tls tls) {
    this.host = host;
    this.port = port;
    this.token = token;
    this.tls = tls;
  }

  /**
   * Of {@code host:port}, where an IPv6 address is in brackets; null if it is none. {@code tls} may
   * be null: then the token, empty if there is none, is kept back from addresses that are not this
   * machine's.
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
    // Without brackets it is unclear where the address ends: ::1:7411 is an address, too.
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

  // As transport/local_address.cc: a name such as 127.evil.example must not pass for an address.
  private static boolean isLocal(String host) {
    return host.toLowerCase(Locale.ROOT).equals("localhost")
        || host.equals("[::1]")
        || host.matches("127\\.[0-9.]*");
  }
}
