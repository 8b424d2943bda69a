// Command dyno-runner-go-mattn is the runner of sqlite/mattn. It is a separate program because the driver
// carries SQLite's symbols in C, as another one does.
package main

import (
	"dyno/runners/go/internal/mattn"
	"dyno/runners/go/internal/runner"
)

func main() {
	runner.Main(map[string]runner.Open{"sqlite/mattn": mattn.Open})
}
