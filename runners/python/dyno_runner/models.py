"""What each model does: its input loaded, its work between two readings of the clock, its answer."""

from collections.abc import Callable, Sequence
from typing import Any

from .answer import Answer
from .clock import Clock
from .contract import Test, take
from .digest import TableDigest
from .driver import Driver
from .failure import Failure
from .inputs import Load, Named, RowFile, Statements
from .records import RecordFile

# How many characters of a statement a message quotes.
QUOTED = 200

# What a test came to: the sample, and where the answer is found, asked for after the sample was sent.
Outcome = tuple[dict[str, Any], Callable[[], list[Any]]]


def perform(test: Test, driver: Driver, clock: Clock) -> Outcome:
    """Does the work of a test."""
    match test.model:
        case "statements":
            return _statements(test, driver, clock)
        case "insert-rows":
            return _load(test, driver, clock, driver.insert_rows)
        case "bulk-load":
            return _load(test, driver, clock, driver.bulk_load)
        case "import-file":
            return _import(test, driver, clock)
        case "scan":
            return _scan(test, driver, clock)
        case model:
            raise Failure(f"this runner does not implement the model {model}")


def quote(sql: str) -> str:
    """The beginning of a statement, for a message."""
    return sql if len(sql) <= QUOTED else f"{sql[:QUOTED]}…"


def _statements(test: Test, driver: Driver, clock: Clock) -> Outcome:
    statements = Statements(take(test.input, "file", str), take(test.input, "count", int))
    answer = Answer(keep=test.check is None)
    changed = driver.changes()
    try:
        _, sample = clock.time(lambda: driver.statements(statements, answer))
    except Failure as failure:
        if failure.place is None:
            raise
        text = quote(statements.get(failure.place))
        raise failure.within(f"statement {failure.place + 1} of {len(statements)} ({text})") from None
    rows = answer.count + driver.changes() - changed
    sample |= {"operations": len(statements), "rows": rows, "bytes": statements.bytes}
    return sample, lambda: answer.rows


def _load(test: Test, driver: Driver, clock: Clock, way: Callable[[Load], None]) -> Outcome:
    table = take(test.input, "table", str)
    file = RowFile(take(test.input, "rows", dict))
    timed = min(take(test.input, "timed", int, file.count), file.count)
    load = Load(table, file, 0, timed, take(test.input, "per_commit", int, None))
    rest = Load(table, file, timed, file.count, None)
    _, sample = _told(load, "row", lambda: clock.time(lambda: way(load)))
    if rest.count:
        _told(rest, "row (after the clock)", lambda: way(rest))
    sample |= {"operations": timed, "rows": timed, "bytes": timed * file.width}
    return sample, lambda: _digest(load, driver)


def _told(load: Load, what: str, work: Callable[[], Any]) -> Any:
    """Does the work; a failure of it tells the row."""
    try:
        return work()
    except Failure as failure:
        if failure.place is None:
            raise
        raise failure.within(f"{what} {failure.place + 1} of {load.count}") from None


def _import(test: Test, driver: Driver, clock: Clock) -> Outcome:
    file = RecordFile(test.input)

    def work() -> int:
        for sql in file.before:
            driver.query(sql)
        done = driver.import_file(file)
        for sql in file.after:
            driver.query(sql)
        return done

    done, sample = clock.time(work)
    if done != file.count:
        raise Failure(f"{done} records were imported and {file.count} were to be: the driver lost some")
    sample |= {"operations": done, "rows": done, "bytes": file.bytes}
    kinds = {column.name: column.kind for column in file.columns}
    return sample, lambda: _digest_of(TableDigest(kinds, []), file.table, file.columns, driver)


def _scan(test: Test, driver: Driver, clock: Clock) -> Outcome:
    sql = take(test.input, "sql", str)
    answer = Answer(keep=True)
    try:
        _, sample = clock.time(lambda: driver.scan(sql, answer))
    except Failure as failure:
        raise failure.within("the scan") from None
    sample |= {"operations": 1, "rows": answer.count}
    return sample, lambda: answer.rows


def _digest(load: Load, driver: Driver) -> list[Any]:
    """The table's digest, and its first, middle and last row as found by their first cell."""
    file = load.file
    places = [0, file.count // 2, file.count - 1] if file.count else []
    digest = TableDigest(
        {column.name: "text" for column in file.columns}, [file.row(place)[0].decode() for place in places]
    )
    return _digest_of(digest, load.table, file.columns, driver)


def _digest_of(digest: TableDigest, table: str, columns: Sequence[Named], driver: Driver) -> list[Any]:
    try:
        for rows in driver.blocks(table, columns):
            digest.add(rows)
        return digest.answer()
    except Failure as failure:
        raise failure.within("reading back what is stored") from None
