//! A runner that spins, so that a test knows by how much a contender is slower.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use super::Place;
use crate::docs::block;

impl Place {
    /// Adds a contender of SQLite by the runner of `docs/runners.md`, which spins in its section until that has lasted
    /// `factor` times as long; the factor is an expression of Python. Its clock is the CPU time of its process, so that
    /// other work on the machine hides no planted effect.
    pub fn plant_spinning(&self, name: &str, factor: &str) {
        let spins = format!(
            "    until = began + ({factor}) * (time.monotonic_ns() - began)\n    \
             while time.monotonic_ns() < until: pass\n"
        );
        self.plant(name, |ends| format!("{spins}{ends}"));
    }

    /// The same whose section lasts `factor` times 300 µs by a simulated clock, with noise of 0.3 %: for effects that are
    /// smaller than what other work on the machine does to any real clock.
    pub fn plant_simulated(&self, name: &str, factor: &str) {
        let noise = "__import__('random').lognormvariate(0, 0.003)";
        self.plant(name, |ends| {
            let simulated = format!("began + int(300_000 * ({factor}) * {noise})");
            ends.replace("time.monotonic_ns()", &simulated)
        });
    }

    /// Adds the runner of `docs/runners.md` under a name, with another end of its section.
    fn plant(&self, name: &str, planted: impl Fn(&str) -> String) {
        let folder = self.path(&format!("home/runners/{name}"));
        fs::create_dir(&folder).unwrap();
        let described = block("docs/runners.md", "toml").replace("\"mine\"", &format!("\"{name}\""));
        let described = described.replace("[\"python3\"", &format!("[\"{}\"", interpreter()));
        fs::write(folder.join("runner.toml"), described).unwrap();
        let ends = "    ended, after = time.monotonic_ns(), os.times()\n";
        let runner = block("docs/runners.md", "python");
        assert!(runner.contains(ends));
        let planted = runner.replace(ends, &planted(ends)).replace("monotonic_ns", "process_time_ns");
        fs::write(folder.join("runner.py"), planted).unwrap();
    }
}

/// The path of the interpreter that `python3` starts. Where that is a script which looks for an interpreter, such as
/// pyenv's, it takes several times as long as these runners do.
fn interpreter() -> &'static str {
    static FOUND: OnceLock<String> = OnceLock::new();
    FOUND.get_or_init(|| {
        let print = ["-c", "import sys; print(sys.executable)"];
        let output = Command::new("python3").args(print).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    })
}
