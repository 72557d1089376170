package org.tidemark.jvm.transport;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * TLS to a master, using the JDK's own implementation and PEM files, which are read again for each
 * connection. Immutable.
 */
public final class Tls {
  private static final char[] NO_PASSWORD = {};
  private static final int FILE_BYTES_MAX = 1 << 20;
  private static final String[] KEY_ALGORITHMS = {"EC", "RSA"};
  // PKCS #8, which all current tools write. The JDK reads no other format.
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]*)-----END PRIVATE KEY-----");

  private final File authorities;
  private final File certificate;
  private final File key;
  private final String serverName;

  /**
   * {@code authorities} is a file with the authorities that signed the master's certificate. {@code
   * certificate} and {@code key} are for a master that requests client certificates, and may be
   * null. {@code serverName} is the name in the master's certificate. If it is empty, the name is
   * the master's host.
   */
  public Tls(File authorities, File certificate, File key, String serverName) {
    this.authorities = authorities;
    this.certificate = certificate;
    this.key = key;
    this.serverName = serverName;
  }

  /**
   * Performs the handshake on an open connection. The caller closes the connection, since closing
   * the result could block if the master does not read.
   */
  Socket over(Socket connection, String host) throws IOException {
    final String name = serverName.isEmpty() ? host : serverName;
    try {
      final SSLContext context = SSLContext.getInstance("TLS");
      context.init(keyManagers(), trusted().getTrustManagers(), null);
      final SSLSocket secure =
          (SSLSocket)
              context
                  .getSocketFactory()
                  .createSocket(connection, name, connection.getPort(), false);
      final SSLParameters parameters = secure.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      // Exists since Java 9, and since update 252 in Java 8.
      SSLParameters.class
          .getMethod("setApplicationProtocols", String[].class)
          .invoke(parameters, (Object) new String[] {"h2"});
      secure.setSSLParameters(parameters);
      secure.startHandshake();
      return secure;
    } catch (GeneralSecurityException | ReflectiveOperationException cannot) {
      throw new IOException("cannot set up TLS to the master", cannot);
    }
  }

  private TrustManagerFactory trusted() throws IOException, GeneralSecurityException {
    final KeyStore store = emptyStore();
    int entries = 0;
    for (Certificate authority : certificates(authorities)) {
      store.setCertificateEntry(Integer.toString(++entries), authority);
    }
    final TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory;
  }

  private KeyManager[] keyManagers() throws IOException, GeneralSecurityException {
    if (certificate == null) {
      return null;
    }
    final KeyStore store = emptyStore();
    store.setKeyEntry("client", privateKey(), NO_PASSWORD, certificates(certificate));
    final KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, NO_PASSWORD);
    return factory.getKeyManagers();
  }

  private static KeyStore emptyStore() throws IOException, GeneralSecurityException {
    // This type of key store spends no time on encryption, which is not needed because the store
    // never leaves memory.
    final KeyStore store = KeyStore.getInstance("JKS");
    store.load(null, null);
    return store;
  }

  private static Certificate[] certificates(File file)
      throws IOException, GeneralSecurityException {
    return CertificateFactory.getInstance("X.509")
        .generateCertificates(new ByteArrayInputStream(read(file)))
        .toArray(new Certificate[0]);
  }

  private PrivateKey privateKey() throws IOException, GeneralSecurityException {
    final Matcher block = KEY.matcher(new String(read(key), StandardCharsets.US_ASCII));
    if (!block.find()) {
      throw new InvalidKeySpecException(key + " contains no PKCS #8 private key");
    }
    final PKCS8EncodedKeySpec encoded =
        new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(block.group(1)));
    InvalidKeySpecException unknown = null;
    for (String algorithm : KEY_ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
      } catch (InvalidKeySpecException anotherKind) {
        unknown = anotherKind;
      }
    }
    throw unknown;
  }

  private static byte[] read(File file) throws IOException {
    if (file.length() > FILE_BYTES_MAX) {
      throw new IOException(file + " is too large for certificates or a key");
    }
    return Files.readAllBytes(file.toPath());
  }
}
