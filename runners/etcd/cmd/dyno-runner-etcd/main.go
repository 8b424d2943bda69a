// Command dyno-runner-etcd is the runner of the driver for etcd, which brings many packages: so it is in a module apart.
package main

import (
	"dyno/runners/go/etcd/driver"
	"dyno/runners/go/internal/runner"
)

func main() { runner.Main(map[string]runner.Open{"etcd/go": driver.Open}) }
