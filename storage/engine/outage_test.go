package engine_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// TestOutagesAreRecognized checks that errors by which the database refuses all calls
// become CodeTemporarilyUnavailable. Errors of a single statement must not.
func TestOutagesAreRecognized(t *testing.T) {
	t.Parallel()
	db := sqliteDatabase(t)
	for name, c := range map[string]struct {
		err  error
		code core.Code
		why  string
	}{
		"shutting down":  {&pq.Error{Code: "57P01"}, core.CodeTemporarilyUnavailable, "shutting down"},
		"starting":       {&pq.Error{Code: "57P03"}, core.CodeTemporarilyUnavailable, "starting"},
		"disk full":      {&pq.Error{Code: "53100"}, core.CodeTemporarilyUnavailable, "disk is full"},
		"connections":    {&pq.Error{Code: "53300"}, core.CodeTemporarilyUnavailable, "too many connections"},
		"read-only":      {&pq.Error{Code: "25006"}, core.CodeTemporarilyUnavailable, "read-only"},
		"password":       {&pq.Error{Code: "28P01"}, core.CodeTemporarilyUnavailable, "refuses the user"},
		"files":          {&pq.Error{Code: "58030"}, core.CodeTemporarilyUnavailable, "files"},
		"broken off":     {&pq.Error{Code: "08006"}, core.CodeTemporarilyUnavailable, "broke off"},
		"refused":        {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, core.CodeTemporarilyUnavailable, "cannot be reached"},
		"end of file":    {io.ErrUnexpectedEOF, core.CodeTemporarilyUnavailable, "broke off"},
		"bad connection": {driver.ErrBadConn, core.CodeTemporarilyUnavailable, "broke off"},
		"division":       {&pq.Error{Code: "22012"}, core.CodeInternalError, ""},
		"a mistake":      {errors.New("no such column"), core.CodeInternalError, ""},
		"a refusal":      {core.NotFound("contact"), core.CodeNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := core.AsError(db.Failure(t.Context(), c.err))
			if e.Code != c.code || (c.why != "") != (e.RetryAfter > 0) {
				t.Errorf("%v is %s after %s", c.err, e.Code, e.RetryAfter)
			}
			if cause := engine.Cause(e); c.why != "" && (!strings.Contains(cause, c.why) || !strings.Contains(cause, c.err.Error())) {
				t.Errorf("the operator is told %q", cause)
			}
			if strings.Contains(e.Message+e.NextStep(), c.err.Error()) {
				t.Errorf("the caller is told %q", e.Message)
			}
		})
	}
}

// TestAFullDisk checks that with a full disk writes fail and reads work. Check must report
// the outage until its own test write succeeds.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	db := sqliteDatabase(t)
	if _, err := db.Writer().ExecContext(t.Context(), "PRAGMA max_page_count = 1"); err != nil { // the current number of pages
		t.Fatal(err)
	}
	var failed error
	for i := 0; failed == nil && i < 10_000; i++ {
		failed = db.InTx(t.Context(), func(ctx context.Context) error {
			for range 100 {
				id := core.NewID()
				if err := db.Orgs().InsertOrg(ctx, core.Org{ID: id, Slug: id, Name: strings.Repeat("n", 1000)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if e := core.AsError(failed); e.Code != core.CodeTemporarilyUnavailable || e.RetryAfter == 0 {
		t.Fatalf("a write: %v", failed)
	}
	if _, err := db.Orgs().OrgIDs(t.Context()); err != nil {
		t.Errorf("a read: %v", err)
	}
	for range 2 {
		if err := db.Check(t.Context()); !strings.Contains(engine.Cause(err), "full") {
			t.Errorf("the operator is told %q", engine.Cause(err))
		}
	}
	if _, err := db.Writer().ExecContext(t.Context(), "PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := db.Orgs().InsertOrg(t.Context(), core.Org{ID: core.NewID(), Slug: "room"}); err != nil {
		t.Errorf("a write with room again: %v", err)
	}
}

// TestAHeldWriter checks that a write fails with CodeOverloaded and changes nothing if it
// waits too long for a connection.
func TestAHeldWriter(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		db.SetCallerWait(2 * time.Second)
		held, release := make(chan struct{}), make(chan struct{})
		holding := db.WriterSlots()
		ended := make(chan error, holding)
		for range holding {
			go func() {
				ended <- db.InTx(t.Context(), func(context.Context) error {
					held <- struct{}{}
					<-release
					return nil
				})
			}()
			<-held
		}
		err := db.Orgs().InsertOrg(t.Context(), core.Org{ID: core.NewID(), Slug: "late"})
		if e := core.AsError(err); e == nil || e.Code != core.CodeOverloaded || e.RetryAfter == 0 {
			t.Errorf("a call: %v", err)
		}
		if err := db.Check(core.WithLane(t.Context(), core.Vital)); err != nil {
			t.Errorf("readiness: %v", err)
		}
		if _, err := db.Orgs().OrgIDs(core.WithLane(t.Context(), core.Vital)); err != nil {
			t.Errorf("tokens: %v", err)
		}
		close(release)
		for range holding {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if ids, err := db.Orgs().OrgIDs(t.Context()); err != nil || len(ids) != 0 {
			t.Errorf("after a call that was turned away there are %v, %v", ids, err)
		}
	})
}

// TestExpensiveReadsHaveTheirOwnConnections checks that other calls do not wait while
// expensive reads use all connections reserved for them.
func TestExpensiveReadsHaveTheirOwnConnections(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		conns := make([]func() error, db.ExpensiveSlots())
		for i := range conns {
			conn, err := db.ExpensiveReader().Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			conns[i] = conn.Close
		}
		id := core.NewID()
		if err := db.Orgs().InsertOrg(t.Context(), core.Org{ID: id, Slug: id}); err != nil {
			t.Errorf("a write: %v", err)
		}
		for lane := range core.Lane(core.Lanes) {
			if lane == core.ExpensiveReads {
				continue
			}
			if ids, err := db.Orgs().OrgIDs(core.WithLane(t.Context(), lane)); err != nil || len(ids) != 1 {
				t.Errorf("a read on lane %d: %v, %v", lane, ids, err)
			}
		}
		for _, free := range conns {
			if err := free(); err != nil {
				t.Error(err)
			}
		}
		if ids, err := db.Orgs().OrgIDs(core.WithLane(t.Context(), core.ExpensiveReads)); err != nil || len(ids) != 1 {
			t.Errorf("an expensive read: %v, %v", ids, err)
		}
	})
}
