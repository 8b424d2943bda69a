//! The way of clients to their servers, on which dyno makes each round trip longer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use dyno_engine::{Protocol, ScratchServer};
use dyno_protocol::Server;
use dyno_wire::{Inspector, Proxy, ServerPlace};

use crate::scratch::{Scratch, sockets};
use crate::server::node_address;

/// The socket's name in PostgreSQL's folder of sockets, but for the port.
const POSTGRES_SOCKET: &str = ".s.PGSQL.";
/// The name of a proxy's socket where a client names the socket itself.
const SOCKET: &str = "server.sock";
/// The modes of encryption in which a client compares the name of the host with the server's certificate.
const NAMED_MODES: [(&str, &str); 2] = [("sslmode", "verify-full"), ("ssl-mode", "VERIFY_IDENTITY")];

/// The proxies before the servers of a run.
#[derive(Debug)]
pub struct Network {
    round_trip: Duration,
    /// Sees all bytes, if there is one.
    inspector: Option<Arc<dyn Inspector>>,
    /// The folder of their sockets.
    folder: PathBuf,
    proxies: Vec<(ServerPlace, Proxy)>,
    /// In place of that folder where paths of sockets in it would be too long. It goes after the proxies.
    short: Option<Scratch>,
}

impl Network {
    /// Adds `round_trip` to each round trip. `folder` is a folder of the run.
    pub fn new(round_trip: Duration, folder: &Path) -> Network {
        Network { round_trip, inspector: None, folder: folder.to_owned(), proxies: Vec::new(), short: None }
    }

    /// The same with an inspector of all bytes.
    pub fn inspected(self, inspector: Arc<dyn Inspector>) -> Network {
        Network { inspector: Some(inspector), ..self }
    }

    /// The same server, reached through a proxy.
    ///
    /// # Errors
    /// There is no proxy for it: its clients would compare the proxy's name with the server's certificate.
    pub fn through(&mut self, served: ScratchServer) -> Result<ScratchServer> {
        ensure!(
            served.server.further.is_empty(),
            "--delay leads clients to one server, and reach=any to all nodes of a cluster: leave one of them out"
        );
        let place = place(served.speaks, &served.server);
        check(&served.server, &place)?;
        let socket = match (&place, served.speaks) {
            (ServerPlace::Socket(path), Protocol::Postgres) => {
                let name = path.file_name().and_then(|name| name.to_str());
                name.context("the server's socket has no name")?.to_owned()
            }
            _ => SOCKET.to_owned(),
        };
        let server = at(self.before(place, &socket)?, served.speaks, served.server)?;
        Ok(ScratchServer { server, ..served })
    }

    /// The same for the first node of a store, which its clients then reach by a socket. The other nodes, with which they
    /// do not work, are where they were.
    ///
    /// # Errors
    /// The proxy cannot be started.
    pub fn through_to_store(&mut self, server: Server) -> Result<Server> {
        let place = match node_address(&server)? {
            Some((network, address)) => ServerPlace::Within(network, address),
            None => ServerPlace::Socket(server.host.clone().into()),
        };
        let ServerPlace::Socket(path) = self.before(place, SOCKET)? else { return Ok(server) };
        Ok(Server { host: text(path)?, ..server })
    }

    /// The place of the proxy before a server, which is started if need be, with a socket of this name.
    fn before(&mut self, place: ServerPlace, socket: &str) -> Result<&ServerPlace> {
        let known = self.proxies.iter().position(|(known, _)| *known == place);
        let index = match known {
            Some(index) => index,
            None => {
                let inspector = self.inspector.clone();
                let folder = self.folder_for(&place, socket)?;
                let proxy = Proxy::start(place.clone(), self.round_trip, inspector, &folder, socket)?;
                self.proxies.push((place, proxy));
                self.proxies.len() - 1
            }
        };
        Ok(self.proxies[index].1.place())
    }

    /// The folder for the proxy before a server, with a socket of this name if it has one: where the path of that in the
    /// run's folder would be too long, a short one.
    fn folder_for(&mut self, place: &ServerPlace, socket: &str) -> Result<PathBuf> {
        let socket = Path::new(&"x".repeat(Proxy::FOLDER_LENGTH)).join(socket);
        if matches!(place, ServerPlace::Port(..)) || sockets::fits(&self.folder.join(&socket)) {
            return Ok(self.folder.clone());
        }
        let short = match self.short.take() {
            Some(short) => short,
            None => sockets::short_folder(sockets::parents(), &socket, |_| Ok(()))
                .context("there is no place for a proxy's socket")?,
        };
        Ok(self.short.insert(short).folder().to_owned())
    }
}

