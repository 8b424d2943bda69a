//! A dynamometer for database engines.
