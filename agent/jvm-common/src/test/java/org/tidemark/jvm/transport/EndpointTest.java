package org.tidemark.jvm.transport;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import java.io.File;
import org.junit.Test;

public class EndpointTest {
  private static String tokenFor(String address, Tls tls) {
    return Endpoint.of(address, "a token", tls).token;
  }

  @Test
  public void aTokenIsNotSentToOtherMachinesWithoutTls() {
    assertEquals("a token", tokenFor("127.0.0.1:7411", null));
    assertEquals("a token", tokenFor("localhost:7411", null));
    assertEquals("a token", tokenFor("[::1]:7411", null));
    assertEquals("", tokenFor("10.0.0.1:7411", null));
    assertEquals("", tokenFor("127.evil.example:7411", null));
  }

  @Test
  public void overTlsATokenTravels() {
    assertEquals("a token", tokenFor("10.0.0.1:7411", new Tls(new File("ca"), null, null, "")));
  }

  @Test
  public void anIpv6AddressIsInBrackets() {
    assertEquals("[2001:db8::1]", Endpoint.of("[2001:db8::1]:7411", "", null).host);
    assertNull(Endpoint.of("2001:db8::1:7411", "", null));
    assertNull(Endpoint.of("::1", "", null));
    assertNull(Endpoint.of("::1]:7411", "", null));
    assertNull(Endpoint.of("[::1:7411", "", null));
    assertNull(Endpoint.of("[]:7411", "", null));
  }

  @Test
  public void anAddressWithoutAPortIsInvalid() {
    assertNull(Endpoint.of("", "", null));
    assertNull(Endpoint.of("master.example", "", null));
    assertNull(Endpoint.of("master.example:", "", null));
    assertNull(Endpoint.of("master.example:http", "", null));
    assertNull(Endpoint.of("master.example:65536", "", null));
  }
}
