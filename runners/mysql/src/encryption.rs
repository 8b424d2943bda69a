//! MariaDB encrypts what its data folder was made with by threads in the background: nothing is measured
//! before they have come to an end.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use dyno_client::Sql;
use dyno_client::mysql::Connection;
use dyno_protocol::Setting;

/// The setting that sets the threads to work.
const SETTING: &str = "innodb_encrypt_tables";
/// The time limit for encrypting the tablespaces of a new data folder.
const ENCRYPT_TIMEOUT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// Waits until every tablespace is encrypted, where that was asked for.
///
/// # Errors
/// Some are not within a minute, or the server does not report it.
pub fn settle(asked: &[Setting], connection: &Connection) -> Result<()> {
    let wanted = asked.iter().rev().find(|setting| setting.name.eq_ignore_ascii_case(SETTING));
    if !wanted.is_some_and(|setting| ["ON", "1", "FORCE"].contains(&setting.value.as_str())) {
        return Ok(());
    }
    let deadline = Instant::now() + ENCRYPT_TIMEOUT;
    loop {
        // The count of all shows that the list is there: while the server starts, it is empty.
        let left = connection.value(
            "SELECT if(count(*) = 0, 1, sum(min_key_version = 0 OR rotating_or_flushing <> 0)) \
             FROM information_schema.innodb_tablespaces_encryption",
        )?;
        match left.as_deref() {
            Some("0") => return Ok(()),
            _ if Instant::now() < deadline => thread::sleep(PAUSE),
            _ => bail!(
                "the server has not encrypted its own tables within {} s: are there innodb_encryption_threads?",
                ENCRYPT_TIMEOUT.as_secs()
            ),
        }
    }
}
