package product

import (
	"database/sql"
	"path/filepath"
	"testing"
)

// SQL returns a connection to the product's database, for data that the product itself
// cannot write. The connection is closed when the test ends. On SQLite a statement waits up
// to 10 seconds for a lock that the product holds.
func (p *Product) SQL(t testing.TB) *sql.DB {
	t.Helper()
	driver, address := "postgres", p.database
	if address == "" {
		driver, address = "sqlite", "file:"+filepath.Join(p.DataDir, databaseFile)+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // an error of Close does not matter here
	return db
}
