"""The setting `database`, which says where the data are stored. Any PRAGMA is a statement of the job."""

from pathlib import Path

from ...contract import Job
from ...failure import Failure

# The places where data may be stored, and SQLite's names for them.
FILE = "dyno.db"
PLACES = {"file": None, ":memory:": ":memory:", "temporary": ""}


def database_of(job: Job) -> str:
    """The place that a job names."""
    place = "file"
    for setting in job.settings:
        if setting.name != "database":
            raise Failure(f"sqlite/{job.driver} itself has no setting '{setting.name}'")
        if setting.value not in PLACES:
            raise Failure(f"the setting 'database' is one of {', '.join(PLACES)}, not '{setting.value}'")
        place = setting.value
    return place


def location(place: str, directory: Path) -> str:
    """The path or name to open."""
    name = PLACES[place]
    return str(directory / FILE) if name is None else name
