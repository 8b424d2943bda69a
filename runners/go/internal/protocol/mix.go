package protocol

import (
	"encoding/json"
	"math"
)

// Mix is the input of the model mix: classes of operations, and for each client a file of steps that says
// which it does, with what.
type Mix struct {
	// Classes are what steps name by position.
	Classes []MixClass `json:"classes"`
	// Fields are what a step has for the parameters of its statements, in order.
	Fields []StepField `json:"fields"`
	// Lists are the lists of a step, over which statements are repeated.
	Lists []StepList `json:"lists"`
	// Clients is how many there are, each a separate session.
	Clients int `json:"clients"`
	// Steps is a file for each client, or one that they share: a client that is free does the next.
	Steps []StepFile `json:"steps"`
	// Think is the position of a field: how long the client waits before it sends the step, in nanoseconds
	// since it was free; nil: not at all.
	Think *int `json:"think"`
	// Reports is the position of a field: each client reports its number right before it does a step and right after the
	// step is done; nil: nothing is said.
	Reports *int `json:"reports"`
	// IntervalNS is how often what was done since the last time is reported, in nanoseconds, in a mix that lasts a time; 0:
	// never.
	IntervalNS int64 `json:"interval_ns"`
	// TimesStatements says whether each statement of each operation is timed.
	TimesStatements bool `json:"times_statements"`
	// Session is how many steps a session has: a client that is free takes this many of the file that all share,
	// connects when the first of them is due, does them and leaves; nil: each client is connected all the time.
	Session *int `json:"session"`
	// Part says which of the test's clients this process has, where several processes do the mix; nil: all of them.
	Part *ClientPart `json:"part"`
	// Lasts is how long the section lasts; nil: all steps are done once.
	Lasts *Lasts `json:"lasts"`
	// PatienceNS is how long an operation may wait for locks, its repeated tries included, in nanoseconds.
	PatienceNS int64 `json:"patience_ns"`
	// Queries are what the check is made of, one by one.
	Queries []NamedQuery `json:"queries"`
	// Store is the store on which all statements are operations; nil: they are SQL. In a job it is the test's.
	Store *Store `json:"-"`
	// Invariants are what must hold of the store after the section.
	Invariants []StoreInvariant `json:"invariants"`
}

// Connect is the name of the class of the time that clients which come and go take to connect.
const Connect = "connect"

// StoreDoes is what a statement does with a store; its first parameter is the key.
type StoreDoes string

// A statement looks a key up, puts it with the second parameter as its value, or visits as many pairs as the second
// parameter says, from the first key that is not less.
const (
	Get   StoreDoes = "get"
	Put   StoreDoes = "put"
	Range StoreDoes = "range"
)

// StoreInvariant is what must hold of a store: what it says, and what is counted as breaking it.
type StoreInvariant struct {
	Says string `json:"says"`
	// Counts is "torn" (values that are not Times times the same bytes), "missing" (keys From up to To that are not
	// there), "gaps" (clients that lack a number before one that is there; each has every Step-th from From on, Below
	// the end) or "pairs" (nothing: the pairs of keys From up to To are reported).
	Counts string `json:"counts"`
	Times  int    `json:"times"`
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Below  int64  `json:"below"`
	Step   int64  `json:"step"`
}

// MixClass is a class of operations.
type MixClass struct {
	Name string `json:"name"`
	// Transaction is what its statements are one transaction for; empty: each is a separate transaction.
	Transaction Purpose        `json:"transaction"`
	Statements  []MixStatement `json:"statements"`
	// Loops are those of them that are repeated, in order.
	Loops []MixLoop `json:"loops"`
	// RollbackIf is the position of a field: where it is not 0 the transaction is undone at its end, as planned.
	RollbackIf *int `json:"rollback_if"`
	// Pauses are when its client pauses within the operation, in order; never within a loop.
	Pauses []Pause `json:"pauses"`
	// Ignores are codes of errors with which an operation may end.
	Ignores []string `json:"ignores"`
	// Protocol is the way in which its statements reach the database: "simple", or empty, which is "prepared".
	Protocol string `json:"protocol"`
	// PatienceNS is how long one of its operations may wait for locks, in nanoseconds; nil: as long as the mix says.
	PatienceNS *int64 `json:"patience_ns"`
}

