"""The options of a connection, as given in a URL.

The names in a URL are those of MySQL's own programs: `ssl-mode`, `ssl-ca`, `connect-timeout` …
"""

from dataclasses import dataclass, field

from ...failure import Failure

# Seconds to wait for an answer to a connection, where the URL does not say.
PATIENCE = 10

# Options that are files.
FILES = ("ssl-key", "ssl-cert", "ssl-ca")
MODES = ("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
# The modes in which nothing is sent in plain text.
ENCRYPTED = MODES[2:]


@dataclass
class Options:
    """What a URL asks for."""

    patience: int = PATIENCE
    mode: str = "DISABLED"
    # By the names of the options.
    files: dict[str, str] = field(default_factory=dict)


def parse(options: dict[str, str], driver: str) -> Options:
    """Reads the options of a URL and refuses unknown ones."""
    parsed, mode = Options(), None
    for name, value in options.items():
        match name.lower().replace("_", "-"):
            case "ssl-mode":
                mode = _mode(value)
            case "connect-timeout":
                parsed.patience = _seconds(value)
            case plain if plain in FILES:
                parsed.files[plain] = value
            case _:
                known = ", ".join(["ssl-mode", "connect-timeout", *FILES])
                raise Failure(f"the URL has the option '{name}', and a connection of {driver} has {known}")
    # Without a mode it is plain text, with every driver, unless options of TLS are given.
    usual = "VERIFY_CA" if "ssl-ca" in parsed.files else "REQUIRED" if parsed.files else "DISABLED"
    parsed.mode = usual if mode is None else mode
    return parsed


def _mode(value: str) -> str:
    mode = value.upper().replace("-", "_")
    if mode not in MODES:
        raise Failure(f"the option ssl-mode is one of {', '.join(MODES)}, not '{value}'")
    return mode


def _seconds(value: str) -> int:
    if not value.isdigit():
        raise Failure(f"the option connect-timeout is in seconds, not '{value}'")
    return int(value)
