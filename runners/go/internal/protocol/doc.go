// Package protocol has the types of the contract between dyno and a runner: one Job as JSON on the
// runner's standard input, then events as JSON lines on its standard output. docs/protocol.md defines
// them; crates/protocol is the same in Rust.
//
// It holds types only. Durations are nanoseconds, sizes are bytes.
package protocol

// Version is the version of the contract.
const Version = 3
