package mysql

import (
	"fmt"
	"io"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/go-sql-driver/mysql"
)

// manyRows is how many rows one statement of several inserts: what manuals suggest, far from every limit of
// a server.
const manyRows = 1000

// reader is the name by which the driver knows the rows that LOAD DATA asks for.
const reader = "dyno"

// InsertRows inserts each row by an execution of one prepared statement.
func (d *Database) InsertRows(load *runner.Load) (int, error) {
	done, err := d.Conn.InsertRows(load, dbsql.Question)
	return done, explain(err)
}

// BulkLoad loads the rows in the way that was asked for.
func (d *Database) BulkLoad(load *runner.Load) (int, error) {
	switch d.way {
	case wayInsert:
		return d.InsertRows(load)
	case wayMultirow:
		done, err := d.InsertMany(load, dbsql.Question, manyRows)
		return done, explain(err)
	}
	done, err := d.loadData(load)
	return done, explain(err)
}

// loadData is LOAD DATA LOCAL from memory, one for each transaction. Because the server cannot stop a client that sends, it
// takes what does not fit with a warning, also in strict mode. To ask for warnings would be another exchange within the
// clock, and this driver does not report how many the server's answer counts: the digest of the table, which is read
// back after the clock, finds what was cut or changed.
func (d *Database) loadData(load *runner.Load) (int, error) {
	text := fmt.Sprintf("LOAD DATA LOCAL INFILE 'Reader::%s' INTO TABLE %s CHARACTER SET utf8mb4 (%s)", reader, load.Table,
		dbsql.Names(load.Columns))
	// rows are those of the transaction at work.
	var rows io.Reader
	mysql.RegisterReaderHandler(reader, func() io.Reader { return rows })
	defer mysql.DeregisterReaderHandler(reader)
	return load.InTransactions(runner.AnyRows, d.Transaction, func(from, to int) error {
		rows = runner.NewLines(load, from, to)
		before := d.Changed()
		if err := d.Exec(text); err != nil {
			return err
		}
		if loaded := d.Changed() - before; loaded != to-from {
			return fmt.Errorf("the server loaded %d rows of %d", loaded, to-from)
		}
		return nil
	})
}

func (d *Database) Scan(scan *runner.Scan, answer *runner.Answer) error {
	return d.Query(scan.SQL, answer)
}

func (d *Database) ReadRows(table string, columns []protocol.Column, visit func([][]byte) error) error {
	return explain(d.Conn.ReadRows(dbsql.Select(table, columns), columns, visit))
}
