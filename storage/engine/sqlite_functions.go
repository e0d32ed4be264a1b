package engine

import (
	"database/sql/driver"
	"sync"

	modernc "modernc.org/sqlite"
)

// sqliteFunction is an SQL function that Go implements for SQLite. On PostgreSQL a
// migration creates it.
type sqliteFunction struct {
	name      string
	arguments int
	compute   func(args []driver.Value) driver.Value
}

// sqliteFunctions lists every registered function. It is complete when main starts.
var sqliteFunctions []sqliteFunction

// RegisterFunction adds to SQLite a function that a migration creates on PostgreSQL. Call
// it during package initialization. The result must depend only on the arguments; NULL is
// passed as nil.
func RegisterFunction(name string, arguments int, compute func(args []driver.Value) driver.Value) {
	sqliteFunctions = append(sqliteFunctions, sqliteFunction{name, arguments, compute})
}

// registerFunctions registers the functions with the driver. Connections that open later
// have them.
var registerFunctions = sync.OnceValue(func() error {
	for _, f := range sqliteFunctions {
		err := modernc.RegisterDeterministicScalarFunction(f.name, int32(f.arguments),
			func(_ *modernc.FunctionContext, args []driver.Value) (driver.Value, error) {
				return f.compute(args), nil
			})
		if err != nil {
			return err
		}
	}
	return nil
})