// Simple is the protocol of a class whose statements are never prepared beforehand.
const Simple = "simple"

// PatienceOf is how long an operation of a class, by position, may wait for locks, in nanoseconds.
func (m *Mix) PatienceOf(class int) int64 {
	if own := m.Classes[class].PatienceNS; own != nil {
		return *own
	}
	return m.PatienceNS
}

// ShortestPatience is how long an operation of any class may wait for locks, in nanoseconds: what a connection may wait
// that has one limit for all. An operation that may wait longer is tried again.
func (m *Mix) ShortestPatience() int64 {
	shortest := int64(math.MaxInt64)
	for class := range m.Classes {
		shortest = min(shortest, m.PatienceOf(class))
	}
	return shortest
}

// MixLoop is statements that are repeated together, once for each item of a list.
type MixLoop struct {
	// First is the position of the first of them in the class, Count how many they are.
	First int `json:"first"`
	Count int `json:"count"`
	// Over is what they are repeated for: one of both.
	Over struct {
		// List is the position of a list of the step.
		List *int `json:"list"`
		// Rows is the position of an earlier statement, which keeps all of its rows.
		Rows *int `json:"rows"`
	} `json:"over"`
}

// NamedQuery is a query with what it is about.
type NamedQuery struct {
	Says  string `json:"says"`
	Query string `json:"query"`
}

// Pause is a pause of a client before a statement, by its position; behind the last one before the commit.
type Pause struct {
	Before      int   `json:"before"`
	Nanoseconds int64 `json:"nanoseconds"`
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
	// Parameters has for each where its value comes from.
	Parameters []MixValue `json:"parameters"`
	// Keeps is what is kept of its rows for later statements of the operation; nil: nothing.
	Keeps *MixRows `json:"keeps"`
	// Does is what it does with the store, in place of SQL.
	Does StoreDoes `json:"does"`
}

// MixValue is where the value of a parameter comes from.
type MixValue struct {
	From ValueFrom
	// Place is the position of the field or of the column.
	Place int
	// Statement is the position of the statement that keeps the row.
	Statement int
}

// ValueFrom is the kind of thing that a value comes from.
type ValueFrom uint8

// A value comes from a field of the step; from a column of a row that an earlier statement keeps, the first
// or within a loop over its rows the current one; or from a column of the current item of a list.
const (
	FromField ValueFrom = iota
	FromRow
	FromItem
)

// UnmarshalJSON reads the position of a field, a row's column, or an item's.
func (v *MixValue) UnmarshalJSON(text []byte) error {
	var field int
	if json.Unmarshal(text, &field) == nil {
		*v = MixValue{Place: field}
		return nil
	}
	var other struct {
		Statement *int `json:"statement"`
		Column    int  `json:"column"`
		Item      int  `json:"item"`
	}
	if err := json.Unmarshal(text, &other); err != nil {
		return err
	}
	if other.Statement != nil {
		*v = MixValue{FromRow, other.Column, *other.Statement}
	} else {
		*v = MixValue{From: FromItem, Place: other.Item}
	}
	return nil
}

// MixRows is what is kept of the rows of a statement.
type MixRows struct {
	// Columns is how many columns a row has.
	Columns int `json:"columns"`
	// MayMiss says whether there may be no row; otherwise the operation has then failed.
	MayMiss bool `json:"may_miss"`
}

// StepList is a list of items in a step, whose values are fields, item by item.
type StepList struct {
	Name string `json:"name"`
	// Count is the position of the field that says how many items a step has, First that of the first item's
	// first field.
	Count int `json:"count"`
	First int `json:"first"`
	// Columns is how many an item has, Most the most items of a step.
	Columns int `json:"columns"`
	Most    int `json:"most"`
}

// StepField is a field of a step. Kind is "integer" or "real" (8 bytes, the least significant first), "text", or
// "varying-text": the length in 8 bytes, then the text.
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

// ClientPart says how many clients there are in the processes before this one, and in all of them. The process with the
// first client makes the database and checks it; others join it.
type ClientPart struct {
	Before int `json:"before"`
	Of     int `json:"of"`
}
