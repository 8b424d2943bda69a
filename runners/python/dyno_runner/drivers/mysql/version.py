"""Which server it is: MariaDB and MySQL are two engines that answer one driver."""

import re

from ...failure import Failure

# The oldest versions that are served.
OLDEST = {"mariadb": (10, 2), "mysql": (5, 7)}
TITLES = {"mariadb": "MariaDB", "mysql": "MySQL"}


def check_version(engine: str, version: str) -> None:
    """Refuses a server that is not the engine that was asked for, because the two have drifted apart, and one
    that is too old."""
    found = "mariadb" if "MariaDB" in version else "mysql"
    if engine != found:
        raise Failure(
            f"the server is {TITLES[found]} {short(version)}, not {TITLES[engine]}: name the contender "
            f"{found}, or another server"
        )
    numbers = [int(part) for part in re.findall(r"\d+", version)[:2]]
    oldest = OLDEST[engine]
    if tuple(numbers) < oldest:
        raise Failure(
            f"the server is {TITLES[engine]} {short(version)}, and dyno works with version "
            f"{oldest[0]}.{oldest[1]} and later"
        )


def short(version: str) -> str:
    """`10.11.19-MariaDB-0+deb12u1` without what a distribution adds."""
    name, mark, _ = version.partition("-MariaDB")
    return name + mark
