package runner

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// tableDigest is what a table holds, in a few numbers that every language can compute: counts, and sums
// of CRC-32 as zlib has it. Sums do not depend on the order, which tables do not promise.
type tableDigest struct {
	count int64
	// columns has for each column the sum of its cells' checksums.
	columns []int64
	// rows is the sum of the checksums of whole rows, which detects cells of different rows that changed
	// places.
	rows int64
	// wanted are the first cells of the rows that are shown whole, and shown those rows where found.
	wanted [][]byte
	shown  [][][]byte
}

func newTableDigest(columns int, wanted [][]byte) *tableDigest {
	return &tableDigest{columns: make([]int64, columns), wanted: wanted, shown: make([][][]byte, len(wanted))}
}

// add takes in a row.
func (d *tableDigest) add(row [][]byte) error {
	if len(row) != len(d.columns) {
		return fmt.Errorf("row %d has %d columns and not %d", d.count+1, len(row), len(d.columns))
	}
	whole := uint32(0)
	for i, cell := range row {
		d.columns[i] += int64(crc32.ChecksumIEEE(cell))
		whole = crc32.Update(whole, crc32.IEEETable, cell)
	}
	d.rows += int64(whole)
	d.count++
	for i, first := range d.wanted {
		if bytes.Equal(first, row[0]) {
			d.shown[i] = make([][]byte, len(row))
			for j, cell := range row {
				d.shown[i][j] = bytes.Clone(cell)
			}
		}
	}
	return nil
}

// report puts the count and the sums into an answer, then each wanted row or one NULL.
func (d *tableDigest) report(answer *Answer) {
	answer.row(append(append([]int64{d.count}, d.columns...), d.rows)...)
	for _, row := range d.shown {
		if row == nil {
			answer.Null()
		}
		for _, cell := range row {
			answer.TextBytes(cell)
		}
		answer.EndRow()
	}
}

// storeDigest is what a store holds, likewise.
type storeDigest struct{ count, keys, values, pairs int64 }

// add takes in a pair.
func (d *storeDigest) add(key, value []byte) {
	d.count++
	sum := crc32.ChecksumIEEE(key)
	d.keys += int64(sum)
	d.values += int64(crc32.ChecksumIEEE(value))
	d.pairs += int64(crc32.Update(sum, crc32.IEEETable, value))
}

func (d *storeDigest) report(answer *Answer) { answer.row(d.count, d.keys, d.values, d.pairs) }
