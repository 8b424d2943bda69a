//! A runner that spins, so that a test knows by how much a contender is slower.

use std::fs;

use super::Place;
use crate::docs::block;

impl Place {
    /// Adds a contender of SQLite by the runner of `docs/runners.md`, which spins in its section until that has lasted
    /// `factor` times as long; the factor is an expression of Python. Its clock is the CPU time of its process, so that
    /// other work on the machine hides no planted effect.
    pub fn plant_spinning(&self, name: &str, factor: &str) {
        let folder = self.path(&format!("home/runners/{name}"));
        fs::create_dir(&folder).unwrap();
        let described = block("docs/runners.md", "toml").replace("\"mine\"", &format!("\"{name}\""));
        fs::write(folder.join("runner.toml"), described).unwrap();
        let ends = "    ended, after = time.monotonic_ns(), os.times()\n";
        let runner = block("docs/runners.md", "python");
        assert!(runner.contains(ends));
        let spins = format!(
            "    until = began + ({factor}) * (time.monotonic_ns() - began)\n    \
             while time.monotonic_ns() < until: pass\n"
        );
        let planted =
            runner.replace(ends, &format!("{spins}{ends}")).replace("monotonic_ns", "process_time_ns");
        fs::write(folder.join("runner.py"), planted).unwrap();
    }
}
