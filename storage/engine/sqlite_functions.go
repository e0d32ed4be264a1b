package engine

import (
	"database/sql/driver"
	"sync"

	modernc "modernc.org/sqlite"
)

// sqliteFunction is an SQL function that is implemented in Go for SQLite. On PostgreSQL a
// migration creates it.
type sqliteFunction struct {
	name      string
	arguments int
	compute   func(args []driver.Value) driver.Value
}

// sqliteFunctions lists every Go function that [RegisterFunction] has registered as an SQL
// function. All are registered during package initialization.
var sqliteFunctions []sqliteFunction

// RegisterFunction registers a Go function as an SQL function of SQLite. On PostgreSQL a
// migration creates the function. RegisterFunction must be called during package
// initialization. The result must depend only on the arguments; NULL is passed as nil.
func RegisterFunction(name string, arguments int, compute func(args []driver.Value) driver.Value) {
	sqliteFunctions = append(sqliteFunctions, sqliteFunction{name, arguments, compute})
}

// registerFunctions adds the functions in sqliteFunctions to the SQLite driver, once. Only
// connections that are opened later have the functions.
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
