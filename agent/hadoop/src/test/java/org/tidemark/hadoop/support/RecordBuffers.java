package org.tidemark.hadoop.support;

import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;

/** Generated records. Subclasses write each record into the buffers. */
public abstract class RecordBuffers implements RawKeyValueIterator {
  protected final DataInputBuffer key = new DataInputBuffer();
  protected final DataInputBuffer value = new DataInputBuffer();
  private final Progress progress = new Progress();

  @Override
  public final DataInputBuffer getKey() {
    return key;
  }

  @Override
  public final DataInputBuffer getValue() {
    return value;
  }

  @Override
  public final Progress getProgress() {
    return progress;
  }

  @Override
  public final void close() {}
}
