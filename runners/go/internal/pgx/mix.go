package pgx

import (
	"encoding/binary"
	"fmt"
	"math"

	"dyno/runners/go/internal/postgres"
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// client is a client of a mix on a connection.
type client struct {
	*session
	// own is whether the connection ends with the client.
	own        bool
	statements []statement
}

// statement is a prepared one, with what it is executed with.
type statement struct {
	// name is that of the prepared one, or the text of one that is not prepared.
	name     string
	isSimple bool
	// sources has for each parameter where its value comes from.
	sources []protocol.MixValue
	// values has the formats of the results, and then the values of the parameters.
	values []any
	// columns are those of its rows; none where it has none.
	columns []pgconn.FieldDescription
}

// Session is the session of a client.
func (d *Database) Session(place int) (runner.Session, error) {
	if place == 0 {
		return &client{session: d.session}, nil
	}
	return d.Connect()
}

// Connect is the session of a client that comes for a while.
func (d *Database) Connect() (runner.Session, error) {
	another, err := d.trial.Another()
	if err != nil {
		return nil, err
	}
	return &client{session: another, own: true}, nil
}

func (c *client) Prepare(mix *protocol.Mix) error {
	return runner.PrepareAll(mix, parameter, func(one runner.Statement) error {
		if one.IsSimple {
			values := make([]any, 1+len(one.Parameters))
			values[0] = pgx.QueryExecModeSimpleProtocol
			c.statements = append(c.statements, statement{name: one.SQL, isSimple: true, sources: one.Parameters, values: values})
			return nil
		}
		name := fmt.Sprintf("dyno_%d", len(c.statements))
		prepared, err := c.conn.Prepare(background, name, one.SQL)
		if err != nil {
			return c.explain(err)
		}
		formats := make(pgx.QueryResultFormats, len(prepared.Fields))
		for i, field := range prepared.Fields {
			formats[i] = formatOf(field.DataTypeOID)
		}
		values := make([]any, 1+len(one.Parameters))
		values[0] = formats
		c.statements = append(c.statements, statement{name: name, sources: one.Parameters, values: values, columns: prepared.Fields})
		return nil
	})
}

func (c *client) Run(place int, values *runner.Values, answer *runner.Answer) error {
	one := &c.statements[place]
	values.Fill(one.sources, one.values[1:])
	if len(one.columns) == 0 && !one.isSimple {
		_, err := c.conn.Exec(background, one.name, one.values[1:]...)
		return c.explain(err)
	}
	rows, err := c.conn.Query(background, one.name, one.values...)
	if err != nil {
		return c.explain(err)
	}
	defer rows.Close()
	if one.isSimple {
		return c.explain(readText(rows, answer))
	}
	for rows.Next() {
		for i, value := range rows.RawValues() {
			if kind := one.columns[i].DataTypeOID; value != nil && formatOf(kind) == pgx.BinaryFormatCode {
				putBinary(value, kind, answer)
			} else {
				put(value, kind, answer)
			}
		}
		answer.EndRow()
	}
	return c.explain(rows.Err())
}

// readText reads the rows of a statement that was sent by the simple protocol, whose values are texts.
func readText(rows pgx.Rows, answer *runner.Answer) error {
	for rows.Next() {
		columns := rows.FieldDescriptions()
		for i, value := range rows.RawValues() {
			put(value, columns[i].DataTypeOID, answer)
		}
		answer.EndRow()
	}
	return rows.Err()
}

func (c *client) Begin(protocol.Purpose) error { return c.command("BEGIN") }

func (c *client) Commit() error { return c.command("COMMIT") }

func (c *client) Rollback() error { return c.command("ROLLBACK") }

// command sends a statement of transactions as text, as the driver's own Begin and Commit do.
func (c *client) command(sql string) error {
	_, err := c.conn.Exec(background, sql)
	return c.explain(err)
}

func (c *client) MayPass(err error) bool { return postgres.MayPass(err) }

// Codes are those of an error.
func (c *client) Codes(err error) []string { return postgres.Codes(err) }

func (c *client) Close() error {
	if c.own {
		return c.session.Close()
	}
	for _, one := range c.statements {
		if one.isSimple {
			continue
		}
		if err := c.conn.Deallocate(background, one.name); err != nil {
			return c.explain(err)
		}
	}
	return nil
}

// formatOf is the format in which values of a type are asked for: the binary one, which is the driver's
// choice, where they are read from it here.
func formatOf(kind uint32) int16 {
	switch kind {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.Float8OID, pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID:
		return pgx.BinaryFormatCode
	}
	return pgx.TextFormatCode
}

// putBinary adds a value of one of those types.
func putBinary(value []byte, kind uint32, answer *runner.Answer) {
	switch kind {
	case pgtype.Int2OID:
		answer.Integer(int64(int16(binary.BigEndian.Uint16(value))))
	case pgtype.Int4OID:
		answer.Integer(int64(int32(binary.BigEndian.Uint32(value))))
	case pgtype.Int8OID:
		answer.Integer(int64(binary.BigEndian.Uint64(value)))
	case pgtype.Float8OID:
		answer.Real(math.Float64frombits(binary.BigEndian.Uint64(value)))
	default:
		answer.TextBytes(value)
	}
}
