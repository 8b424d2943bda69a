// Command dyno-runner-go-gosqlite is the runner of sqlite/gosqlite. It is a separate program because the
// driver carries SQLite's symbols in C, as another one does.
package main

import (
	"dyno/runners/go/internal/gosqlite"
	"dyno/runners/go/internal/runner"
)

func main() {
	runner.Main(map[string]runner.Open{"sqlite/gosqlite": gosqlite.Open})
}
