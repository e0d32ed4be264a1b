package contacts

import (
	"errors"
	"strconv"
	"strings"
)

// packedSQL returns an SQL expression that joins three text columns of all rows to one text, which
// [unpack] divides. Each value follows its number of bytes and a space, so values may have any
// characters. The rows are in no order. Without rows the expression is NULL, for
// which unpack takes "".
func packedSQL(columns ...string) string {
	values := make([]string, len(columns))
	for i, c := range columns {
		values[i] = `CAST(octet_length(` + c + `) AS text) || ' ' || ` + c
	}
	return `string_agg(` + strings.Join(values, ` || `) + `, '')`
}

// unpack calls f with the three values of each row of a text of [packedSQL].
func unpack(packed string, f func(row [3]string)) error {
	for rest := packed; rest != ""; {
		var row [3]string
		for i := range row {
			length, after, _ := strings.Cut(rest, " ")
			n, err := strconv.Atoi(length)
			if err != nil || n < 0 || n > len(after) {
				return errors.New("a joined text has no valid length")
			}
			row[i], rest = after[:n], after[n:]
		}
		f(row)
	}
	return nil
}
