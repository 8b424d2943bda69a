//! Database servers: found on this machine, started for one run, addressed and stopped.
//!
//! `engines/*.toml` describes server engines and how to start them as data; the differences between
//! protocols are in `protocol`, `postgres` and `mysql`.
//!
//! An engine that is a server is measured on a *private* server, which dyno starts from an
//! [`Installation`] and which dies with it, or on one that runs already and that a [`dyno_engine::ServerUrl`] names.
//! Either way a runner gets a [`dyno_protocol::Server`].
//!
//! Nothing here speaks to a database: making the trial's own database is the runner's work, and no
//! client library is linked. A private server reads no configuration of the machine's and listens on no
//! network; a server that runs already is never started, stopped or looked at.

mod account;
mod cache;
mod cluster;
mod commands;
mod companion;
mod copy;
mod folders;
mod identity;
mod install;
mod installation;
mod installed;
mod key_file;
mod libraries;
mod mysql;
mod names;
mod pool;
mod postgres;
mod private;
mod process;
mod protocol;
mod segments;
mod store;
mod template;

pub use account::Account;
pub use cluster::{Cluster, ClusterNetwork, ClusterOrder};
pub(crate) use folders::{SERVER_PREFIX, SOCKETS};
pub use identity::identified;
pub use install::Installable;
pub use installation::Installation;
pub use installed::{engines_folder, installed};
pub use names::scratch_name;
pub use pool::ServerPool;
pub use private::{NotReady, PrivateServer};
pub(crate) use segments::sweep as sweep_segments;
pub use store::{StoreCluster, StoreOrder, node_address};
