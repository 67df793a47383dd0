"""One filter, said in every engine's language, and counted by none of them.

A filter is a list of terms, all of which must hold: `[column, op, value]` with op one of
`= != < <= > >= in`, or `[column, "is null"]`, `[column, "is not null"]`. A value is a JSON
number, string or boolean, or one of `{"instant": "2013-02-01T00:00:00"}` (UTC),
`{"clock": "1969-12-31T23:59:59"}` (no zone), `{"date": "2013-02-01"}`, `{"decimal": "1.50"}`.
"""

import datetime as dt
import operator
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

OPS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def python(value):
    """The literal as a Python value."""
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    if kind == "instant":
        return dt.datetime.fromisoformat(text).replace(tzinfo=dt.timezone.utc)
    if kind == "clock":
        return dt.datetime.fromisoformat(text)
    if kind == "date":
        return dt.date.fromisoformat(text)
    if kind == "decimal":
        return Decimal(text)
    raise ValueError(f"unknown literal {value}")


def describe(terms: list) -> str:
    return calve(terms)


def count(table: pa.Table, terms: list) -> int:
    """How many rows satisfy the filter: the expected number, from Arrow kernels."""
    return kept(table, terms).num_rows


def kept(table: pa.Table, terms: list) -> pa.Table:
    for column, op, *value in terms:
        type_ = table.schema.field(column).type
        if pa.types.is_dictionary(type_):
            type_ = type_.value_type
        values = table[column].cast(type_)
        if op == "is null":
            mask = pc.is_null(values)
        elif op == "is not null":
            mask = pc.is_valid(values)
        elif op == "in":
            mask = pc.is_in(values, pa.array([python(v) for v in value[0]], type_))
        else:
            names = {"=": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal",
                     ">": "greater", ">=": "greater_equal"}
            # A literal that the column's type cannot hold exactly would fail here: keep to those.
            mask = pc.call_function(names[op], [values, pa.scalar(python(value[0]), type_)])
        table = table.filter(mask)  # null is not true
    return table


def sql(terms: list, literal, quote='"', number=repr) -> str:
    """A SQL condition; `literal` and `number` write the literals of one dialect."""

    def value(v):
        if isinstance(v, dict):
            ((kind, text),) = v.items()
            return literal(kind, text.replace("T", " "))
        if isinstance(v, bool):
            return "true" if v else "false"
        if isinstance(v, str):
            return "'" + v.replace("'", "''") + "'"
        return number(v)

    def term(column, op, *v):
        name = f"{quote}{column}{quote}"
        if op in ("is null", "is not null"):
            return f"{name} {op}"
        if op == "in":
            return f"{name} in ({', '.join(value(x) for x in v[0])})"
        return f"{name} {op} {value(v[0])}"

    return " and ".join(term(*t) for t in terms)


def duckdb(terms: list) -> str:
    forms = {"instant": "timestamptz '{}+00'", "clock": "timestamp '{}'", "date": "date '{}'",
             "decimal": "{}"}
    return sql(terms, lambda kind, text: forms[kind].format(text))


def clickhouse(terms: list) -> str:
    forms = {"instant": "toDateTime64('{}', 6, 'UTC')", "clock": "toDateTime64('{}', 6)",
             "date": "toDate32('{}')", "decimal": "toDecimal128('{}', 10)"}
    return sql(terms, lambda kind, text: forms[kind].format(text))


def spark(terms: list) -> str:
    forms = {"instant": "timestamp_ltz '{} UTC'", "clock": "timestamp_ntz '{}'",
             "date": "date '{}'", "decimal": "{}"}

    def number(v):
        # A bare 0.5 is a decimal in this dialect.
        return f"{v!r}D" if isinstance(v, float) else repr(v)

    return sql(terms, lambda kind, text: forms[kind].format(text), quote="`", number=number)


def calve(terms: list) -> str:
    """As `calve scan --where` takes it: dates and times are ISO 8601 strings."""

    def literal(kind, text):
        return text if kind == "decimal" else f"'{text}'"

    def bare(column):
        return column.isidentifier() and column == column.lower()

    return sql(terms, literal, quote="" if all(bare(t[0]) for t in terms) else '"')


def pyiceberg(terms: list):
    from pyiceberg import expressions as e

    ops = {"=": e.EqualTo, "!=": e.NotEqualTo, "<": e.LessThan, "<=": e.LessThanOrEqual,
           ">": e.GreaterThan, ">=": e.GreaterThanOrEqual}

    def value(v):
        if isinstance(v, dict):
            ((kind, text),) = v.items()
            if kind == "instant":
                return text + "+00:00"
            return Decimal(text) if kind == "decimal" else text
        return v

    def term(column, op, *v):
        if op == "is null":
            return e.IsNull(column)
        if op == "is not null":
            return e.NotNull(column)
        if op == "in":
            return e.In(column, [value(x) for x in v[0]])
        return ops[op](column, value(v[0]))

    out = e.AlwaysTrue()
    for t in terms:
        out = e.And(out, term(*t))
    return out


def expression(terms: list, col, lit):
    """A Polars or Daft expression: the two spell these alike."""
    out = None
    for column, op, *value in terms:
        c = col(column)
        if op == "is null":
            e = c.is_null()
        elif op == "is not null":
            e = c.is_not_null() if hasattr(c, "is_not_null") else c.not_null()
        elif op == "in":
            e = c.is_in([python(v) for v in value[0]])
        else:
            e = OPS[op](c, lit(python(value[0])))
        out = e if out is None else out & e
    return out
