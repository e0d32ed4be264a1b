package enginetest

import (
	"database/sql"
	"testing"
	"time"
)

// TestPgBouncerIsStartedAfterACrash ends PgBouncer by a command, as a crash would.
func TestPgBouncerIsStartedAfterACrash(t *testing.T) {
	t.Parallel()
	direct := PostgresURL(t)
	p := PgBouncer(t, direct, PgBouncerConfig{})
	console, err := sql.Open("postgres", p.consoleURL())
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()                               //nolint:errcheck // nothing is lost
	_, _ = console.ExecContext(t.Context(), "SHUTDOWN") // the connection ends with the server
	db, err := sql.Open("postgres", p.URL(direct))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing is lost
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for range 1_000 { // ten seconds
		if err = db.PingContext(t.Context()); err == nil {
			break
		}
		<-again.C
	}
	if err != nil {
		t.Errorf("PgBouncer does not answer after it ended: %v", err)
	}
	if p.mu.Lock(); len(p.crashes) != 1 {
		t.Errorf("%d crashes: %v", len(p.crashes), p.crashes)
	}
	p.mu.Unlock()
}
