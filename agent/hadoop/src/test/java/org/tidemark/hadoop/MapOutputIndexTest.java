package org.tidemark.hadoop;

import static org.junit.Assert.assertEquals;

import java.io.File;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.SpillRecord;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class MapOutputIndexTest {
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private final JobConf job = new JobConf();

  private Path file() {
    return new Path(new File(folder.getRoot(), "file.out.index").toURI());
  }

  @Test
  public void everyPartitionIsAtTheOffsetWrittenByHadoop() throws Exception {
    final int partitions = 700;
    final SpillRecord written = new SpillRecord(partitions);
    for (int i = 0; i < partitions; ++i) {
      written.putIndex(new IndexRecord(5_000_000_000L * i, 7L + i, 11L + 2 * i), i);
    }
    written.writeToFile(file(), job);
    final MapOutputIndex read = MapOutputIndex.read(job, file());
    assertEquals(partitions, read.partitions());
    for (int i = 0; i < partitions; ++i) {
      assertEquals(5_000_000_000L * i, read.startOffset(i));
      assertEquals(7L + i, read.recordBytes(i));
      assertEquals(11L + 2 * i, read.partBytes(i));
    }
  }

  @Test
  public void anOutputWithoutPartitionsHasNone() throws Exception {
    new SpillRecord(0).writeToFile(file(), job);
    assertEquals(0, MapOutputIndex.read(job, file()).partitions());
  }

  /** Only Hadoop's collector writes an index. */
  @Test(expected = IOException.class)
  public void aMissingIndexYieldsNoSizes() throws Exception {
    MapOutputIndex.read(job, file());
  }
}
