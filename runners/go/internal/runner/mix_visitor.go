package runner

import (
	"errors"
	"fmt"

	"dyno/runners/go/internal/protocol"
)

// visits are the sessions of a mix whose clients come and go: what each prepares is what it executes, as a program does
// that comes for a moment.
type visits struct {
	driver Door
	// each is how many steps a session has.
	each int
	// needs has for what sessions execute, a byte for each class that says whether it is among the steps, the part of
	// the mix that they prepare.
	needs map[string]*needed
}

// needed is a mix with the statements of some classes alone, which keep their positions, and the position of each
// class's first statement among them.
type needed struct {
	mix    *protocol.Mix
	firsts []int
}

// newVisits looks at all sessions of a mix. It refuses steps that are not those of sessions.
func newVisits(mix *protocol.Mix, driver Sessions, steps *steps) (*visits, error) {
	visited, ok := driver.(Door)
	if !ok || mix.Store != nil {
		return nil, errors.New("this driver has no clients that come and go")
	}
	each := *mix.Session
	if each < 1 || steps.len()%each != 0 {
		return nil, fmt.Errorf("there are %d steps in sessions of %d: this is an error in dyno", steps.len(), each)
	}
	all := &visits{visited, each, map[string]*needed{}}
	classes := make([]byte, len(mix.Classes))
	for place := 0; place < steps.len(); place += each {
		if steps.get(place).due() == 0 {
			return nil, fmt.Errorf("session %d is due at no time: this is an error in dyno", place/each)
		}
		all.classes(steps, place, classes)
		if all.needs[string(classes)] == nil {
			part := *mix
			part.Classes = append([]protocol.MixClass{}, mix.Classes...)
			for class, is := range classes {
				if is == 0 {
					part.Classes[class].Statements = nil
				}
			}
			all.needs[string(classes)] = &needed{&part, firstsOf(&part)}
		}
	}
	return all, nil
}

// classes notes which classes the steps of a session have that begins at a place.
func (v *visits) classes(steps *steps, place int, classes []byte) {
	clear(classes)
	for step := place; step < place+v.each; step++ {
		classes[steps.get(step).class()] = 1
	}
}

// visit takes sessions, one after another, until the time is up or none is left. began is when the clients began.
func (c *client) visit(visits *visits, began moment, recorder *recorder) error {
	classes := make([]byte, len(c.mix.Classes))
	free := began.since()
	for free < c.window.until && !c.stop.Load() {
		place := int(c.next.Add(int64(visits.each))) - visits.each
		if place >= c.steps.len() {
			break
		}
		visits.classes(c.steps, place, classes)
		now := recorder.after(free, began)
		due, sent := c.steps.get(place).due(), now
		if max(due, free) >= c.window.until {
			break
		}
		if due > free {
			sent = began.wait(due)
		}
		connecting := times{due: due, free: free, sent: sent}
		if err := c.attend(visits, place, visits.needs[string(classes)], connecting, began, recorder); err != nil {
			return err
		}
		free = began.since()
	}
	c.leave(0, visits.each, recorder, func(Step) int { return len(c.mix.Classes) })
	return nil
}

// attend is one session: it connects, does its steps and leaves.
func (c *client) attend(visits *visits, place int, needed *needed, connecting times, began moment, recorder *recorder) (err error) {
	session, err := visits.driver.Connect()
	if err != nil {
		return Place(protocol.Connect, err)
	}
	defer func() {
		if after := session.Close(); err == nil {
			err = Place("leaving", after)
		}
	}()
	if err := session.Prepare(needed.mix); err != nil {
		return Place(protocol.Connect, err)
	}
	c.firsts = needed.firsts
	c.use(session)
	done := began.since()
	connecting.done = done
	recorder.done(len(c.mix.Classes), connecting, 0, false)
	for step := place; step < place+visits.each && done < c.window.until && !c.stop.Load(); step++ {
		if done, err = c.step(c.steps.get(step), times{free: done, sent: done}, began, recorder); err != nil {
			return err
		}
	}
	return nil
}
