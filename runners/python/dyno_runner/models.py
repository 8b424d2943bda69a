"""The models: each loads its input, does the timed work, and returns the answer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .answer import Answer, Rows
from .clock import Clock
from .contract import Test, take
from .digest import TableDigest
from .driver import Driver
from .failure import Failure, quote
from .inputs import Load, RowFile, Statements
from .mix.perform import perform as perform_mix
from .orders import Orders
from .mix.work import Work
from .records import RecordFile
from .turns import Turns

# The result of a test: the sample, and the function that fetches the answer, called after the sample was
# sent.
Outcome = tuple[dict[str, Any], Callable[[Driver], list[Any]]]


def perform(test: Test, driver: Driver, clock: Clock, orders: Orders) -> Outcome:
    """Does the work of a test of a job."""
    match test.model:
        case "statements":
            return _statements(test, driver, clock)
        case "insert-rows":
            return _load(test, driver, clock, _rows(test), driver.insert_rows)
        case "bulk-load":
            return _load(test, driver, clock, _rows(test), driver.bulk_load)
        case "import-file":
            return _load(test, driver, clock, RecordFile(test.input), driver.import_file)
        case "scan":
            return _scan(test, driver, clock)
        case "mix":
            return perform_mix(Work(test.input), driver, clock, orders), lambda _: []
        case model:
            raise Failure(f"this runner does not implement the model {model}")


def left_by(test: Test, driver: Driver) -> list[Any]:
    """The answer of a test that another job has done: what it left in the database."""
    match test.model:
        case "insert-rows" | "bulk-load":
            file: RowFile | RecordFile = _rows(test)
        case "import-file":
            file = RecordFile(test.input)
        case _:
            return []
    return _digest(Load(take(test.input, "table", str), file, 0, file.count, None), driver)


def asked(driver: Driver, sql: str, what: str) -> Rows:
    """The rows of a statement that is no part of a test's input; if it fails, the failure names it."""
    try:
        return driver.query(sql)
    except Failure as failure:
        raise failure.within(f"{what} ({quote(sql)})") from None


def _statements(test: Test, driver: Driver, clock: Clock) -> Outcome:
    statements = Statements(take(test.input, "file", str), take(test.input, "count", int))
    answer = Answer(keep=test.check is None)
    changed = driver.changes()

    def work(turns: Turns) -> None:
        for start, stop in turns.parts(0, len(statements)):
            driver.statements(statements, start, stop, answer)

    try:
        _, sample = clock.time(len(statements), work)
    except Failure as failure:
        if failure.place is None:
            raise
        text = quote(statements.get(failure.place))
        raise failure.within(f"statement {failure.place + 1} of {len(statements)} ({text})") from None
    rows = answer.count + driver.changes() - changed
    sample |= {"operations": len(statements), "rows": rows, "bytes": statements.bytes}
    return sample, lambda _: answer.rows


def _rows(test: Test) -> RowFile:
    return RowFile(take(test.input, "rows", dict))


def _load(
    test: Test, driver: Driver, clock: Clock, file: RowFile | RecordFile, way: Callable[[Load], None]
) -> Outcome:
    table = take(test.input, "table", str)
    timed = min(take(test.input, "timed", int, file.count), file.count)
    load = Load(table, file, 0, timed, take(test.input, "per_commit", int, None))
    rest = Load(table, file, timed, file.count, None)

    # A file of records is imported in one piece.
    operations = timed if isinstance(file, RowFile) else 1

    def work(turns: Turns) -> None:
        for sql in file.before:
            asked(driver, sql, "before the first record")
        way(replace(load, turns=turns))
        for sql in file.after:
            asked(driver, sql, "after the last record")

    _, sample = _naming_the_row(load, "row", lambda: clock.time(operations, work))
    if rest.count:
        _naming_the_row(rest, "row (after the clock)", lambda: way(rest))
    sample |= {"operations": timed, "rows": timed, "bytes": file.bytes_of(timed)}
    return sample, lambda driver: _digest(load, driver)


def _naming_the_row(load: Load, what: str, work: Callable[[], Any]) -> Any:
    """Does the work; a failure of it names the row."""
    try:
        return work()
    except Failure as failure:
        if failure.place is None:
            raise
        raise failure.within(f"{what} {failure.place + 1} of {load.count}") from None


def _scan(test: Test, driver: Driver, clock: Clock) -> Outcome:
    sql = take(test.input, "sql", str)
    answer = Answer(keep=True)
    try:
        _, sample = clock.time(1, lambda _: driver.scan(sql, answer))
    except Failure as failure:
        raise failure.within("the scan") from None
    sample |= {"operations": 1, "rows": answer.count}
    return sample, lambda _: answer.rows


def _digest(load: Load, driver: Driver) -> list[Any]:
    """The table's digest; for rows also some of them, selected by their first cell."""
    digest = TableDigest({column.name: column.kind for column in load.columns}, load.file.shown())
    try:
        for rows in driver.blocks(load.table, load.columns):
            digest.add(rows)
        return digest.answer()
    except Failure as failure:
        raise failure.within("reading back what is stored") from None
