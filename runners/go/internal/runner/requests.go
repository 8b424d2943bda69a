package runner

// Requests does operations of which some make a transaction that is one request, and returns how many were done: add puts
// the one at a place into the request and says whether that is full, and send sends it.
func Requests(count, perCommit int, turns *Turns, watch *Latency, add func(place int) (full bool), send func() error) (int, error) {
	done := 0
	err := turns.Parts(0, count, 1, func(from, to int) error {
		for place := from; place < to; place++ {
			begin := watch.Begin()
			var err error
			if add(place) || place+1 == count || (place+1)%perCommit == 0 {
				err = send()
			}
			watch.End(begin)
			if err != nil {
				return At(place, err)
			}
			done++
		}
		return nil
	})
	return done, err
}
