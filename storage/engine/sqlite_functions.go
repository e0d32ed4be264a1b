package engine

import (
	"database/sql/driver"
	"sync"

	modernc "modernc.org/sqlite"
)

// sqliteFunction is a function of SQL that SQLite is given. PostgreSQL has it by a
// migration.
type sqliteFunction struct {
	name      string
	arguments int
	compute   func(args []driver.Value) driver.Value
}

// sqliteFunctions holds every registered function. It is complete when main starts.
var sqliteFunctions []sqliteFunction

// RegisterFunction gives SQLite a function that a migration gives PostgreSQL. It is
// called while packages are initialized. The function must depend on its arguments
// alone; NULL comes as nil.
func RegisterFunction(name string, arguments int, compute func(args []driver.Value) driver.Value) {
	sqliteFunctions = append(sqliteFunctions, sqliteFunction{name, arguments, compute})
}

// registerFunctions hands the functions to the driver, whose connections that open
// later have them.
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
