"""The setting `database`, which says where the data are stored. Any option of DuckDB is a statement of the job."""

from pathlib import Path

from ...contract import Job
from ...failure import Failure

# Where the data lives.
FILE = "dyno.duckdb"
PLACES = ("file", ":memory:")


def location(job: Job, directory: Path) -> str:
    """The path or name to open."""
    place = PLACES[0]
    for setting in job.settings:
        if setting.name != "database":
            raise Failure(f"duckdb/python itself has no setting '{setting.name}'")
        if setting.value not in PLACES:
            raise Failure(f"the setting 'database' is one of {', '.join(PLACES)}, not '{setting.value}'")
        place = setting.value
    return str(directory / FILE) if place == "file" else place
