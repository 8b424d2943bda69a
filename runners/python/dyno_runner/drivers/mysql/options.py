"""The options of a connection, as a URL gives them, and what PyMySQL calls them.

The names are those of MySQL's own programs: `ssl-mode`, `ssl-ca`, `connect-timeout` …
"""

import ssl
from typing import Any

from ...failure import Failure

# Seconds to wait for an answer to a connection, where the URL does not say.
PATIENCE = 10

# Options that are files, and PyMySQL's names of them.
FILES = {"ssl-key": "ssl_key", "ssl-cert": "ssl_cert", "ssl-ca": "ssl_ca"}
MODES = ("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")


def parse(options: dict[str, str]) -> dict[str, Any]:
    """Reads the options of a URL and refuses those that nobody knows."""
    parsed: dict[str, Any] = {"connect_timeout": PATIENCE}
    for name, value in options.items():
        match name.lower().replace("_", "-"):
            case "ssl-mode":
                parsed |= _mode(value)
            case "connect-timeout":
                parsed["connect_timeout"] = _seconds(value)
            case plain if plain in FILES:
                parsed[FILES[plain]] = value
            case _:
                known = ", ".join(["ssl-mode", "connect-timeout", *FILES])
                raise Failure(f"the URL has the option '{name}', and a connection of PyMySQL has {known}")
    return parsed


def _mode(value: str) -> dict[str, Any]:
    match value.upper().replace("-", "_"):
        case "DISABLED":
            return {"ssl_disabled": True}
        case "PREFERRED":
            return {}
        case "REQUIRED":
            # Encrypted in any case, and whoever answers is believed.
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            return {"ssl": context}
        case "VERIFY_CA":
            return {"ssl_verify_cert": True}
        case "VERIFY_IDENTITY":
            return {"ssl_verify_cert": True, "ssl_verify_identity": True}
        case _:
            raise Failure(f"the option ssl-mode is one of {', '.join(MODES)}, not '{value}'")


def _seconds(value: str) -> int:
    if not value.isdigit():
        raise Failure(f"the option connect-timeout is in seconds, not '{value}'")
    return int(value)
