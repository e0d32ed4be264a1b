package senders_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/senders"
)

// elsewhere returns a member of another organization.
func (w *world) elsewhere(t *testing.T) core.Principal {
	t.Helper()
	return newWorld(t, w.db).ada
}

// TestCodesOfOneAddress checks that one mailbox gets a limited number of codes from all
// organizations and people together, in every spelling of the address.
func TestCodesOfOneAddress(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		mine := w.ada
		tooMany := func(p core.Principal, email string) {
			t.Helper()
			_, err := w.start(t, p, email)
			refused(t, err, core.CodeRateLimited, "^Too many codes were sent to this address recently")
			// The same for every caller: an exact time would reveal when another organization asked.
			if wait := core.AsError(err).RetryAfter; wait != time.Hour {
				t.Error("wait", wait)
			}
		}
		for range 4 {
			for i, email := range []string{"Jo.Doe@gmail.com", "jo.doe@Gmail.com", "jodoe@googlemail.com", "jo.doe+a@gmail.com", "j.odoe+b+c@gmail.com"} {
				_, err := w.start(t, w.elsewhere(t), email)
				must(t, err)
				w.advance(time.Duration(i) * time.Minute)
			}
			tooMany(mine, "jo.doe@gmail.com")
			if got := w.list(t, mine); len(got) != 0 {
				t.Errorf("a refused start is stored: %+v", got)
			}
			if sent := w.deliver(t); len(sent) != senders.CodesPerHour {
				t.Errorf("%d letters", len(sent))
			}
			w.advance(time.Hour)
		}
		tooMany(mine, "jo.doe@gmail.com")
		tooMany(w.elsewhere(t), "jo.doe+x@gmail.com")
		for range senders.StartsPerHour { // the refused starts do not count for the person
			_, err := w.start(t, mine, "another@example.com")
			must(t, err)
		}
		w.advance(20 * time.Hour)
		_, err := w.start(t, mine, "jo.doe@gmail.com")
		must(t, err)
	})
}

// TestMailboxesWithDots checks that dots matter where providers do not ignore them.
func TestMailboxesWithDots(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for range senders.CodesPerHour {
			_, err := w.start(t, w.elsewhere(t), "jo.doe@example.com")
			must(t, err)
		}
		_, err := w.start(t, w.ada, "jodoe@example.com")
		must(t, err)
		_, err = w.start(t, w.bob, "jo.doe+tag@example.com")
		refused(t, err, core.CodeRateLimited, "Too many codes")
	})
}

// TestCountedAddressesAreHashed checks that the count of codes names no address, and that its
// rows are deleted a day after the last start.
func TestCountedAddressesAreHashed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, err := w.start(t, w.ada, "box@example.com")
		must(t, err)
		rows := func() []string {
			t.Helper()
			found, err := w.db.Reader().QueryContext(t.Context(), "SELECT subject, started FROM verified_sender_starts ORDER BY subject")
			must(t, err)
			defer found.Close()
			var all []string
			for found.Next() {
				var subject, started string
				must(t, found.Scan(&subject, &started))
				all = append(all, subject)
				if strings.Contains(fmt.Sprint(subject, started), "box") {
					t.Errorf("the address is stored: %s %s", subject, started)
				}
			}
			must(t, found.Err())
			return all
		}
		before := rows()
		if len(before) != 2 {
			t.Fatalf("rows %q, want those of the person and of the address", before)
		}
		other := newWorld(t, w.db)
		other.CodeKey = []byte(strings.Repeat("k", senders.CodeKeyBytes))
		_, err = other.start(t, other.ada, "box@example.com")
		must(t, err)
		if got := rows(); len(got) != 4 {
			t.Errorf("rows %q: the hash does not depend on the key", got)
		}
		work := senders.ForgetWorker(w.Store, w.Starts, func(context.Context) ([]string, error) { return nil, nil }, w.clock).Work
		for _, c := range []struct {
			wait time.Duration
			want int
		}{{23 * time.Hour, 4}, {time.Hour, 4}, {time.Microsecond, 0}} {
			w.advance(c.wait)
			must(t, work(t.Context(), senders.ForgetArgs{}))
			if got := rows(); len(got) != c.want {
				t.Errorf("after %v more: rows %q, want %d", c.wait, got, c.want)
			}
		}
	})
}
