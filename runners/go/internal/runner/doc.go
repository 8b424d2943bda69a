// Package runner is the skeleton of a runner in Go: all of a trial that is not the engine. It is what
// crates/runner is in Rust.
//
// A driver implements Driver and of Statements, Rows, KeyValue and Sessions what it can; a program calls Main with
// the drivers that it serves. The skeleton reads the job, maps every input before the clock starts,
// collects garbage, reads the clock and the kernel's counters, sends the events, and turns every way of
// going wrong, a panic included, into a "failed" event that names the test.
//
// The timed loops are the drivers' own: an interface is called once for a test and not for a row. Only the
// loop of many clients is the skeleton's: their operations are larger, and it is the same for all drivers.
package runner
