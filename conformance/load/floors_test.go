package load

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// figures are what one call of an operation costs. See databaseCalls for statements and waits.
type figures struct {
	Objects    float64 `json:"objects"`
	Bytes      float64 `json:"bytes"`
	Statements float64 `json:"statements"`
	Waits      float64 `json:"waits"`
	// Micros is the time in microseconds, which is not compared.
	Micros float64 `json:"-"`
}

// floorsFile has the figures of all operations, by database and name.
const floorsFile = "floors.json"

// worse is how much more a call may cost than floors.json says.
const worse = 1.2

var writeFloors bool

func init() { flag.BoolVar(&writeFloors, "update", false, "write "+floorsFile) }

// BenchmarkOperations measures the most used operations of the public API on both databases,
// one call after the other on one connection. It fails if a call allocates 20 % more objects
// or bytes than floors.json says, or takes 20 % more statements or waits for the database.
// Times only appear in the results. Each figure is the lowest of several batches, in which
// the background jobs of the server did nothing.
//
// After a change that is meant to cost more or less, write the figures with
//
//	go test ./conformance/load -run '^$' -bench Operations -benchtime 1x -update
//
// With the flag -load.profiles it writes a processor profile of each operation instead, and with
// -load.statements the statements of each operation.
func BenchmarkOperations(b *testing.B) {
	if statementsFolder != "" {
		recordOperations(b)
		return
	}
	if profileFolder != "" {
		profileOperations(b)
		return
	}
	floors := readFloors(b)
	for _, database := range []string{"sqlite", "postgres"} {
		b.Run(database, func(b *testing.B) {
			got := measureAll(b, database == "postgres")
			if writeFloors {
				floors[database] = got
				return
			}
			for name, cost := range got {
				floor, known := floors[database][name]
				if !known {
					b.Errorf("%s has no figures for %s on %s; write them with -update", floorsFile, name, database)
				}
				for _, excess := range cost.above(floor) {
					b.Errorf("%s on %s: %s", name, database, excess)
				}
			}
		})
	}
	if writeFloors && !b.Failed() {
		encoded, err := json.MarshalIndent(floors, "", "\t")
		if err == nil {
			err = os.WriteFile(floorsFile, append(encoded, '\n'), 0o644)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func readFloors(b *testing.B) map[string]map[string]figures {
	b.Helper()
	floors := map[string]map[string]figures{}
	text, err := os.ReadFile(floorsFile)
	if err == nil {
		err = json.Unmarshal(text, &floors)
	}
	if err != nil && !writeFloors {
		b.Fatal(err)
	}
	return floors
}

// above returns a sentence for each figure that is too high.
func (f figures) above(floor figures) []string {
	var found []string
	for _, one := range []struct {
		name       string
		got, floor float64
	}{
		{"objects", f.Objects, floor.Objects},
		{"bytes", f.Bytes, floor.Bytes},
		{"statements", f.Statements, floor.Statements},
		{"waits for the database", f.Waits, floor.Waits},
	} {
		if one.got > one.floor*worse {
			found = append(found, fmt.Sprintf("%g %s instead of %g", one.got, one.name, one.floor))
		}
	}
	return found
}

// measureAll measures all operations on a new server and prints their figures.
func measureAll(b *testing.B, postgres bool) map[string]figures {
	b.Helper()
	address := ""
	if postgres {
		address = countPostgres(b, enginetest.PostgresURL(b))
	} else {
		traceSQLite()
	}
	p := startMeasured(b, address)
	fmt.Fprintf(os.Stdout, "\n| %s | µs | KB | objects | statements | waits |\n|---|--:|--:|--:|--:|--:|\n", p.DB.Engine())
	m := meter{p}
	got := map[string]figures{}
	eachOperation(b, p, func(op operation, to *connection, request func(i int) []byte) {
		got[op.name] = m.measure(b, op, to, request)
	})
	return got
}

// startMeasured starts a server with the demo's past, which runs no background jobs. postgres is
// the address of its PostgreSQL server; "" means SQLite.
func startMeasured(b *testing.B, postgres string) *product.Product {
	b.Helper()
	opts := product.Options{
		Past: true, Log: io.Discard, ActivitiesPerMinute: math.MaxInt32,
		StartsAt: time.Date(2026, 3, 12, 15, 30, 0, 0, time.UTC),
	}
	if postgres != "" {
		opts.Postgres, opts.PostgresURL, opts.Role = true, postgres, config.API
	}
	p := product.Start(b, opts)
	if postgres == "" {
		pauseJobs(b, p)
	}
	return p
}

// eachOperation calls f with each operation that is measured, a connection to its server and a
// function that returns the request of the call with a number.
func eachOperation(b *testing.B, p *product.Product, f func(op operation, to *connection, request func(i int) []byte)) {
	b.Helper()
	api := connect(b, p.BaseURL)
	f(operation{name: "without an operation"}, api, func(int) []byte {
		return message("GET", p.BaseURL+"/v1/_health", "")
	})
	token := p.Token(b, p.MCPURL, "api.contacts.view")
	f(operation{name: "tool contacts_lookup"}, connect(b, p.MCPURL), func(int) []byte {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"` + p.Contact + `"}}}`
		return message("POST", p.MCPURL+"/mcp", body, "Authorization: Bearer "+token, "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2025-11-25")
	})
	for _, op := range prepared(b, p) {
		f(op, api, func(i int) []byte {
			n := strconv.Itoa(i)
			return message(cmp.Or(op.method, "GET"), p.BaseURL+strings.ReplaceAll(op.path, "%d", n), strings.ReplaceAll(op.body, "%d", n), "Authorization: Bearer "+p.Live.APIKey)
		})
	}
	eachRefused(b, p, f)
}

// pauseJobs restarts the product so that it runs no background jobs: River starts no job of a
// queue that is paused.
func pauseJobs(b *testing.B, p *product.Product) {
	b.Helper()
	db := p.SQL(b)
	product.Await(b, time.Minute, func() error {
		result, err := db.ExecContext(b.Context(), `UPDATE river_queue SET paused_at = updated_at`)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return fmt.Errorf("%d queues, %w", n, err)
		}
		return nil
	})
	p.Restart(b)
}

// meter measures calls of a product, one after the other.
type meter struct{ product *product.Product }

const (
	// batches is the number of batches of an operation, and perBatch the number of calls in one,
	// of those that are not limited. The calls before them prepare statements and fill caches.
	batches  = 8
	perBatch = 10
	warming  = 12
)

// measure returns the figures of one call of an operation: the lowest of the averages of the
// batches, because everything else that the process does can only add to them.
func (m meter) measure(b *testing.B, op operation, to *connection, request func(i int) []byte) figures {
	b.Helper()
	next := 0
	batch := func(size int) figures {
		requests := make([][]byte, size)
		for i := range requests {
			requests[i] = request(next)
			next++
		}
		return m.batch(b, to, requests)
	}
	size := perBatch
	if op.limited {
		size = 1
	}
	for range warming {
		if op.limited {
			m.product.Clock.Advance(time.Hour)
		}
		batch(1)
	}
	awaitQuiet()
	var times []float64
	var least figures
	for i := range batches {
		if op.limited {
			m.product.Clock.Advance(time.Hour)
			batch(1) // reads what servers cache for a few seconds
		}
		cost := batch(size)
		if i == 0 {
			least = cost
		}
		times = append(times, cost.Micros)
		least.Objects, least.Bytes = min(least.Objects, cost.Objects), min(least.Bytes, cost.Bytes)
		least.Statements, least.Waits = min(least.Statements, cost.Statements), min(least.Waits, cost.Waits)
	}
	least.Micros = median(times)
	// The log of a benchmark is cut after ten lines.
	fmt.Fprintf(os.Stdout, "| `%s` | %.0f | %.1f | %.0f | %g | %g |\n", op.name, least.Micros, least.Bytes/1024, least.Objects, least.Statements, least.Waits)
	return least
}

// awaitQuiet waits until the servers make no statement for 50 milliseconds, at most 5 seconds. Earlier calls
// can cause work that ends after them, such as the events of a message.
func awaitQuiet() {
	for range 100 {
		before := databaseCalls.statements.Load()
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // a pause without statements is what is waited for
		if databaseCalls.statements.Load() == before {
			return
		}
	}
}

// batch sends requests and returns the figures of one. The garbage collector is off during a
// batch, because it would empty the pools of objects that calls use again.
func (m meter) batch(b *testing.B, to *connection, requests [][]byte) figures {
	b.Helper()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	statements, waits := databaseCalls.statements.Load(), databaseCalls.waits.Load()
	began := time.Now()
	for _, request := range requests {
		if err := to.send(request); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(began)
	statements, waits = databaseCalls.statements.Load()-statements, databaseCalls.waits.Load()-waits
	runtime.ReadMemStats(&after)
	n := float64(len(requests))
	return figures{
		Objects: math.Round(float64(after.Mallocs-before.Mallocs) / n), Bytes: math.Round(float64(after.TotalAlloc-before.TotalAlloc) / n),
		Statements: float64(statements) / n, Waits: float64(waits) / n, Micros: float64(took.Microseconds()) / n,
	}
}
