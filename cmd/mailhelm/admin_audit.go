package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

type adminAudit struct {
	List auditList `cmd:"" help:"List an organization's latest events, newest first."`
}

// Help is shown below the summary.
func (adminAudit) Help() string {
	return `Examples:

    mailhelm admin audit list acme
    mailhelm admin audit list acme --limit 1000 --json`
}

type auditJSON struct {
	ID         string          `json:"id"`
	OccurredAt time.Time       `json:"occurred_at"`
	Action     string          `json:"action"`
	ActorKind  string          `json:"actor_kind"`
	ActorID    string          `json:"actor_id"`
	SubjectID  string          `json:"subject_id"`
	Surface    string          `json:"surface"`
	RequestID  string          `json:"request_id"`
	Detail     json.RawMessage `json:"detail"`
}

// mostListed bounds what one call reads into memory.
const mostListed = 10_000

func checkLimit(limit int) error {
	if limit < 1 || limit > mostListed {
		return fmt.Errorf("--limit must be from 1 to %d", mostListed)
	}
	return nil
}

type auditList struct {
	adminTarget
	Org   string `arg:"" help:"Slug or id."`
	Limit int    `help:"How many at most." default:"100" placeholder:"N" once:""`
}

// Run lists the events.
func (c *auditList) Run(p *program) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	return c.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, c.Org)
		if err != nil {
			return err
		}
		events, err := s.store.AuditEvents(ctx, org.ID, c.Limit)
		if err != nil {
			return err
		}
		listed, rows := []auditJSON{}, [][]string{{"TIME", "ACTION", "ACTOR", "SUBJECT", "DETAIL"}}
		for _, e := range events {
			listed = append(listed, auditJSON{
				e.ID, e.OccurredAt, e.Action, e.ActorKind, e.ActorID, e.SubjectID, string(e.Surface), e.RequestID, json.RawMessage(e.Detail),
			})
			rows = append(rows, []string{instant(&e.OccurredAt), e.Action, e.ActorKind + " " + e.ActorID, e.SubjectID, e.Detail})
		}
		if s.json {
			return s.printJSON(map[string]any{"events": listed})
		}
		return s.printTable("", rows)
	})
}
