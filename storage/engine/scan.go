package engine

import (
	"database/sql"
	"fmt"
	"reflect"
	"slices"

	"github.com/jmoiron/sqlx/reflectx"
)

// layout has the fields of a struct type into which the columns of a statement's result are
// scanned. A statement remembers its layout, because a statement has the same columns at each
// execution. To match names to fields again would cost as much as to read a short row.
type layout struct {
	of      reflect.Type
	columns []string
	// fields has the path to the field of each column, see [reflectx.FieldByIndexes].
	fields [][]int
}

// layoutOf returns the layout of the struct type for the result of the statement s. It fails
// if a column has no field.
func (s *Statement) layoutOf(of reflect.Type, rows *sql.Rows) (*layout, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	if known := s.layout.Load(); known != nil && known.of == of && slices.Equal(known.columns, names) {
		return known, nil
	}
	made := &layout{of: of, columns: slices.Clone(names), fields: columns.TraversalsByName(of, names)}
	for i, field := range made.fields {
		if len(field) == 0 {
			return nil, fmt.Errorf("the column %s has no field in %s", names[i], of)
		}
	}
	s.layout.Store(made)
	return made, nil
}

// setTargets sets targets to pointers to the fields of the struct row, in the order of the
// columns.
func (l *layout) setTargets(targets []any, row reflect.Value) {
	for i, field := range l.fields {
		targets[i] = reflectx.FieldByIndexes(row, field).Addr().Interface()
	}
}
