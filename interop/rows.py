"""Tables as multisets of plain Python rows, so that no engine's habits decide what is equal.

`canonical` turns an Arrow table from any engine into a `collections.Counter` of tuples, in the
columns and types of the expected table. Integer widths, string layouts and time units may
differ between engines and are levelled; a kind that differs (text for a number, a wall clock
for an instant) is an error, as is a missing, extra or renamed column.
"""

from collections import Counter
from decimal import Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

# Room for any decimal(38, s) moved by its scale.
WIDE = Context(prec=80)


class Different(Exception):
    """What an engine gave is not what it should have given."""


def kind(type_: pa.DataType) -> str:
    """The Iceberg-like kind of an Arrow type, without its width or layout."""
    t = pa.types
    if t.is_dictionary(type_):
        return kind(type_.value_type)
    if t.is_timestamp(type_):
        return "instant" if type_.tz else "wall clock"
    for name, test in (
        ("boolean", t.is_boolean),
        ("integer", t.is_integer),
        ("float", t.is_floating),
        ("decimal", t.is_decimal),
        ("date", t.is_date),
        ("time", t.is_time),
        ("struct", t.is_struct),
        ("map", t.is_map),
        ("null", t.is_null),
    ):
        if test(type_):
            return name
    if t.is_string(type_) or t.is_large_string(type_) or t.is_string_view(type_):
        return "string"
    if (
        t.is_binary(type_)
        or t.is_large_binary(type_)
        or t.is_binary_view(type_)
        or t.is_fixed_size_binary(type_)
    ):
        return "binary"
    if t.is_list(type_) or t.is_large_list(type_) or t.is_fixed_size_list(type_):
        return "list"
    raise Different(f"no comparison is written for the Arrow type {type_}")


def canonical(table: pa.Table, like: pa.Schema, allow: frozenset = frozenset()) -> Counter:
    """The rows of `table` as tuples in the columns and types of `like`.

    `allow` names what an engine's own type system cannot say, as pairs "given for expected"
    ("integer for boolean"), "empty for null list", "empty for null list of structs" and
    "fields for null struct": every entry is a limit of that engine, written beside it.
    """
    given, wanted = sorted(table.column_names), sorted(like.names)
    if given != wanted:
        raise Different(f"columns are {given}, expected {wanted}")
    columns = []
    for field in like:
        columns.append(values(table[field.name], field.type, field.name, allow))
    return Counter(zip(*columns, strict=True))


def values(array, like: pa.DataType, where: str, allow: frozenset) -> list:
    """The values of one column, hashable, None for null."""
    if isinstance(array, pa.ChunkedArray):
        return [v for chunk in array.chunks for v in values(chunk, like, where, allow)]
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_dictionary(like):
        like = like.value_type
    got, want = kind(array.type), kind(like)
    if got == "null":
        return [None] * len(array)
    if got != want and f"{got} for {want}" not in allow:
        raise Different(f"column {where} is {array.type} ({got}), expected {like} ({want})")
    if want == "list":
        items = values(array.flatten(), like.value_type, f"{where}.element", allow)
        return sliced(array, items, tuple, allow)
    if want == "map":
        keys = values(entries(array, array.keys), like.key_type, f"{where}.key", allow)
        vals = values(entries(array, array.items), like.item_type, f"{where}.value", allow)
        pairs = list(zip(keys, vals, strict=True))
        # A map has no order; a key given twice stays visible.
        return sliced(array, pairs, lambda p: tuple(sorted(p, key=repr)), allow)
    if want == "struct":
        names = [f.name for f in array.type]
        if names != [f.name for f in like]:
            raise Different(f"column {where} has fields {names}, expected {like}")
        children = [
            values(child, f.type, f"{where}.{f.name}", allow)
            for child, f in zip(array.flatten(), like, strict=True)
        ]
        valid = array.is_valid().to_pylist()
        if "fields for null struct" in allow:
            # Null if everything in it is.
            return [None if all(x is None for x in r) else r for r in zip(*children, strict=True)]
        return [r if ok else None for r, ok in zip(zip(*children, strict=True), valid)]
    return scalars(array, like, want, where)


