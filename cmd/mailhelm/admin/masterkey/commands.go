// Package masterkey has the commands of `mailhelm admin master-key`, which replace the key that
// encrypts stored secrets while servers run. The audit log has no line about them, because it
// belongs to organizations and the master key to the installation.
package masterkey

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage/sealed"
)

// Commands are the commands below `mailhelm admin master-key`.
type Commands struct {
	Show   show   `cmd:"" help:"Show which master key seals new values, and whether a rotation is finished."`
	Rotate rotate `cmd:"" help:"Replace the master key: seal all stored secrets with another one."`
	Retire retire `cmd:"" help:"Finish a rotation: the former master key then opens nothing."`
}

// Help returns the text that --help shows below the summary.
func (Commands) Help() string {
	return `The master key encrypts the stored secrets: signing keys, credentials of sending accounts, buckets and repositories, secrets of webhooks, authenticator apps and visitor ids. It is rotated in three steps, while servers run:

1. rotate seals every stored secret with the new key. Servers take the new key over from the database within five seconds, whichever of the two keys they are configured with. If rotate is interrupted, run it again.
2. Give every server the new key: replace the key file or MAILHELM_MASTER_KEY, and restart one server after the other. Back up the new key.
3. retire makes the former key useless. A server that still has it does not start any more.

Links in mail that was sent go on to work, also the links to unsubscribe. They are signed with a key that the database keeps, sealed with the master key. A person who has the former master key and an old copy of the database can therefore make such links.

Examples:

    mailhelm admin master-key rotate --new-key-file new.key
    mailhelm admin master-key show --json
    mailhelm admin master-key retire --master-key-file new.key`
}

// target has the flags that the commands share.
type target struct {
	installation.Target
	config.Master
}

// on opens the database and the configured master key.
func (t target) on(p *cli.Program, do func(context.Context, *installation.Session, signing.MasterKey) error) error {
	return t.With(p, func(ctx context.Context, s *installation.Session) error {
		key, err := s.MasterKey(t.Master)
		if err != nil {
			return err
		}
		return do(ctx, s, key)
	})
}

// state is what the commands print.
type state struct {
	// Current is the id of the key that seals new values, and Configured that of the key of
	// this command.
	Current    string `json:"current"`
	Configured string `json:"configured"`
	// Since is when the rotation began that is not finished; null if there is none.
	Since *time.Time `json:"rotating_since"`
	// Columns has the sealed values by column; empty for show.
	Columns []sealed.Count `json:"columns"`
}

// printState prints the state and what to do next.
func printState(s *installation.Session, key signing.MasterKey, records []signing.KeyRecord, counts []sealed.Count, next string) error {
	since, _ := signing.Began(records)
	if s.JSON {
		return s.PrintJSON(state{key.SealsWith(), key.ID(), since, append([]sealed.Count{}, counts...)})
	}
	rows := [][]string{{"current key", key.SealsWith()}, {"configured key", key.ID()}, {"rotating since", installation.Instant(since)}}
	for _, c := range counts {
		if c.Values > 0 {
			rows = append(rows, []string{c.Column, fmt.Sprintf("%d values, %d sealed anew", c.Values, c.Resealed)})
		}
		if len(c.Unreadable) > 0 {
			rows = append(rows, []string{"", fmt.Sprintf("%d open with no known key, the first is that of %s", len(c.Unreadable), c.Unreadable[0])})
		}
	}
	return s.PrintTable("", append(rows, []string{"", next}))
}

// show is `mailhelm admin master-key show`.
type show struct{ target }

// Run prints the state. It changes nothing.
func (c *show) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, key signing.MasterKey) error {
		records, err := s.DB.MasterKeys().KeyRecords(ctx)
		if err != nil {
			return err
		}
		next := "No rotation is under way."
		if since, _ := signing.Began(records); since != nil {
			next = "Give every server the current key, then run retire."
		}
		return printState(s, key, records, nil, next)
	})
}

// rotate is `mailhelm admin master-key rotate`.
type rotate struct {
	target
	NewKeyFile string `name:"new-key-file" help:"File with the new master key. If it does not exist, it is created with a new key." required:"" placeholder:"FILE" once:""`
	Stopped    bool   `help:"No server runs: do not wait until servers have taken the new key over." once:""`
}

// servers is how long servers may take to seal new values with the new key: twice the interval
// at which they look for it.
const servers = 10 * time.Second

