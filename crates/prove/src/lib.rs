//! Proofs of durability: which acknowledged commits survive a power cut or a kill, and what a commit waits for.
//!
//! A program works on a [`disk`] that records every write and every flush, and says when a commit is acknowledged.
//! Afterwards the disk is made as each of many power cuts could have left it, and looked at.
//!
//! Proofs are separate passes and are never a part of what is timed.

pub mod calls;
pub mod cluster;
pub mod content;
pub mod context;
pub mod corruption;
pub mod cuts;
pub mod disk;
pub mod errors;
pub mod evidence;
pub mod history;
pub mod image;
pub mod judge;
mod phase;
pub mod posix;
pub mod private_mount;
mod process;
mod proof;
mod rounds;
pub mod storage;
pub mod subject;
pub mod tree;
mod tried;
mod unrecorded;
