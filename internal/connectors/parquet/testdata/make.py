"""Writes the files of this folder that pyarrow has made (pip install pyarrow==26.0.1).

Usage: python make.py FOLDER
"""

import datetime as dt
import decimal
import sys
import uuid

import pyarrow as pa
import pyarrow.parquet as pq

folder = sys.argv[1]
D = decimal.Decimal


def write(name, table, **options):
    pq.write_table(table, f"{folder}/{name}.parquet", **options)


def times():
    us = [0, 1706706300123456, -1, None]
    ns = [0, 1706706300123456789, -1, None]
    ms = [0, 1706706300123, -1, None]
    clock = [0, 86399999, 43200500, None]
    return {
        "date": pa.array([0, 19753, -1, None], pa.int32()).cast(pa.date32()),
        "time_ms": pa.array(clock, pa.int32()).cast(pa.time32("ms")),
        "time_us": pa.array([0, 86399999999, 1, None], pa.int64()).cast(pa.time64("us")),
        "time_ns": pa.array([0, 86399999999999, 1, None], pa.int64()).cast(pa.time64("ns")),
        "ts_ms": pa.array(ms, pa.int64()).cast(pa.timestamp("ms")),
        "ts_us": pa.array(us, pa.int64()).cast(pa.timestamp("us")),
        "ts_ns": pa.array(ns, pa.int64()).cast(pa.timestamp("ns")),
        "in_ms": pa.array(ms, pa.int64()).cast(pa.timestamp("ms", "UTC")),
        "in_us": pa.array(us, pa.int64()).cast(pa.timestamp("us", "UTC")),
        "in_ns": pa.array(ns, pa.int64()).cast(pa.timestamp("ns", "UTC")),
    }


def scalars():
    ints = {}
    for bits in (8, 16, 32, 64):
        top = 2 ** (bits - 1)
        ints[f"i{bits}"] = pa.array([-top, top - 1, 0, None], getattr(pa, f"int{bits}")())
        ints[f"u{bits}"] = pa.array([0, 2 * top - 1, 1, None], getattr(pa, f"uint{bits}")())
    return ints | {
        "b": pa.array([True, False, True, None]),
        "f16": pa.array([1.5, float("nan"), -0.0, None], pa.float32()).cast(pa.float16()),
        "f32": pa.array([1.5, float("inf"), -0.0, None], pa.float32()),
        "f64": pa.array([0.1, float("nan"), -float("inf"), None], pa.float64()),
        "d9": pa.array([D("1234567.89"), D("-0.01"), D("0.00"), None], pa.decimal128(9, 2)),
        "d18": pa.array([D("99999999999999.9999"), D("-0.0001"), D("0"), None], pa.decimal128(18, 4)),
        "d38": pa.array([D("9" * 28 + "." + "9" * 10), D("-1.0000000001"), D("0"), None], pa.decimal128(38, 10)),
        "d76": pa.array([D("9" * 76), D("-1"), D("0"), None], pa.decimal256(76, 0)),
        "s": pa.array(["", "Žluťoučký 😀", "two\nlines", None]),
        "bin": pa.array([b"", b"\x00\xff", b"abc", None], pa.binary()),
        "fixed": pa.array([b"abcd", b"\x00\x01\x02\x03", b"    ", None], pa.binary(4)),
        "u": pa.array([uuid.UUID(int=1).bytes, uuid.UUID(int=2**128 - 1).bytes, uuid.UUID(int=0).bytes, None], pa.binary(16)).cast(pa.uuid())
        if hasattr(pa, "uuid") else pa.nulls(4),
        "j": pa.array(['{"a": 1}', "null", '"x"', None], pa.json_() if hasattr(pa, "json_") else pa.string()),
        "e": pa.array(["low", "high", "low", None]).dictionary_encode(),
    }


def nested():
    return {
        "l": pa.array([[1, None, 3], [], None, [4]], pa.list_(pa.int64())),
        "ll": pa.array([[["a"], [], None], [[None, 'q"']], None, []], pa.list_(pa.list_(pa.string()))),
        "st": pa.array([{"x": 1, "y": D("7.10")}, {"x": None, "y": None}, None, {"x": 4, "y": D("-0.01")}],
                       pa.struct([("x", pa.int32()), ("y", pa.decimal128(20, 2))])),
        "m": pa.array([[("a", 1.5), ("b", None)], [], None, [("k", float("nan"))]], pa.map_(pa.string(), pa.float64())),
        "ls": pa.array([[{"t": dt.datetime(2024, 1, 31, 13, 5), "b": b"\x00\xff"}, None], None, [], [{"t": None, "b": b""}]],
                       pa.list_(pa.struct([("t", pa.timestamp("us")), ("b", pa.binary())]))),
        "deep": pa.array([{"a": {"l": [{"z": 1}, {"z": None}]}}, {"a": {"l": None}}, {"a": None}, None],
                         pa.struct([("a", pa.struct([("l", pa.list_(pa.struct([("z", pa.int8())])))]))])),
    }


def encodings(n):
    return pa.table({
        "id": pa.array(range(n), pa.int64()),
        "small": pa.array([i % 7 - 3 for i in range(n)], pa.int32()),
        "text": pa.array([None if i % 5 == 0 else f"value {i * i}" for i in range(n)]),
        "like": pa.array([f"prefix/{i // 10}/{i}" for i in range(n)]),
        "real": pa.array([i / 8 for i in range(n)], pa.float64()),
        "flag": pa.array([i % 3 == 0 for i in range(n)]),
        "list": pa.array([list(range(i % 4)) if i % 6 else None for i in range(n)], pa.list_(pa.int32())),
    })


everything = pa.table(scalars() | times())
write("scalars", everything, compression="snappy", use_dictionary=False, write_page_checksum=True)
write("scalars-v2", everything, compression="zstd", data_page_version="2.0", store_decimal_as_integer=True)
write("int96", pa.table({"at": times()["ts_ns"]}), use_deprecated_int96_timestamps=True)
write("nested", pa.table(nested()), compression="gzip")
write("nested-v2", pa.table(nested()), compression="none", data_page_version="2.0")
write("empty", pa.table({"id": pa.array([], pa.int64())}))

many = encodings(3000)
for codec in ("snappy", "gzip", "zstd", "lz4", "brotli", "none"):
    write(f"codec-{codec}", many, compression=codec, row_group_size=1000, data_page_size=2000)
for version in ("1.0", "2.0"):
    write(f"encodings-{version}", many, compression="zstd", use_dictionary=False, data_page_version=version, row_group_size=1100,
          data_page_size=3000, column_encoding={
              "id": "DELTA_BINARY_PACKED", "small": "DELTA_BINARY_PACKED", "text": "DELTA_LENGTH_BYTE_ARRAY",
              "like": "DELTA_BYTE_ARRAY", "real": "BYTE_STREAM_SPLIT", "flag": "RLE" if version == "2.0" else "PLAIN"})