/// The address at which a server accepts connections.
fn place(speaks: Protocol, server: &Server) -> ServerPlace {
    let usual = match speaks {
        Protocol::Postgres => 5432,
        Protocol::MySql => 3306,
    };
    let port = server.port.unwrap_or(usual);
    match (server.host.starts_with('/'), speaks) {
        (false, _) => ServerPlace::Port(server.host.clone(), port),
        (true, Protocol::MySql) => ServerPlace::Socket(server.host.clone().into()),
        (true, Protocol::Postgres) => {
            ServerPlace::Socket(Path::new(&server.host).join(format!("{POSTGRES_SOCKET}{port}")))
        }
    }
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).context("the path of the proxy's socket is not UTF-8")
}

/// The server at the place of a proxy.
fn at(proxy: &ServerPlace, speaks: Protocol, server: Server) -> Result<Server> {
    Ok(match (proxy, speaks) {
        (ServerPlace::Port(host, port), _) => Server { host: host.clone(), port: Some(*port), ..server },
        (ServerPlace::Socket(path), Protocol::MySql) => Server { host: text(path)?, ..server },
        (ServerPlace::Socket(path), Protocol::Postgres) => {
            Server { host: text(path.parent().unwrap_or(path))?, ..server }
        }
        // A proxy is never there.
        (ServerPlace::Within(..), _) => server,
    })
}

/// # Errors
/// Clients of a server compare its name with its certificate.
fn check(server: &Server, place: &ServerPlace) -> Result<()> {
    let compares = NAMED_MODES
        .iter()
        .any(|(name, mode)| server.options.get(*name).is_some_and(|value| value.eq_ignore_ascii_case(mode)));
    ensure!(
        !compares || matches!(place, ServerPlace::Socket(_)),
        "dyno's proxy leads clients through a port of 127.0.0.1, and the URL asks them to compare the host's name with the server's \
         certificate; verify-ca checks the certificate without the name, as VERIFY_CA of MySQL does with most drivers"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(host: &str, port: Option<u16>, options: &[(&str, &str)]) -> Server {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let user = "u".to_owned();
        Server {
            host: host.into(),
            port,
            user,
            password: None,
            database: None,
            options,
            process: None,
            further: Vec::new(),
            further_processes: Vec::new(),
        }
    }

    #[test]
    fn a_server_is_where_its_own_clients_look_for_it() {
        let found = |speaks, host, port| place(speaks, &server(host, port, &[]));
        let socket = |path: &str| ServerPlace::Socket(path.into());
        assert_eq!(found(Protocol::Postgres, "/run/pg", None), socket("/run/pg/.s.PGSQL.5432"));
        assert_eq!(found(Protocol::Postgres, "/run/pg", Some(6000)), socket("/run/pg/.s.PGSQL.6000"));
        assert_eq!(found(Protocol::MySql, "/run/m.sock", Some(7)), socket("/run/m.sock"));
        assert_eq!(found(Protocol::MySql, "db", None), ServerPlace::Port("db".into(), 3306));
        assert_eq!(found(Protocol::Postgres, "::1", Some(1)), ServerPlace::Port("::1".into(), 1));
    }

    #[test]
    fn clients_are_led_to_the_proxy_and_keep_the_rest() {
        let led = |proxy: ServerPlace, speaks| {
            let server = at(&proxy, speaks, server("h", Some(6000), &[("sslmode", "require")])).unwrap();
            assert_eq!((server.user.as_str(), server.options.len()), ("u", 1));
            (server.host, server.port)
        };
        let socket = || ServerPlace::Socket("/x/wire-1/.s.PGSQL.6000".into());
        assert_eq!(led(socket(), Protocol::Postgres), ("/x/wire-1".into(), Some(6000)));
        assert_eq!(led(socket(), Protocol::MySql), ("/x/wire-1/.s.PGSQL.6000".into(), Some(6000)));
        let port = ServerPlace::Port("127.0.0.1".into(), 9);
        assert_eq!(led(port, Protocol::MySql), ("127.0.0.1".into(), Some(9)));
    }

    #[test]
    fn a_name_that_is_compared_with_a_certificate_is_refused() {
        let refused = |options: &[(&str, &str)], host| {
            let server = server(host, None, options);
            check(&server, &place(Protocol::Postgres, &server)).is_err()
        };
        assert!(refused(&[("sslmode", "verify-full")], "db"));
        assert!(refused(&[("ssl-mode", "VERIFY_IDENTITY")], "db"));
        assert!(!refused(&[("sslmode", "verify-ca")], "db") && !refused(&[], "db"));
        assert!(!refused(&[("sslmode", "verify-full")], "/run"));
    }
}
