//! The settings in force, as the library says them.

use anyhow::{Result, ensure};
use dyno_protocol::InForce;
use dyno_runner::setting::{in_force, on_off};

use super::{Databases, GIB};
use crate::api::{self, Db, Env};

impl Databases {
    /// The settings as the library says them.
    pub fn in_force(&self) -> Result<Vec<InForce>> {
        let db = self.handle()?;
        let mut flags = 0;
        let [mut gigabytes, mut bytes, mut page, mut cipher] = [0; 4];
        let mut caches = 0;
        // SAFETY: the handle is fresh, is closed once and not used after that, and the numbers outlive the calls.
        unsafe {
            // Only an open environment reports its flags.
            if !self.env.is_null() {
                self.check(Env::get_open_flags(Db::get_env(db), &mut flags))?;
            }
            let code = match self.env.is_null() {
                true => Db::get_cachesize(db, &mut gigabytes, &mut bytes, &mut caches),
                false => Env::get_cachesize(self.env, &mut gigabytes, &mut bytes, &mut caches),
            };
            self.check(code)?;
            self.check(match self.env.is_null() {
                true => Db::get_encrypt_flags(db, &mut cipher),
                false => Env::get_encrypt_flags(self.env, &mut cipher),
            })?;
            self.check(Db::get_pagesize(db, &mut page))?;
            self.check(Db::close(db, 0))?;
        }
        let environment = if flags & api::INIT_TXN != 0 { "transactional" } else { "none" };
        let database = if self.settings.temporary { "temporary" } else { "file" };
        let cache = u64::from(gigabytes) * GIB + u64::from(bytes);
        let mut list = vec![
            in_force("environment", environment),
            in_force("database", database),
            in_force("cache_size", without_overhead(cache, self.settings.cache)),
            in_force("cache_with_overhead", cache),
        ];
        if self.settings.page.is_some() {
            list.push(in_force("page_size", page));
        }
        if self.password.is_some() {
            ensure!(cipher & api::ENCRYPT_AES != 0, "the library took a password and does not encrypt");
            list.extend([in_force("key", "passphrase"), in_force("cipher", "AES")]);
        }
        if !self.env.is_null() {
            list.push(on_off("private", flags & api::PRIVATE != 0));
            list.extend(self.environment_in_force()?);
        }
        Ok(list)
    }

    fn environment_in_force(&self) -> Result<[InForce; 4]> {
        let [mut flags, mut log_buffer, mut locks] = [0; 3];
        // SAFETY: the environment is open and the numbers outlive the calls.
        unsafe {
            self.check(Env::get_flags(self.env, &mut flags))?;
            self.check(Env::get_lg_bsize(self.env, &mut log_buffer))?;
            self.check(Env::get_lk_max_locks(self.env, &mut locks))?;
        }
        Ok([
            on_off("txn_nosync", flags & api::TXN_NOSYNC != 0),
            on_off("txn_write_nosync", flags & api::TXN_WRITE_NOSYNC != 0),
            in_force("lg_bsize", log_buffer),
            in_force("lk_max_locks", locks),
        ])
    }
}

/// The library makes caches of less than 500 MB larger, by a quarter and a little, and reports that size. This is the
/// size asked for where the one in force is such an enlargement of it.
fn without_overhead(in_force: u64, asked: Option<u64>) -> u64 {
    let enlarged = |asked: &u64| (*asked..=asked + asked / 4 + (64 << 10)).contains(&in_force);
    asked.filter(enlarged).unwrap_or(in_force)
}
