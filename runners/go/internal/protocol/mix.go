package protocol

// Mix is the input of the model mix: classes of operations, and for each client a file of steps that says
// which it does, with what.
type Mix struct {
	// Classes are what steps name by position.
	Classes []MixClass `json:"classes"`
	// Fields are what a step has for the parameters of its statements, in order.
	Fields []StepField `json:"fields"`
	// Clients is how many there are, each a session of its own.
	Clients int `json:"clients"`
	// Steps is a file for each client, or one that they share: whoever is free does the next.
	Steps []StepFile `json:"steps"`
	// Lasts is how long the section lasts; nil: all steps are done once.
	Lasts *Lasts `json:"lasts"`
	// PatienceNS is how long an operation may wait for locks, its repeated tries included, in nanoseconds.
	PatienceNS int64 `json:"patience_ns"`
}

// MixClass is a class of operations.
type MixClass struct {
	Name string `json:"name"`
	// Transaction is what its statements are one transaction for; empty: each is a transaction of its own.
	Transaction Purpose        `json:"transaction"`
	Statements  []MixStatement `json:"statements"`
}

// Purpose is what a transaction is for.
type Purpose string

// A transaction reads only, or it writes.
const (
	Read  Purpose = "read"
	Write Purpose = "write"
)

// MixStatement is a statement, prepared once a client and executed many times.
type MixStatement struct {
	// Text is what stands before, between and after its parameters.
	Text []string `json:"text"`
	// Parameters has the position of a field for each.
	Parameters []int `json:"parameters"`
}

// StepField is a field of a step. Kind is "integer" (8 bytes, the least significant first) or "text".
type StepField struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Bytes int    `json:"bytes"`
}

// StepFile is a file of steps, and how many there are.
type StepFile struct {
	File  string `json:"file"`
	Count int    `json:"count"`
}

// Lasts is how long operations count, and how long they are done before that, in nanoseconds.
type Lasts struct {
	DurationNS int64 `json:"duration_ns"`
	WarmUpNS   int64 `json:"warm_up_ns"`
}
