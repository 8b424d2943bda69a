package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"dyno/runners/go/internal/protocol"
)

// orders are what dyno says on standard input to a process that has some of a mix's clients.
type orders struct {
	input  *bufio.Reader
	events *events
}

// begin reports that the clients of this process are ready, and waits for the order to begin. dyno compares the clocks
// meanwhile. It returns the moment at which they begin.
func (o *orders) begin() (moment, error) {
	for {
		order, err := o.ask("ready", protocol.ClientsReady{ClockNS: monotonic()})
		switch {
		case err != nil:
			return 0, err
		case order.Order == "begin":
			return momentIn(time.Duration(order.AtNS - monotonic())), nil
		case order.Order != "clock":
			return 0, fmt.Errorf("the order %q came before the clients began", order.Order)
		}
	}
}

// end reports that the clients of this process are done, and waits until those of all processes are.
func (o *orders) end() error {
	order, err := o.ask("done", struct{}{})
	if err == nil && order.Order != "go-on" {
		err = fmt.Errorf("the order %q came where the clients are done", order.Order)
	}
	return err
}

// ask sends an event and reads the order that answers it.
func (o *orders) ask(event string, body any) (order protocol.ClientOrder, err error) {
	if err := o.events.send(event, body); err != nil {
		return order, err
	}
	line, err := o.input.ReadBytes('\n')
	if len(line) == 0 {
		return order, fmt.Errorf("standard input ended where an order was expected (%w)", err)
	}
	if json.Unmarshal(line, &order) != nil || order.Order == "" {
		return order, errors.New("a line that is no order came where one was expected")
	}
	return order, nil
}
