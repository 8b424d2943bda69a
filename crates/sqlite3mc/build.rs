//! Compiles SQLite3 Multiple Ciphers: the amalgamation that the package sqlite3mc-src carries, with the
//! flags of the plain SQLite. It computes its ciphers itself and needs no other library; it keeps temporary
//! tables in memory (`SQLITE_TEMP_STORE=2`) by its own default.

use dyno_sqlite_build::Library;

fn main() {
    let source = sqlite3mc_src::source_dir().join(sqlite3mc_src::SOURCE_FILE);
    let library = Library { name: "libdyno_sqlite3mc.so", source: &source, flags: &[], links: &[] };
    if let Err(error) = library.build() {
        println!("cargo::warning=sqlite@mc is left out: {error}");
    }
}
