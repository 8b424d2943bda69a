package pgx

import (
	"encoding/hex"

	"dyno/runners/go/internal/runner"

	"github.com/jackc/pgx/v5/pgtype"
)

// put adds a value of a type by its text.
func put(value []byte, kind uint32, answer *runner.Answer) {
	if value == nil {
		answer.Null()
		return
	}
	switch kind {
	case pgtype.Int4OID, pgtype.Int8OID, pgtype.Int2OID, pgtype.NumericOID, pgtype.OIDOID:
		runner.Number(value, answer)
	case pgtype.Float8OID, pgtype.Float4OID:
		runner.RealNumber(value, answer)
	case pgtype.BoolOID:
		answer.Any(len(value) == 1 && value[0] == 't')
	case pgtype.ByteaOID:
		answer.Blob(unhex(value))
	default:
		answer.TextBytes(value)
	}
}

// unhex is the bytes that \x00ff means, the spelling of every PostgreSQL since 9.0.
func unhex(text []byte) []byte {
	if len(text) < 2 || string(text[:2]) != `\x` {
		return text
	}
	bytes := make([]byte, hex.DecodedLen(len(text)-2))
	if _, err := hex.Decode(bytes, text[2:]); err != nil {
		return text
	}
	return bytes
}
