package org.tidemark.jvm.transport;

import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.Test;

public class Http2Test {
  @Test
  public void aCallNamesItsJobForRoutingProxies() throws IOException {
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    Http2.writeCall(out, Endpoint.of("127.0.0.1:7411", "", null), "/a/b", "t\u00e4glich 7%");
    final String sent = new String(out.toByteArray(), StandardCharsets.ISO_8859_1);
    // The same cases are in tests/transport/security_test.cc and tests/python/test_access.py.
    final String value = "t%C3%A4glich%207%25";
    assertTrue(sent, sent.contains("\u000ctidemark-job" + (char) value.length() + value));
  }
}
