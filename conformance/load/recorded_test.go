package load

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// statementsFolder is the folder for the statements of operations; "" for none.
var statementsFolder string

func init() {
	flag.StringVar(&statementsFolder, "load.statements", "", "write the statements of SQLite of each operation, and the database before them, to this `folder`, instead of comparing with "+floorsFile)
}

// recordTo is where traceStatement records statements, nil for nowhere.
var recordTo atomic.Pointer[recording]

// recording has the statements of one call of an operation. The program in the folder drivers
// reads it as JSON.
type recording struct {
	mu        sync.Mutex
	Operation string `json:"operation"`
	// Database is the name of the file with the database before the call.
	Database string `json:"database"`
	// Statements are in the order of their execution, with the values of their parameters in the
	// text. BEGIN and COMMIT are not among them.
	Statements []string `json:"statements"`
	// Writes is true if one of them changes the database.
	Writes bool `json:"writes"`
}

// add adds a statement that SQLite begins to run.
func (r *recording) add(tls *libc.TLS, statement uintptr) {
	text := sqlite3.Xsqlite3_expanded_sql(tls, statement)
	if text == 0 {
		panic("SQLite is out of memory")
	}
	defer sqlite3.Xsqlite3_free(tls, text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Statements = append(r.Statements, libc.GoString(text))
	r.Writes = r.Writes || sqlite3.Xsqlite3_stmt_readonly(tls, statement) == 0
}

// recordOperations records one call of each of the most used operations on SQLite, after calls
// that fill caches. The folder then has a file statements.json and a database for each recording.
func recordOperations(b *testing.B) {
	b.Helper()
	traceSQLite()
	p := startMeasured(b, "")
	db := p.SQL(b)
	var all []*recording
	eachOperation(b, p, func(op operation, to *connection, request func(i int) []byte) {
		r := &recording{Operation: op.name, Database: fmt.Sprintf("%02d.db", len(all))}
		for i := range warming + 1 {
			if op.limited {
				p.Clock.Advance(time.Hour)
			}
			if i == warming {
				if _, err := db.ExecContext(b.Context(), `VACUUM INTO ?`, filepath.Join(statementsFolder, r.Database)); err != nil {
					b.Fatal(err)
				}
				recordTo.Store(r)
			}
			if err := to.send(request(i)); err != nil {
				b.Fatal(err)
			}
		}
		recordTo.Store(nil)
		all = append(all, r)
	})
	encoded, err := json.MarshalIndent(all, "", "\t")
	if err == nil {
		err = os.WriteFile(filepath.Join(statementsFolder, "statements.json"), encoded, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}
