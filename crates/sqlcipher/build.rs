//! Compiles SQLCipher: the amalgamation that the package sqlcipher-src carries, with the flags of the plain
//! SQLite and those that SQLCipher demands, on the system's OpenSSL.
//!
//! Without OpenSSL's headers the library is skipped, and everything else is built: `dyno list` and a run with
//! `sqlite@sqlcipher` say what to install. The portable provider in the package is never used instead: it computes AES
//! without the processor's instructions.

use dyno_sqlite_build::{Library, has_header};

/// The flags that SQLCipher's manual demands. Temporary tables in files would not be encrypted.
const FLAGS: [&str; 5] = [
    "-DSQLITE_HAS_CODEC",
    "-DSQLCIPHER_CRYPTO_OPENSSL",
    "-DSQLITE_TEMP_STORE=2",
    "-DSQLITE_EXTRA_INIT=sqlcipher_extra_init",
    "-DSQLITE_EXTRA_SHUTDOWN=sqlcipher_extra_shutdown",
];

fn main() {
    let header = "openssl/crypto.h";
    println!("cargo::rerun-if-changed=build.rs");
    // A header that appears later is found: without this the build would not run again.
    println!("cargo::rerun-if-changed=/usr/include/{header}");
    if !has_header(header) {
        println!("cargo::warning=sqlite@sqlcipher is left out: install OpenSSL's headers (libssl-dev)");
        return;
    }
    let source = sqlcipher_src::source_dir().join(sqlcipher_src::SOURCE_FILE);
    let library =
        Library { name: "libdyno_sqlcipher.so", source: &source, flags: &FLAGS, links: &["-lcrypto"] };
    if let Err(error) = library.build() {
        println!("cargo::warning=sqlite@sqlcipher is left out: {error}");
    }
}
