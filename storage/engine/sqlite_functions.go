package engine

import (
	"database/sql/driver"

	modernc "modernc.org/sqlite"
)

// RegisterFunction registers a Go function as an SQL function of SQLite. On PostgreSQL a
// migration creates the function. The result must depend only on the arguments; NULL is
// passed as nil.
//
// RegisterFunction must be called during package initialization, because the SQLite driver
// reads its functions without a lock whenever any part of the process opens a connection.
// It panics if the name is registered already.
func RegisterFunction(name string, arguments int, compute func(args []driver.Value) driver.Value) {
	modernc.MustRegisterDeterministicScalarFunction(name, int32(arguments),
		func(_ *modernc.FunctionContext, args []driver.Value) (driver.Value, error) {
			return compute(args), nil
		})
}
