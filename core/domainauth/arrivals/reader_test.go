package arrivals_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestFailures reads a file while something it needs fails. The file must be read later, once.
func TestFailures(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verdicts = passed
		w.zone["_dmarc.reporter.example"] = "fail"
		w.receive(mail("dmarc@mail.reporter.example", gz(usual("1"))))
		w.read() // DNS fails
		w.want(arrivals.Waiting, arrivals.Counts{}, "")
		w.zone["_dmarc.reporter.example"] = "v=DMARC1; p=reject"
		w.read()
		w.want(arrivals.Waiting, arrivals.Counts{}, "") // not due yet
		w.Advance(5 * time.Second)
		w.stores.Fail = func(call, _ string) error {
			if call == "open" {
				return errors.New("the bucket does not answer")
			}
			return nil
		}
		w.read()
		w.want(arrivals.Waiting, arrivals.Counts{}, "")
		w.stores.Fail, w.intake.fail = nil, errors.New("the database does not answer")
		w.Advance(10 * time.Second)
		w.read() // the intake has counted the report, and then failed
		w.want(arrivals.Waiting, arrivals.Counts{}, "")
		w.intake.fail = nil
		w.stores.Fail = func(call, _ string) error {
			if call == "delete" {
				return errors.New("the bucket does not answer")
			}
			return nil
		}
		w.Advance(20 * time.Second)
		w.read() // the objects cannot be deleted
		w.want(arrivals.Read, one, "")
		w.stores.Fail = nil
		w.Advance(time.Minute)
		w.read()
		w.want(arrivals.Read, one, "")
		if f := w.only(); w.objects() != 0 || !f.DueAt.IsZero() || w.messages() != 7 {
			t.Errorf("%d objects are left, %+v, %d messages", w.objects(), f, w.messages())
		}
	})
}

// TestGivingUp lets every attempt fail. The file must have failed in the end, and not be tried again.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	w.verdicts = passed
	w.receive(mail("dmarc@reporter.example", gz(usual("1"))))
	w.intake.during = func(context.Context) { panic("a mistake") }
	w.intake.fail = nil
	for range 100 {
		w.read()
		w.Advance(time.Hour)
	}
	w.want(arrivals.Failed, arrivals.Counts{}, "tried for several days")
	if f := w.only(); !f.DueAt.IsZero() || f.Attempts != 100 {
		t.Errorf("%+v", f)
	}
}

// TestNameServersThatNeverAnswer reads a file about whose reporter DNS does not answer. It must not be
// tried for days, and count when a person accepts the reporter.
func TestNameServersThatNeverAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	w.verdicts = passed
	w.zone["_dmarc.reporter.example"] = "fail"
	w.receive(mail("dmarc@mail.reporter.example", gz(usual("1"))))
	for range 13 {
		w.read()
		w.want(arrivals.Waiting, arrivals.Counts{}, "")
		w.Advance(time.Hour)
	}
	w.read()
	w.want(arrivals.Held, arrivals.Counts{}, "do not answer")
	if f := w.only(); f.Reporter != "reporter.example" || f.Attempts != 14 {
		t.Errorf("%+v", f)
	}
	_, err := w.desk.Accept(t.Context(), person, w.org, "reporter.example")
	must(t, err)
	w.read()
	w.want(arrivals.Read, one, "")
}

// TestOtherProcess lets another process claim a file while the first one reads it. The first one
// must not change what the other did.
func TestOtherProcess(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verdicts = passed
		w.receive(mail("dmarc@reporter.example", gz(usual("1"))))
		w.intake.during = func(context.Context) {
			w.intake.during = nil
			w.Advance(2 * time.Minute) // the lease ends
			claimed, err := db.ReportArrivals().ClaimFiles(t.Context(), w.Now(), w.Now().Add(time.Minute), 10)
			if err != nil || len(claimed) != 1 || claimed[0].Attempts != 2 {
				t.Errorf("claimed %+v, %v", claimed, err)
			}
		}
		w.read()
		w.want(arrivals.Waiting, arrivals.Counts{}, "")
		if w.objects() == 0 {
			t.Error("the objects were deleted")
		}
		w.Advance(2 * time.Minute)
		w.read()
		w.want(arrivals.Read, one, "")
	})
}

// TestLeasesAreExtended reads a file for longer than its lease. No other process may claim it. When
// another one has claimed it all the same, the attempt must end.
func TestLeasesAreExtended(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verdicts, w.reader = passed, w.newReader(time.Millisecond)
		w.receive(mail("dmarc@reporter.example", gz(usual("1"))))
		w.intake.during = func(context.Context) {
			w.Advance(50 * time.Second)
			for w.only().DueAt.Before(w.Now().Add(time.Minute)) { // the lease is extended every millisecond
				runtime.Gosched()
			}
			w.Advance(50 * time.Second)
			if claimed, err := db.ReportArrivals().ClaimFiles(t.Context(), w.Now(), w.Now(), 10); len(claimed) != 0 || err != nil {
				t.Errorf("claimed %+v, %v", claimed, err)
			}
		}
		w.read()
		w.want(arrivals.Read, one, "")
		w.receive(mail("dmarc@reporter.example", gz(usual("2"))))
		w.intake.during = func(ctx context.Context) {
			if _, err := db.Writer().ExecContext(t.Context(), `UPDATE domainauth_files SET attempts = attempts + 1 WHERE org_id = $1`, w.org); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
		}
		w.intake.fail = context.Canceled
		w.read()
		if f := w.files()[0]; f.State != arrivals.Waiting && w.files()[1].State != arrivals.Waiting {
			t.Errorf("%+v", f)
		}
	})
}

// TestHeldFilesEnd lets the time of a held file end.
func TestHeldFilesEnd(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verdicts = unproven
		w.receive(mail("dmarc@reporter.example", gz(usual("1"))))
		w.read()
		w.Advance(arrivals.Kept - time.Second)
		w.read()
		w.want(arrivals.Held, arrivals.Counts{}, "not proven")
		w.Advance(time.Second)
		w.read()
		w.want(arrivals.Failed, arrivals.Counts{}, "within 90 days")
		if w.objects() != 0 || w.messages() != 0 {
			t.Errorf("%d objects, %d messages", w.objects(), w.messages())
		}
		store := db.ReportArrivals()
		must(t, store.ForgetReporters(t.Context(), w.org, w.Now().Add(time.Second)))
		n, err := store.DeleteFiles(t.Context(), w.org, w.Now().Add(-arrivals.Kept).Add(time.Second), 10)
		if n != 1 || err != nil || len(w.files()) != 0 {
			t.Errorf("%d files are deleted, %v", n, err)
		}
		if left, err := w.desk.Reporters(t.Context(), w.org); len(left) != 0 || err != nil {
			t.Errorf("reporters %+v, %v", left, err)
		}
	})
}
