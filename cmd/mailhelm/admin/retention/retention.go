// Package retention has the commands of `mailhelm admin retention`, which show and change for how
// long records of an organization are kept.
package retention

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/retaining"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/retention"
)

// Commands is `mailhelm admin retention`.
type Commands struct {
	Show show `cmd:"" help:"Show for how long records of an organization are kept."`
	Set  set  `cmd:"" help:"Change for how long a kind of records is kept."`
}

// Help returns the text that --help shows below the summary.
func (Commands) Help() string {
	var kinds strings.Builder
	for _, k := range retention.Kinds() {
		fmt.Fprintf(&kinds, "    %-18s %s by default; %s\n", k.Name, retention.Words(k.Default), k.Bounds())
	}
	return `A running server deletes old records for good, every six hours and a few at a time. Each organization has its own periods; owners change them on the page "Retention" too. Agents and the public API cannot.

A changed period applies after 24 hours, so a mistake can be corrected. Default periods apply 30 days after a server first ran with them; those of replay and jobs apply at once, as before. An archived contact whose mail must be refused, because of an opt-out, a complaint or a permanent bounce, leaves a keyed hash of the address that refuses it.

Kinds of records:

` + kinds.String() + `
Examples:

    mailhelm admin retention show acme
    mailhelm admin retention set acme audit_log 730
    mailhelm admin retention set acme membership_log forever
    mailhelm admin retention set acme archived_contacts default --json`
}

// kindJSON is the form in which --json prints a kind of records. Scripts rely on its members.
type kindJSON struct {
	Kind retention.Name `json:"kind"`
	// Days is the period in force, 0 for as long as the organization.
	Days    int  `json:"days"`
	IsSet   bool `json:"is_set"`
	Default int  `json:"default_days"`
	Min     int  `json:"min_days"`
	Max     int  `json:"max_days"`
	// AppliesFrom is the time from which old records are deleted. It is null until a server has
	// run with the period.
	AppliesFrom *time.Time `json:"applies_from"`
	// Rows and Due are numbers of records, 10000 for more.
	Rows   int        `json:"rows"`
	Due    int        `json:"due"`
	Oldest *time.Time `json:"oldest_at"`
	RanAt  *time.Time `json:"ran_at"`
	// Deleted is the number of records that were deleted so far.
	Deleted int `json:"deleted"`
}

// kindOf returns the printed form of a period.
func kindOf(ctx context.Context, settings retention.Settings, org core.Org, p retention.Period) (kindJSON, error) {
	f, err := settings.Figures(ctx, org, p)
	return kindJSON{
		Kind: p.Name, Days: p.Days, IsSet: p.IsSet, Default: p.Default, Min: p.Min, Max: p.Max, AppliesFrom: timeOf(p.From),
		Rows: f.Rows, Due: f.Due, Oldest: timeOf(f.Oldest), RanAt: p.RanAt, Deleted: p.Deleted,
	}, err
}

// timeOf returns a time in UTC, nil for the zero time.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// number returns a number of records in words.
func number(n int) string {
	if n >= retention.MaxCounted {
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}

// settingsOf returns the settings of the open installation.
func settingsOf(s *installation.Session) retention.Settings {
	return retaining.Parts{DB: s.DB.DB, Orgs: s.DB.Orgs(), Audit: s.DB.Audit(), Clock: s.Config.Clock}.Settings()
}

// show is `mailhelm admin retention show`.
type show struct {
	installation.Target
	Org string `arg:"" help:"Slug or id."`
}

// Run prints the periods of all kinds, with numbers of records.
func (c *show) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		settings := settingsOf(s)
		periods, err := settings.Periods(ctx, org.ID)
		if err != nil {
			return err
		}
		kinds := make([]kindJSON, len(periods))
		for i, p := range periods {
			if kinds[i], err = kindOf(ctx, settings, org, p); err != nil {
				return err
			}
		}
		header := []string{"KIND", "KEPT", "BOUNDS", "RECORDS", "OLDEST", "DUE", "DELETES FROM", "LAST RUN", "DELETED"}
		return installation.PrintList(s, "kinds", header, kinds, func(k kindJSON) (kindJSON, []string) { return k, k.row() })
	})
}

// row returns the cells of a kind in a table.
func (k kindJSON) row() []string {
	kept := retention.Words(k.Days)
	if !k.IsSet {
		kept += " (default)"
	}
	return []string{
		string(k.Kind), kept, fmt.Sprintf("%d to %d days", k.Min, k.Max), number(k.Rows), installation.Instant(k.Oldest), number(k.Due),
		installation.Instant(k.AppliesFrom), installation.Instant(k.RanAt), strconv.Itoa(k.Deleted),
	}
}

// set is `mailhelm admin retention set`.
type set struct {
	installation.Target
	Org  string `arg:"" help:"Slug or id."`
	Kind string `arg:"" help:"Kind of records, such as audit_log. --help of 'admin retention' lists them."`
	Days string `arg:"" help:"Number of days, 'forever' for as long as the organization, or 'default'."`
}

// Run stores the period and prints it, with the number of records that are older.
func (c *set) Run(p *cli.Program) error {
	days, err := c.days()
	if err != nil {
		return err
	}
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		settings := settingsOf(s)
		if _, err := settings.Set(ctx, access.ActorOf(access.Operator), org.ID, retention.Change{Kind: retention.Name(c.Kind), Days: days}); err != nil {
			return err
		}
		periods, err := settings.Periods(ctx, org.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(periods, func(p retention.Period) bool { return string(p.Name) == c.Kind })
		shown, err := kindOf(ctx, settings, org, periods[i])
		if err != nil {
			return err
		}
		if s.JSON {
			return s.PrintJSON(shown)
		}
		return s.PrintTable("", [][]string{
			{"organization", org.Slug},
			{"kind", c.Kind},
			{"kept", retention.Words(shown.Days)},
			{"records", number(shown.Rows)},
			{"older than the period", number(shown.Due)},
			{"deleted from", installation.Instant(shown.AppliesFrom)},
		})
	})
}

// days returns the number of days, nil for the default.
func (c *set) days() (*int, error) {
	days := retention.Forever
	switch c.Days {
	case "default":
		return nil, nil //nolint:nilnil // the default has no number
	case "forever":
		return &days, nil
	}
	days, err := strconv.Atoi(c.Days)
	if err != nil {
		return nil, fmt.Errorf("%q is not a number of days: give a number such as 365, 'forever' or 'default'", c.Days)
	}
	return &days, nil
}
