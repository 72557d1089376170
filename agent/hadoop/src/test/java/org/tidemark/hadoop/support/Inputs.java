package org.tidemark.hadoop.support;

import java.util.Random;

/** Inputs that are the same in every run. */
public final class Inputs {
  private Inputs() {}

  /** Returns words whose frequencies follow a power law. */
  public static String words(int lines, int wordsPerLine) {
    final Random random = new Random(1);
    final StringBuilder text = new StringBuilder();
    for (int line = 0; line < lines; ++line) {
      for (int word = 0; word < wordsPerLine; ++word) {
        text.append('w').append(skewed(random, 20_000)).append(' ');
      }
      text.append('\n');
    }
    return text.toString();
  }

  /** Returns the same words with letters only. */
  public static String letters(int lines, int wordsPerLine) {
    final char[] text = words(lines, wordsPerLine).toCharArray();
    for (int i = 0; i < text.length; ++i) {
      if (Character.isDigit(text[i])) {
        text[i] = (char) ('a' + text[i] - '0');
      }
    }
    return new String(text);
  }

  /** Returns the edges of a graph in which few nodes have many neighbours. */
  public static String edges(int count, int nodes) {
    final Random random = new Random(2);
    final StringBuilder text = new StringBuilder("# from to\n");
    for (int edge = 0; edge < count; ++edge) {
      text.append(skewed(random, nodes)).append('\t').append(random.nextInt(nodes)).append('\n');
    }
    return text.toString();
  }

  /**
   * The number of distinct first numbers in pairs. It is so small that each map task can name all
   * of them.
   */
  public static final int FIRST_KEYS = 250;

  /** Returns pairs of numbers for SecondarySort. */
  public static String pairs(int count) {
    final Random random = new Random(3);
    final StringBuilder text = new StringBuilder();
    for (int pair = 0; pair < count; ++pair) {
      text.append(skewed(random, FIRST_KEYS)).append(' ').append(random.nextInt(1_000)).append('\n');
    }
    return text.toString();
  }

  private static int skewed(Random random, int bound) {
    return (int) (bound * Math.pow(random.nextDouble(), 3));
  }
}
