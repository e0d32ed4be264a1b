package person

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/persons"
	"github.com/mailhelm/mailhelm/core/privacy"
)

// RestoreCheck is `mailhelm restore-check`.
type RestoreCheck struct {
	places
	List string `help:"Journal of erased addresses from before the restore. Default: erased-addresses.jsonl in the data folder." placeholder:"FILE"`
}

// Help returns the text that --help shows below the summary.
func (RestoreCheck) Help() string {
	return `Run this after you restored an older copy of the database, before the servers start. The copy still has the data of persons who were erased after it was made. The command erases them again: it compares the address of every person with the journal of erased addresses, which has keyed hashes only, so it needs the master key.

Each erasure is appended to erased-addresses.jsonl in the data folder. Restoring the data folder replaces this file too, so copy the newest one elsewhere first, and name it with --list. A person whose contact was created after the erasure is kept.

Examples:

    cp /var/lib/mailhelm/erased-addresses.jsonl /root/
    mailhelm restore-check --data /var/lib/mailhelm --list /root/erased-addresses.jsonl`
}

// restoredJSON is the form in which --json prints the result for one organization. Scripts rely
// on its members.
type restoredJSON struct {
	OrgID  string `json:"org_id"`
	Slug   string `json:"slug"`
	Listed int    `json:"listed"`
	Erased int    `json:"erased"`
	Newer  int    `json:"newer"`
}

// Run erases persons again. It may be repeated.
func (c *RestoreCheck) Run(p *cli.Program) error {
	return c.open(p, func(ctx context.Context, s *installation.Session, found *privacy.Privacy) error {
		path := c.List
		if path == "" {
			path = filepath.Join(s.Config.DataDir, persons.JournalName)
		}
		entries, err := persons.ReadJournal(path, c.List != "")
		if err != nil {
			return err
		}
		orgs, err := s.DB.Orgs().OrgIDs(ctx)
		if err != nil {
			return err
		}
		line := cli.NewProgress(s.Stderr, int64(len(orgs)), s.Config.Clock)
		var all []restoredJSON
		for i, id := range orgs {
			stones := privacy.Latest(entries, id)
			done, err := found.Restore(ctx, operator(), id, stones)
			if err != nil {
				line.End()
				return p.Explain(err)
			}
			org, err := s.DB.Orgs().Org(ctx, id)
			if err != nil {
				return err
			}
			all = append(all, restoredJSON{id, org.Slug, len(stones), done.Erased, done.Newer})
			line.Show(int64(i+1), fmt.Sprintf("%d organizations", i+1))
		}
		line.End()
		return installation.PrintList(s, "organizations", []string{"ORGANIZATION", "LISTED", "ERASED AGAIN", "CAME BACK"}, all, func(r restoredJSON) (restoredJSON, []string) {
			return r, []string{r.Slug, strconv.Itoa(r.Listed), strconv.Itoa(r.Erased), strconv.Itoa(r.Newer)}
		})
	})
}
