package orgmove

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	mailhelm "github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/signing"
)

// damaged returns the error for a row that cannot be stored.
func damaged(t *table, n int64, what string) error {
	return &mailhelm.Error{
		Code: mailhelm.CodeValidationFailed, Message: fmt.Sprintf("The archive is damaged or was changed: row %d of %s %s.", n, t.name, what),
		Next: "Copy the file again, or export the organization again.",
	}
}

// typesOf returns the names of the types of columns.
func typesOf(all []*sql.ColumnType, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.DatabaseTypeName()
	}
	return names, nil
}

// decoder reads lines of an archive as rows of a table.
type decoder struct {
	table  *table
	kinds  []kind
	orgID  string
	master signing.MasterKey
	users  map[string]string
}

// decode returns the rows of lines, with the organization as the first value of each.
func (d *decoder) decode(lines []byte) ([][]any, error) {
	in := jsontext.NewDecoder(bytes.NewReader(lines))
	end := int64(len(bytes.TrimRight(lines, "\n")))
	rows := make([][]any, 0, bytes.Count(lines, []byte("\n")))
	for in.InputOffset() < end {
		row, err := d.row(in, int64(len(rows)+1))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// row reads a row.
func (d *decoder) row(in *jsontext.Decoder, n int64) ([]any, error) {
	begin, err := in.ReadToken()
	if err != nil || begin.Kind() != '[' {
		return nil, damaged(d.table, n, "is not a JSON array")
	}
	row := make([]any, len(d.kinds)+1)
	row[0] = d.orgID
	for i := range d.kinds {
		token, err := in.ReadToken()
		if err != nil || token.Kind() == ']' {
			return nil, damaged(d.table, n, "has too few values")
		}
		if row[i+1], err = d.value(token, i); err != nil {
			return nil, damaged(d.table, n, "has a wrong value of "+d.table.columns[i].name+": "+err.Error())
		}
	}
	if end, err := in.ReadToken(); err != nil || end.Kind() != ']' {
		return nil, damaged(d.table, n, "has too many values")
	}
	// The ids of sealed values need all values of the row.
	for i, k := range d.kinds {
		plain, ok := row[i+1].([]byte)
		if k != sealedKind || !ok {
			continue
		}
		id := sealedID(d.orgID, d.table.columns[i], func(at int) string { return textOf(row[at+1]) })
		if row[i+1], err = d.master.Seal(d.table.columns[i].purpose, id, plain); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// value converts a token to a value of a column.
func (d *decoder) value(token jsontext.Token, i int) (any, error) {
	kind := token.Kind()
	if kind == 'n' {
		return nil, nil //nolint:nilnil // the value NULL
	}
	switch d.kinds[i] {
	case textKind:
		if kind != '"' {
			return nil, errors.New("it must be a text")
		}
		text := token.String()
		if strings.Contains(text, "\x00") {
			return nil, errors.New("it has a zero byte")
		}
		if d.table.columns[i].user {
			if here, ok := d.users[text]; ok {
				return here, nil
			}
		}
		return text, nil
	case bytesKind, sealedKind:
		if kind != '"' {
			return nil, errors.New("it must be base64")
		}
		return base64.StdEncoding.Strict().DecodeString(token.String())
	case boolKind:
		if kind != 't' && kind != 'f' {
			return nil, errors.New("it must be true or false")
		}
		return kind == 't', nil
	case intKind:
		if kind != '0' {
			return nil, errors.New("it must be a number")
		}
		return strconv.ParseInt(token.String(), 10, 64)
	default:
		if kind != '0' {
			return nil, errors.New("it must be a number")
		}
		f, err := token.Float()
		if err != nil || math.IsInf(f, 0) {
			return nil, errors.New("it must be a finite number")
		}
		return f, nil
	}
}
