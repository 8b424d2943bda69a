package runner

import (
	"strconv"
	"unsafe"
)

// Number adds the number that a text is: a whole one where it has neither point nor exponent and fits
// into 64 bits, else a real one. A text that is no number is added as it is. A client of a server that
// sends numbers as text reads them in any case, so this belongs to the timed section.
func Number(digits []byte, answer *Answer) {
	if value, ok := whole(digits); ok {
		answer.Integer(value)
		return
	}
	RealNumber(digits, answer)
}

// RealNumber adds the real number that a text is, whole or not: for columns of floating point, of which
// engines print 1.0 as "1".
func RealNumber(digits []byte, answer *Answer) {
	// The text is used for the call only.
	value, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(digits), len(digits)), 64)
	if err != nil {
		answer.TextBytes(digits)
		return
	}
	answer.Real(value)
}

// whole reads decimal digits with or without a minus sign.
func whole(digits []byte) (int64, bool) {
	negative := len(digits) > 0 && digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	value := uint64(0)
	for _, letter := range digits {
		digit := letter - '0'
		if digit > 9 {
			return 0, false
		}
		value = value*10 + uint64(digit)
	}
	if negative {
		return -int64(value), value <= 1<<63
	}
	return int64(value), value < 1<<63
}
