//! The proxy between clients and their servers: it passes bytes on, unchanged and in order, and makes each round trip
//! longer by a fixed time.
//!
//! Half of the time is added on the way to the server and half on the way back. The proxy adds no round trip: it reads
//! nothing of what it passes on, so encrypted connections, requests to cancel a statement and ends of connections go
//! through as they are. It runs in threads of the program that starts it, on that program's processors.
//!
//! An inspector may see the bytes: a [`Recording`] keeps them, and [`count`] reads afterwards what clients asked of
//! servers and how often they waited.

mod decode;
mod delay_line;
mod endpoint;
mod inspect;
mod pattern;
mod proxy;
mod recording;
mod traffic;

pub use decode::{Ask, Conversation, Obstacle, WireProtocol};
pub use endpoint::{ServerPlace, connect_within};
pub use inspect::{Inspector, Passage, PeerRole};
pub use pattern::without_values;
pub use proxy::Proxy;
pub use recording::Recording;
pub use traffic::{SentText, Traffic, count};
