//! The servers that tries reach by a URL.

use std::cell::RefCell;

use crate::engines::Running;

/// A server that is there for all tries.
pub struct Server {
    pub scheme: &'static str,
    running: RefCell<Running>,
}

impl Server {
    /// Starts one.
    pub fn start(scheme: &'static str) -> Server {
        Server { scheme, running: RefCell::new(Running::start(scheme)) }
    }

    /// Its socket or the folder of it, its port and its user.
    pub fn reach(&self) -> (String, u16, String) {
        self.running.borrow().reach()
    }

    /// Its socket.
    pub fn socket(&self) -> String {
        let (host, port, _) = self.reach();
        if self.scheme == "postgres" { format!("{host}/.s.PGSQL.{port}") } else { host }
    }

    /// The names of its databases.
    pub fn databases(&self) -> String {
        self.running.borrow().databases()
    }

    /// Kills it and starts it again on its data.
    pub fn restart(&self) {
        self.running.borrow_mut().restart();
    }

    /// Removes the databases that tries had to leave.
    pub fn clear(&self) {
        for name in self.databases().lines().filter(|name| name.starts_with("dyno_")) {
            let drop = match self.scheme {
                "postgres" => format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)"),
                _ => format!("DROP DATABASE IF EXISTS `{name}`"),
            };
            self.running.borrow().execute(&drop);
        }
    }
}
