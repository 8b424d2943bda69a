package protocol

// Test is one test of a job: a model with its input. Which fields are there depends on the model.
type Test struct {
	ID    string   `json:"id"`
	Model string   `json:"model"`
	Setup []string `json:"setup"`
	// Check is the query whose rows are the answer; nil where the model says what the answer is.
	Check *string `json:"check"`

	// File and Count are the input of the model statements.
	File  string `json:"file"`
	Count int    `json:"count"`

	// Table is that of the models insert-rows, bulk-load and scan.
	Table   string   `json:"table"`
	Rows    *RowFile `json:"rows"`
	Columns []Column `json:"columns"`
	Differ  []int    `json:"differ"`
	SQL     string   `json:"sql"`

	// Store is that of the key-value models.
	Store     *Store `json:"store"`
	Pairs     *Pairs `json:"pairs"`
	Keys      *Cells `json:"keys"`
	Overwrite bool   `json:"overwrite"`
	Present   bool   `json:"present"`
	Length    int    `json:"length"`
	// Reads is what transactions lookups are in: "one" for all of them, else "each".
	Reads string `json:"reads"`
	// Stores are those that the model kv-settle settles.
	Stores []Store `json:"stores"`

	// Mix is the input of the model mix.
	Mix

	// PerCommit is how many operations make one transaction; nil: all of them together.
	PerCommit *int `json:"per_commit"`
	// Timed is how many operations, the first, are timed; nil: all.
	Timed *int `json:"timed"`
}

// Cells is a flat file of cells of one width.
type Cells struct {
	File  string `json:"file"`
	Count int    `json:"count"`
	Bytes int    `json:"bytes"`
}

// RowFile is a flat file of rows, each its cells one after another.
type RowFile struct {
	File    string   `json:"file"`
	Count   int      `json:"count"`
	Columns []Column `json:"columns"`
}

// Column is a column of a row file.
type Column struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

// Pairs are keys and values in two files, a pair by position. Values is nil where keys are only looked
// up in vain.
type Pairs struct {
	Keys   Cells  `json:"keys"`
	Values *Cells `json:"values"`
}

// Store is one map from keys to values. Key is "integer" (8 bytes, the most significant first) or "blob".
type Store struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}