def entries(array: pa.MapArray, child: pa.Array) -> pa.Array:
    """Keys or items of the maps of this slice only (a null map's entries left out)."""
    bounds = array.offsets.to_pylist()
    picked = [
        i
        for row, ok in enumerate(array.is_valid().to_pylist())
        if ok
        for i in range(bounds[row], bounds[row + 1])
    ]
    return child.take(pa.array(picked, pa.int64()))


def sliced(array, items: list, make, allow: frozenset) -> list:
    if pa.types.is_map(array.type):
        offsets = array.offsets.to_pylist()
        lengths = [b - a for a, b in zip(offsets, offsets[1:])]
    else:
        lengths = pc.list_value_length(array).to_pylist()
    nested = not pa.types.is_map(array.type) and pa.types.is_struct(array.type.value_type)
    blurred = "empty for null list" in allow or (
        nested and "empty for null list of structs" in allow)
    out, at = [], 0
    for length, ok in zip(lengths, array.is_valid().to_pylist(), strict=True):
        if not ok:
            out.append(None)
            continue
        value = make(items[at : at + length])
        at += length
        out.append(None if not value and blurred else value)
    return out


def scalars(array: pa.Array, like: pa.DataType, want: str, where: str) -> list:
    if want == "boolean":
        return array.cast(pa.bool_()).to_pylist()
    if want == "integer":
        return array.cast(pa.int64()).to_pylist()
    if want == "float":
        # repr keeps -0.0 from 0.0 and makes NaN equal to itself.
        width = pa.float32() if like == pa.float32() else pa.float64()
        return [None if v is None else repr(v) for v in array.cast(width).to_pylist()]
    if want == "decimal":
        return [None if v is None else unscaled(v, like.scale, where) for v in array.to_pylist()]
    if want == "date":
        return array.cast(pa.date32()).cast(pa.int32()).to_pylist()
    if want == "time":
        return array.cast(pa.time64("us")).cast(pa.int64()).to_pylist()
    if want in ("instant", "wall clock"):
        # Counting from the epoch in UTC; a cast that would lose ticks is an error.
        return array.cast(pa.timestamp("us", array.type.tz)).cast(pa.int64()).to_pylist()
    if want == "string":
        return array.cast(pa.large_string()).to_pylist()
    if want == "binary":
        return array.cast(pa.large_binary()).to_pylist()
    raise Different(f"column {where}: no comparison is written for {like}")


def unscaled(value: Decimal, scale: int, where: str) -> int:
    """A decimal as its unscaled integer at the expected scale."""
    scaled = value.scaleb(scale, WIDE)
    whole = int(scaled)
    if whole != scaled:
        raise Different(f"column {where}: {value} has more than {scale} decimal places")
    return whole


def same(given: Counter, expected: Counter, names: list) -> None:
    """Raises `Different` with a few of the rows, unless both hold the same rows as often."""
    if given == expected:
        return
    lacking, extra = expected - given, given - expected
    lines = [f"{given.total()} rows, expected {expected.total()}: "
             f"{lacking.total()} lacking, {extra.total()} not expected"]
    for title, rows in (("lacking", lacking), ("not expected", extra)):
        for row, times in list(rows.items())[:2]:
            shown = ", ".join(f"{n}={v!r}" for n, v in zip(names, row))
            lines.append(f"  {title} x{times}: {shown[:500]}")
    if len(lacking) == len(extra) and lacking:
        # Which columns differ? Drop one at a time and see what heals it.
        for i, name in enumerate(names):
            def cut(rows, i=i):
                out = Counter()
                for row, times in rows.items():
                    out[row[:i] + row[i + 1 :]] += times
                return out

            if cut(lacking) == cut(extra):
                lines.append(f"  only column {name} differs")
    raise Different("\n".join(lines))


def repeated(table: pa.Table, times: int) -> pa.Table:
    """What a table holds after the same file was appended `times` times."""
    return pa.concat_tables([table] * times)
