"""Two programs that load, filter and condense text files, after section 7.2 of the gray-box paper.

gdelt: events of web sites. Keeps events with a tone, and the mean tone of each site above a threshold.
weather: observations and sensors, filtered and joined by sensor. Counts the observations of each sensor above a threshold.

usage: materialization.py make DIR SCALE
       materialization.py PROGRAM DIR plain THRESHOLD
       materialization.py PROGRAM DIR write POINT THRESHOLD    computes a result, writes it and continues
       materialization.py PROGRAM DIR read POINT THRESHOLD     continues from the written result
Prints the number and sum of the final rows, and the seconds since the first access to the data.
"""

import sys
import time

from pyspark.sql import SparkSession, functions as f

EVENTS = 9_000_000
OBSERVATIONS = 9_000_000
SENSORS = 20_000


def make(spark, folder, scale):
    """Writes text files from hashes of row numbers, the same ones each time."""
    def part(name, most):
        return (f.abs(f.xxhash64(f.lit(name), "id")) % most)
    events = spark.range(int(EVENTS * scale), numPartitions=8).select(
        (f.lit(20200000) + part("day", 366)).alias("day"),
        f.concat(f.lit("https://www.site-"), part("site", 40_000), f.lit(".example.org/")).alias("site"),
        f.when(part("known", 10) > 0, part("tone", 2000) - 1000).alias("tone"),
        f.concat(f.lit("actor "), part("actor", 5000)).alias("actor"),
        f.concat(f.lit("country "), part("country", 200)).alias("country"),
        part("articles", 100).alias("articles"),
        f.hex(f.xxhash64(f.lit("note"), "id")).alias("note"))
    events.write.mode("overwrite").csv(f"{folder}/events")
    observations = spark.range(int(OBSERVATIONS * scale), numPartitions=8).select(
        part("sensor", SENSORS).alias("sensor"),
        (f.lit(1_600_000_000) + part("second", 30_000_000)).alias("second"),
        f.concat(f.lit("kind "), part("kind", 4)).alias("kind"),
        (part("value", 10_000) - 4000).alias("value"),
        f.hex(f.xxhash64(f.lit("note"), "id")).alias("note"))
    observations.write.mode("overwrite").csv(f"{folder}/observations")
    sensors = spark.range(SENSORS).select(
        f.col("id").alias("sensor"), f.concat(f.lit("station "), part("station", 3000)).alias("station"),
        (part("height", 4000)).alias("height"))
    sensors.coalesce(1).write.mode("overwrite").csv(f"{folder}/sensors")


def gdelt(spark, folder):
    """Returns the intermediate results, each with its continuation."""
    yield "filtered", lambda _: (
        spark.read.schema("day INT, site STRING, tone INT, actor STRING, country STRING, articles INT, note STRING")
        .csv(f"{folder}/events")
        .where("tone IS NOT NULL AND articles >= 5")
        .select(f.lower("site").alias("site"), "tone"))
    yield "condensed", lambda filtered: filtered.groupBy("site").agg(f.avg("tone").alias("weight"))


def weather(spark, folder):
    def joined(_):
        observations = (
            spark.read.schema("sensor LONG, second LONG, kind STRING, value INT, note STRING")
            .csv(f"{folder}/observations").where("kind IN ('kind 1', 'kind 2') AND value > 0"))
        sensors = (spark.read.schema("sensor LONG, station STRING, height INT").csv(f"{folder}/sensors")
                   .where("height < 3000"))
        return observations.join(sensors, "sensor").select("sensor", "value")
    yield "joined", joined
    yield "condensed", lambda found: found.groupBy("sensor").agg(f.count("value").cast("double").alias("weight"))


PROGRAMS = {"gdelt": gdelt, "weather": weather}


def run(spark, program, folder, how, point, threshold):
    begin = time.monotonic()
    result = None
    is_there = how != "read"
    kept = f"{folder}/kept-{program}-{point}"
    for name, step in PROGRAMS[program](spark, folder):
        if is_there:
            result = step(result)
        if name == point:
            if how == "write":
                result.write.mode("overwrite").parquet(kept)
            result = spark.read.parquet(kept)
            is_there = True
    rows, total = result.where(f.col("weight") > threshold).agg(f.count("*"), f.sum("weight")).first()
    print(f"RESULT {rows} {total or 0:.3f}")
    print(f"SECONDS {time.monotonic() - begin:.3f}")


def main():
    spark = SparkSession.builder.getOrCreate()
    if sys.argv[1] == "make":
        make(spark, sys.argv[2], float(sys.argv[3]))
    else:
        program, folder, how, *rest = sys.argv[1:]
        run(spark, program, folder, how, rest[0] if len(rest) > 1 else None, float(rest[-1]))
    spark.stop()


if __name__ == "__main__":
    main()
