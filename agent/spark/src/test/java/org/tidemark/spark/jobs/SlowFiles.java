package org.tidemark.spark.jobs;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.TaskContext;

/** The local files under the scheme "slow". A task sleeps before each read. */
public final class SlowFiles extends RawLocalFileSystem {
  private static final long SLEEP_MILLIS = 300;
  private static final AtomicLong SLEPT_NANOS = new AtomicLong();

  /** Returns the time for which the tasks of this process slept. */
  public static long sleptMicros() {
    return SLEPT_NANOS.get() / 1_000;
  }

  @Override
  public String getScheme() {
    return "slow";
  }

  @Override
  public URI getUri() {
    return URI.create("slow:///");
  }

  @Override
  public FSDataInputStream open(Path path, int bufferBytes) throws IOException {
    return new FSDataInputStream(new SlowStream(super.open(path, bufferBytes)));
  }

  private static final class SlowStream extends FSInputStream {
    private final FSDataInputStream file;

    SlowStream(FSDataInputStream file) {
      this.file = file;
    }

    @Override
    public int read() throws IOException {
      sleep();
      return file.read();
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      sleep();
      return file.read(buffer, offset, length);
    }

    @Override
    public void seek(long position) throws IOException {
      file.seek(position);
    }

    @Override
    public long getPos() throws IOException {
      return file.getPos();
    }

    @Override
    public boolean seekToNewSource(long position) {
      return false;
    }

    @Override
    public void close() throws IOException {
      file.close();
    }

    private static void sleep() throws IOException {
      if (TaskContext.get() == null) {
        return;
      }
      final long start = System.nanoTime();
      try {
        Thread.sleep(SLEEP_MILLIS);
      } catch (InterruptedException interrupted) {
        throw new InterruptedIOException();
      }
      SLEPT_NANOS.addAndGet(System.nanoTime() - start);
    }
  }
}
