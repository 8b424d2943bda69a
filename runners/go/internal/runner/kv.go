package runner

// Put is pairs to put.
type Put struct {
	Keys, Values Cells
	// Overwrite says whether the keys are there already.
	Overwrite bool
	// PerCommit is how many operations make a transaction: all of them where the job does not say.
	PerCommit int
	// Turns is when they are put.
	Turns *Turns
}

// Delete is keys to delete, each of which is there.
type Delete struct {
	Keys      Cells
	PerCommit int
	Turns     *Turns
}

// Lookups is keys to look up.
type Lookups struct {
	Keys Cells
	// InOne says whether all are in one transaction or snapshot, which is begun and ended within the clock.
	InOne bool
	// Turns is when they are looked up.
	Turns *Turns
}

// Ranges is where ranges begin, and how many pairs each has.
type Ranges struct {
	Lookups
	Length int
}

// Found is what lookups found.
type Found struct {
	// Count is how many values were there; Bytes the sum of their lengths.
	Count, Bytes int
}

// Add adds a value of this length.
func (f *Found) Add(length int) {
	f.Count++
	f.Bytes += length
}
