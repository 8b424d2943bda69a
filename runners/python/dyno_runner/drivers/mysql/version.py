"""Which server it is: MariaDB, MySQL and others are engines that answer one driver."""

import re

from ...contract import Server
from ...failure import Failure

# What the version of a MariaDB holds.
MARIADB = "-MariaDB"
# The oldest versions that are served, of MariaDB and of others.
OLDEST_MARIADB = (10, 2)
OLDEST = (5, 7)


def check_version(engine: str, server: Server, version: str) -> None:
    """Refuses a server that is not the engine that was asked for, because those that speak the protocol have
    drifted apart, and one that is too old."""
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
