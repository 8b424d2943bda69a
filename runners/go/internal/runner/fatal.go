package runner

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// fatal is the trial at work, for a driver that cannot go on in a separate goroutine.
var fatal atomic.Pointer[trial]

// Fatal ends the process with a failed event: for a library that calls it where the process must not go on.
func Fatal(format string, values ...any) {
	if trial := fatal.Load(); trial != nil {
		trial.fail(errors.New(fmt.Sprintf(format, values...)))
	}
	os.Exit(1)
}
