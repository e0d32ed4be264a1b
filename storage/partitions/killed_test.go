package partitions_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/partitions"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// jobVariable is an environment variable with the address of a database. If it is set, the test
// binary only does the work of the job for activities and timelines, as a process that a test can
// kill.
const jobVariable = "MAILHELM_PARTITIONS_JOB"

func TestMain(m *testing.M) {
	if url := os.Getenv(jobVariable); url != "" {
		if err := runJob(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runJob moves the tables, and for activities makes months ahead and drops those from before July
// 2031. It prints a line before each statement and each commit.
func runJob(url string) error {
	ctx := context.Background()
	db, err := storage.Open(ctx, storage.Config{URL: url, MaxConns: 2, CallerWait: time.Minute, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the process ends
	keeper := db.Partitions().Announced(os.Stdout)
	steps := []func() (bool, error){
		func() (bool, error) { return keeper.Move(ctx, timelines, now) },
		func() (bool, error) { return keeper.Move(ctx, "activities", now) },
		func() (bool, error) {
			_, err := keeper.MakeAhead(ctx, "activities", now.AddDate(0, 3, 0))
			return err == nil, err
		},
		func() (bool, error) {
			_, err := keeper.Drop(ctx, "activities", time.Date(2031, 7, 1, 0, 0, 0, 0, time.UTC))
			return err == nil, err
		},
	}
	for _, step := range steps {
		for done := false; !done; {
			// A killed process may still hold its locks.
			if done, err = step(); err != nil && !errors.Is(err, partitions.ErrBusy) {
				return err
			}
		}
	}
	return nil
}

// killJob runs the job in a process of its own, and kills it by SIGKILL some time after it has
// printed a number of lines, unless lines is negative. It reports whether the job came to its end.
func (f fixture) killJob(url string, lines int, after time.Duration) (ended bool) {
	f.Helper()
	self, err := os.Executable()
	f.must(err)
	cmd := exec.Command(self)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), jobVariable+"="+url), &stderr
	out, err := cmd.StdoutPipe()
	f.must(err)
	f.must(cmd.Start())
	printed := bufio.NewScanner(out)
	for n := 0; printed.Scan(); n++ {
		if n == lines {
			defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
		}
	}
	if err := cmd.Wait(); err != nil && (lines < 0 || !strings.Contains(err.Error(), "killed")) {
		f.Fatalf("the job: %v\n%s", err, &stderr)
	}
	return cmd.ProcessState.Success()
}

// TestJobOutlivesKills kills the process of the job at random moments and runs it again, with
// PgBouncer in transaction mode before the database and without. After each kill the rows are
// there and new ones are stored. In the end each row is there once, and nothing is left of the
// steps that were interrupted.
func TestJobOutlivesKills(t *testing.T) {
	t.Parallel()
	direct := enginetest.PostgresURL(t)
	f := fixture{TB: t, db: storagetest.Open(t, storage.Config{URL: direct, MaxConns: 4, CallerWait: time.Minute, Logger: slog.New(slog.DiscardHandler)})}
	pooled := enginetest.PgBouncer(t, direct, enginetest.PgBouncerConfig{}).URL(direct)
	most, kills, chance := 6, 0, rand.New(rand.NewPCG(23, 135))
	if enginetest.Full() {
		most = 150
	}
	for round := 0; kills < most; round++ {
		url := []string{pooled, direct}[round%2]
		f.exec("TRUNCATE activities, workflow_events")
		f.undivide("activities")
		f.keyless()
		f.insertEvents("old", 5000, now.AddDate(0, -5, 0))
		f.insert("old", 5000, now.AddDate(0, -5, 0), now)
		f.insert("future", 100, now.AddDate(3, 0, 0), now)
		before, events := f.sums("activities"), f.sums(timelines)
		for ended := false; !ended; {
			lines := chance.IntN(80)
			if kills == most {
				lines = -1
			}
			if ended = f.killJob(url, lines, time.Duration(chance.IntN(4000))*time.Microsecond); ended {
				break
			}
			kills++
			if found := f.text("SELECT count(*) FROM activities WHERE id LIKE 'old%'"); found != "5000" {
				t.Fatalf("%s rows after kill %d", found, kills)
			}
			f.must(f.db.Activities().Insert(t.Context(), "org", []activities.Activity{{
				ID: core.NewID(), ContactID: core.NewID(), Name: "written", Source: activities.FromAPI, Properties: []byte(`{}`), OccurredAt: now, ReceivedAt: now,
			}}))
		}
		if after := f.sums("(SELECT * FROM activities WHERE name <> 'written')"); after != before {
			t.Errorf("round %d: %s rows, before %s", round, after, before)
		}
		if after := f.sums(timelines); after != events || f.key() != dividedKey {
			t.Errorf("round %d: %s timelines, before %s; %s", round, after, events, f.key())
		}
		want := []string{"activities_203107", "activities_203108", "activities_before_203105", "activities_default"}
		if pieces := f.pieces("activities"); !slices.Equal(pieces, want) {
			t.Errorf("round %d: partitions %v", round, pieces)
		}
		if rest := f.text("SELECT relname FROM pg_class WHERE relkind = 'r' AND (starts_with(relname, 'activities_') OR starts_with(relname, 'workflow_events_')) AND NOT relispartition") +
			f.text("SELECT relname FROM pg_class WHERE relname LIKE 'workflow_events%divided_key%'") +
			f.text("SELECT conname FROM pg_constraint WHERE contype = 'c' AND starts_with(conname, 'activities_')"); rest != "" {
			t.Errorf("round %d: left behind: %s", round, rest)
		}
	}
	t.Logf("%d kills", kills)
}
