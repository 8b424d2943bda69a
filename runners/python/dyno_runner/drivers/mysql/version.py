"""Identifies the server: MariaDB, MySQL and others are different engines behind one driver."""

import re

from ...contract import Server
from ...failure import Failure

# Contained in the version of every MariaDB.
MARIADB = "-MariaDB"
# The oldest supported versions, of MariaDB and of others.
OLDEST_MARIADB = (10, 2)
OLDEST = (5, 7)


def check_version(engine: str, server: Server, version: str) -> None:
    """Rejects a server that is not the engine asked for, because the engines that speak this protocol have
    diverged, and a server that is too old."""
    if not server.is_own(version):
        raise Failure(
            f"the server is {short(version)}, not {engine}: name the engine that it is, or another server"
        )
    numbers = [int(part) for part in re.findall(r"\d+", version)[:2]]
    oldest = OLDEST_MARIADB if MARIADB in version else OLDEST
    if tuple(numbers) < oldest:
        raise Failure(
            f"the server is {engine} {short(version)}, and dyno works with version "
            f"{oldest[0]}.{oldest[1]} and later"
        )


def short(version: str) -> str:
    """`10.11.19-MariaDB-0+deb12u1` without what a distribution adds."""
    name, mark, _ = version.partition(MARIADB)
    return name + mark
