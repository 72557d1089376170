package org.tidemark.jvm.support;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.AssumptionViolatedException;

/**
 * A network namespace behind a virtual cable, which represents another machine. The machine can
 * become silent, so that packets vanish without an error. Requires root and iproute2; otherwise,
 * tests are skipped.
 */
public final class FarMachine implements AutoCloseable {
  // With a fixed address, silence does not become an error of address resolution.
  private static final String HARDWARE_ADDRESS = "02:00:00:00:00:02";

  /** The address without a port. */
  public final String address;

  private final String ourAddress;
  private final String name;
  private final String ourEnd;
  private final String farEnd;

  private FarMachine() {
    final long pid = ProcessHandle.current().pid();
    // The network reserved for benchmarks (RFC 2544).
    final String network = "198.18." + (pid >> 6 & 0xFF) + ".";
    final long first = (pid & 0x3F) * 4;
    name = "tidemark-" + pid;
    ourEnd = "tm" + pid + "a";
    farEnd = "tm" + pid + "b";
    ourAddress = network + (first + 1);
    address = network + (first + 2);
  }

  public static FarMachine start() throws Exception {
    final FarMachine machine = new FarMachine();
    try {
      machine.ip("netns", "add", machine.name);
    } catch (IOException notAllowed) {
      final String why = "SKIPPED: network namespaces need root and iproute2: ";
      System.out.println(why + notAllowed.getMessage());
      throw new AssumptionViolatedException(why, notAllowed);
    }
    try {
      machine.connect();
      return machine;
    } catch (Exception failed) {
      machine.close();
      throw failed;
    }
  }

  private void connect() throws Exception {
    ip("link", "add", ourEnd, "type", "veth", "peer", "name", farEnd,
        "address", HARDWARE_ADDRESS, "netns", name);
    ip("addr", "add", ourAddress + "/30", "dev", ourEnd);
    ip("link", "set", ourEnd, "up");
    ip("-n", name, "link", "set", farEnd, "up");
    ip("neigh", "replace", address, "lladdr", HARDWARE_ADDRESS, "dev", ourEnd, "nud", "permanent");
    speak();
  }

  /** Returns the prefix of a command that runs it in the namespace. */
  public List<String> within() {
    return Arrays.asList("ip", "netns", "exec", name);
  }

  /** Starts to drop all packets without an error. */
  public void fallSilent() throws Exception {
    ip("-n", name, "addr", "flush", "dev", farEnd);
  }

  /** Stops dropping packets. */
  public void speak() throws Exception {
    ip("-n", name, "addr", "add", address + "/30", "dev", farEnd);
  }

  @Override
  public void close() throws Exception {
    try {
      // Removes the cable immediately. Otherwise, it would exist for some time after its namespace,
      // and another cable may need its name.
      ip("link", "del", ourEnd);
    } catch (IOException neverLaid) {
      // The cable does not exist.
    }
    ip("netns", "del", name);
  }

  private void ip(String... words) throws IOException, InterruptedException {
    final List<String> command = new ArrayList<>(Arrays.asList(words));
    command.add(0, "ip");
    final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (InputStream in = process.getInputStream()) {
      final String says = new String(in.readAllBytes(), StandardCharsets.UTF_8).trim();
      if (process.waitFor() != 0) {
        throw new IOException(String.join(" ", command) + ": " + says);
      }
    }
  }
}
