"""Writes grid.tsv, what Values.java reads: the questions of pyiceberg.jsonl and those that Python can't ask.

    python3 grid.py > grid.tsv
"""

import json

EXTREMES = [-(2**63), 2**63 - 1, -62135596800000001, 253402300800000000, 7827577896959999999, 7900000000000000000,
            -7850000000000000000]
TIME = ["year", "month", "day", "hour"]
MORE = [
    *[("timestamp", t, v) for t in [*TIME, "identity", "bucket[16]"] for v in EXTREMES],
    *[("timestamp_ns", t, v) for t in [*TIME, "bucket[16]"] for v in (-(2**63), 2**63 - 1)],
    *[("date", t, v) for t in ["year", "month", "day", "bucket[16]"] for v in (-(2**31) + 719528, 365000000, -719529, 2932897)],
    *[("timestamptz", "identity", v) for v in (0, -1, 1717200000000000, 1717200000123000, 1717200000123456, 1717200000120000, 253402300800000000)],
    *[("time", "identity", v) for v in (120000, 3600000000, 60000000, 1000000, 1000)],
    *[("timestamp_ns", "identity", v) for v in (0, -1, 1717200000000000001, 1717200000123000000, 1717200000123456000)],
    *[("int", "truncate[10000]", v) for v in (-(2**31), -(2**31) + 1)],
    *[("int", f"truncate[{w}]", v) for w in (2**30, 2**30 + 1, 2**31 - 1) for v in (
        0, 1, -1, 5, 2**30 - 1, 2**30, 2**30 + 1, -(2**30), 108218145, -108218145, 2**31 - 1, -(2**31), -(2**31) + 1)],
    *[("long", "truncate[10000]", v) for v in (-(2**63),)],
    ("decimal(7,3)", "truncate[10]", -9999999),
    *[("boolean", "identity", v) for v in ("true", "false")],
    *[(of, "identity", v) for of in ("float", "double") for v in (
        "0.0", "1.0", "-1.5", "100.0", "1.0E7", "9999999.0", "0.001", "9.99E-4", "1.0E10", "-1.2345E-7", "123456.79",
        "NaN", "Infinity", "-Infinity", "0.1", "10.25", "-0.0")],
    *[("float", "identity", v) for v in (
        "1.4E-45", "2.8E-45", "4.2E-45", "-5.6E-45", "9.8E-45", "1.0E-44", "1.1754942E-38", "1.17549435E-38",
        "3.4028235E38", "2.0E-3", "3.3554432E7", "8.0E9", "9.999999E9")],
    *[("double", "identity", v) for v in (
        "4.9E-324", "9.9E-324", "1.5E-323", "-2.0E-323", "4.9E-323", "9.9E-323", "2.225073858507201E-308",
        "2.2250738585072014E-308", "1.7976931348623157E308", "2.0E-3", "2.0E23", "1.0E23", "9.007199254740992E15")],
    *[("decimal(38,10)", "identity", v) for v in (0, 1, -1, 12345, 10**10, -(10**37))],
    *[("string", "identity", v) for v in ("x/y", "ü", "", "a=b", "..", "a+b", "*-._~", "\U0001F600", "100%")],
]

rows = [json.loads(line) for line in open("pyiceberg.jsonl")]
rows = [(row["type"], row["transform"], row["value"]) for row in rows] + MORE
for of, transform, value in rows:
    print(of, transform, "\\N" if value is None else str(value).encode().hex(), sep="\t")
