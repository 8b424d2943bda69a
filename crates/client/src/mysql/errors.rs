//! The numbers of errors that mean something: `runners/mysql/errors.toml` says what, with the manuals' pages.

/// Errors after which there is no connection: the server has gone, was lost within a query, shuts down, has killed the
/// connection or closed it as idle.
pub const LOST: [u32; 6] = [2006, 2013, 1053, 1927, 3169, 4031];
/// The server, or the client library, allows no LOAD DATA LOCAL.
pub const NO_LOCAL: [u32; 3] = [1148, 3948, 4166];
/// A deadlock, a lock that was not to be had in time or at once, a row that another transaction has changed.
const MAY_PASS: [u32; 4] = [1213, 1205, 3572, 1020];

/// True if the transaction may succeed when it is repeated.
pub fn is_retryable(number: u32) -> bool {
    MAY_PASS.contains(&number)
}
