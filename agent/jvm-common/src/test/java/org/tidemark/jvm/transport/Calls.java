package org.tidemark.jvm.transport;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.tidemark.jvm.wire.ProtoWriter;

/** The master's side of a call. */
final class Calls {
  static final int PREFACE_BYTES = 24;

  private Calls() {}

  /** Reads the start of a call up to the first frame of this type. */
  static Http2.Frame skipTo(int type, InputStream in) throws IOException {
    new DataInputStream(in).readFully(new byte[PREFACE_BYTES]);
    return next(type, in);
  }

  /** Returns the next frame of this type. */
  static Http2.Frame next(int type, InputStream in) throws IOException {
    Http2.Frame frame = new Http2.FrameReader(in).read();
    while (frame.type != type) {
      frame = new Http2.FrameReader(in).read();
    }
    return frame;
  }

  /** Returns the message preceded by its length, as in a call. */
  static byte[] framed(byte[] message) {
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(0);
    out.writeBytes(Http2.int32(message.length));
    out.writeBytes(message);
    return out.toByteArray();
  }

  static void answer(OutputStream out, ProtoWriter response) throws IOException {
    send(out, Http2.DATA, 0, 1, framed(response.toByteArray()));
  }

  static void send(OutputStream out, int type, int flags, int stream, byte[] payload)
      throws IOException {
    Http2.write(out, type, flags, stream, payload);
    out.flush();
  }
}