// Run makes the new key the current one, and seals all values with it. It ends when a pass found
// no value of the former key after servers had the time to take the new one over. It may be
// interrupted and repeated with the same file.
func (c *rotate) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, key signing.MasterKey) error {
		next, err := signing.LoadMasterKey(c.NewKeyFile)
		if err != nil {
			return err
		}
		records, err := s.DB.MasterKeys().KeyRecords(ctx)
		if err != nil {
			return err
		}
		if since, _ := signing.Began(records); since == nil && key.SealsWith() == next.ID() {
			return fmt.Errorf("%s has the current master key: name a file with another key, or one that does not exist", c.NewKeyFile)
		}
		if err := successionOf(s).Begin(ctx, key, next); err != nil {
			return err
		}
		counts, err := reseal(ctx, s, key)
		for waited := c.Stopped; err == nil && !waited; {
			if err = wait(ctx, servers); err != nil {
				break
			}
			var again []sealed.Count
			again, err = reseal(ctx, s, key)
			waited = add(counts, again) == 0
		}
		if err != nil {
			return fmt.Errorf("not all values are sealed with the new master key, run the command again: %w", err)
		}
		if records, err = s.DB.MasterKeys().KeyRecords(ctx); err != nil {
			return err
		}
		return printState(s, key, records, counts, "Give every server the key in "+c.NewKeyFile+" and restart it. Then run retire.")
	})
}

func successionOf(s *installation.Session) signing.Succession {
	return signing.Succession{Store: s.DB.MasterKeys(), Transactor: s.DB, Clock: s.Config.Clock}
}

// reseal seals all values with the current key, and shows a progress bar.
func reseal(ctx context.Context, s *installation.Session, key signing.MasterKey) ([]sealed.Count, error) {
	total, err := sealed.Total(ctx, s.DB.DB)
	if err != nil {
		return nil, err
	}
	bar := cli.NewProgress(s.Stderr, total, s.Config.Clock)
	defer bar.End()
	return sealed.Reseal(ctx, s.DB.DB, key, func(done int64) { bar.Show(done, fmt.Sprintf("%d of %d secrets", done, total)) })
}

// add adds the values that a further pass sealed anew to the counts, and returns their number.
func add(counts, again []sealed.Count) int64 {
	var sum int64
	for i, c := range again {
		counts[i].Values, counts[i].Unreadable = c.Values, c.Unreadable
		counts[i].Resealed += c.Resealed
		sum += c.Resealed
	}
	return sum
}

// wait waits for the duration d or the end of ctx. It then returns the cause of the end, such as
// the signal.
func wait(ctx context.Context, d time.Duration) error {
	if core.Sleep(ctx, d) != nil {
		return context.Cause(ctx)
	}
	return nil
}

// unreadable returns how many values open with no known key, and the first column with one.
func unreadable(counts []sealed.Count) (column string, n int) {
	for _, c := range counts {
		if n == 0 {
			column = c.Column
		}
		n += len(c.Unreadable)
	}
	return column, n
}

// retire is `mailhelm admin master-key retire`.
type retire struct {
	target
	LoseUnreadable bool `name:"lose-unreadable" help:"Finish although values open neither with the former key nor with the new one." once:""`
	Now            bool `help:"Do not wait until 24 hours have passed since the rotation, or the longest period of an organization for results of calls. Repeated calls that created links of inboxes before then fail." once:""`
}

// replaysKept returns how long results of calls are kept for their repetition, in the
// organization that keeps them longest. Those of links to inboxes have a secret that is sealed
// and not resealed.
func replaysKept(ctx context.Context, s *installation.Session) (time.Duration, error) {
	orgs := s.DB.Orgs()
	ids, err := orgs.OrgIDs(ctx)
	if err != nil {
		return 0, err
	}
	days := 1
	for _, id := range ids {
		org, err := orgs.Org(ctx, id)
		if err != nil {
			return 0, err
		}
		days = max(days, org.ReplayDays)
	}
	return time.Duration(days) * 24 * time.Hour, nil
}

// Run removes the records with which the former key opens values. It fails unless this command
// has the current key, and if values of the former key are left that do not open.
func (c *retire) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, key signing.MasterKey) error {
		records, err := s.DB.MasterKeys().KeyRecords(ctx)
		if err != nil {
			return err
		}
		replays, err := replaysKept(ctx, s)
		if err != nil {
			return err
		}
		since, _ := signing.Began(records)
		switch {
		case since == nil:
			return errors.New("no rotation is under way: 'mailhelm admin master-key rotate' begins one")
		case key.ID() != key.SealsWith():
			return errors.New("this command has the former master key: name the file of the new one with --master-key-file, as every server must have it by now")
		case !c.Now && s.Config.Clock().Sub(*since) < replays:
			return fmt.Errorf("the rotation began at %s: wait until %d hours have passed, or give --now", since.UTC().Format(time.RFC3339), replays/time.Hour)
		}
		counts, err := reseal(ctx, s, key)
		if err != nil {
			return err
		}
		if column, n := unreadable(counts); n > 0 && !c.LoseUnreadable {
			return fmt.Errorf("%d values open with no known key, the first of them in %s: they may need a key from a backup. Give --lose-unreadable if they are lost anyway", n, column)
		}
		if err := successionOf(s).Finish(ctx); err != nil {
			return err
		}
		if records, err = s.DB.MasterKeys().KeyRecords(ctx); err != nil {
			return err
		}
		return printState(s, key, records, counts, "The former master key opens nothing any more.")
	})
}
