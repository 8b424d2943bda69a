"""dyno, a dynamometer for database engines: the command and its runners, packed for pip."""
