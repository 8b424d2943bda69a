// Command dyno-runner-rqlite is the runner of the driver for rqlite: it is in a module apart, with the server's packages.
package main

import (
	"dyno/runners/go/internal/runner"
	"dyno/runners/go/rqlite/driver"
)

func main() { runner.Main(map[string]runner.Open{"rqlite/go": driver.Open}) }
