"""The options of a connection, as given in a URL, and PyMySQL's names for them.

The names in a URL are those of MySQL's own programs: `ssl-mode`, `ssl-ca`, `connect-timeout` …
"""

import ssl
from typing import Any

from ...failure import Failure

# Seconds to wait for an answer to a connection, where the URL does not say.
PATIENCE = 10

# Options that are files.
FILES = ("ssl-key", "ssl-cert", "ssl-ca")
MODES = ("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
# The modes in which nothing is sent in plain text.
ENCRYPTED = MODES[2:]


def parse(options: dict[str, str]) -> dict[str, Any]:
    """Reads the options of a URL and refuses unknown ones."""
    parsed: dict[str, Any] = {"connect_timeout": PATIENCE}
    files: dict[str, str] = {}
    mode = None
    for name, value in options.items():
        match name.lower().replace("_", "-"):
            case "ssl-mode":
                mode = _mode(value)
            case "connect-timeout":
                parsed["connect_timeout"] = _seconds(value)
            case plain if plain in FILES:
                files[plain] = value
            case _:
                known = ", ".join(["ssl-mode", "connect-timeout", *FILES])
                raise Failure(f"the URL has the option '{name}', and a connection of PyMySQL has {known}")
    if mode is None and files:
        mode = "VERIFY_CA" if "ssl-ca" in files else "REQUIRED"
    if mode == "DISABLED":
        parsed["ssl_disabled"] = True
    elif mode in ENCRYPTED:
        parsed["ssl"] = _context(mode, files)
    return parsed


def _context(mode: str, files: dict[str, str]) -> ssl.SSLContext:
    """The TLS context for PyMySQL. If PyMySQL made one from its own options, it would not check the host name
    where no authority is named, and would ignore a context where a file is named."""
    try:
        context = ssl.create_default_context(cafile=files.get("ssl-ca"))
        context.check_hostname = mode == "VERIFY_IDENTITY"
        context.verify_mode = ssl.CERT_NONE if mode == "REQUIRED" else ssl.CERT_REQUIRED
        if "ssl-cert" in files or "ssl-key" in files:
            context.load_cert_chain(files.get("ssl-cert", ""), files.get("ssl-key"))
        return context
    except OSError as error:
        names = ", ".join(sorted(files))
        raise Failure(f"the files of the options {names} cannot be used: {error}") from None


def _mode(value: str) -> str:
    mode = value.upper().replace("-", "_")
    if mode not in MODES:
        raise Failure(f"the option ssl-mode is one of {', '.join(MODES)}, not '{value}'")
    return mode


def _seconds(value: str) -> int:
    if not value.isdigit():
        raise Failure(f"the option connect-timeout is in seconds, not '{value}'")
    return int(value)
