package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/backfill"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/host"
	"github.com/mailhelm/mailhelm/core"
)

type ingestCommand struct {
	adminTarget
	File string `arg:"" help:"File with one event a line, plain or gzip; - for standard input."`
	Org  string `help:"Slug or id of the organization whose events they are. Default: the only one there is." placeholder:"ORG" once:""`
}

// Help is shown below the summary.
func (ingestCommand) Help() string {
	return `Takes in events of Amazon SES that were kept elsewhere, as JSON lines: bare, or still in the notification of Amazon SNS or the envelope of Amazon EventBridge they came in. Events that are there already are skipped, so a run that was interrupted can be repeated, and a server may run at the same time. Lines that hold no event are counted and named; they stop nothing.

The exit status is 0 when every event that was found is stored, also beside lines that hold none. It is 1 when an event could not be stored, and when there are lines and none holds an event: that is the wrong file.

Examples:

    mailhelm ingest events.jsonl --org acme
    zcat archive/*.gz | mailhelm ingest - --org acme --json`
}

type ingestJSON struct {
	Organization string `json:"organization"`
	backfill.Summary
}

// Run takes in the file.
func (c *ingestCommand) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		org, read, err := s.source(ctx, p, c.Org, c.File)
		if err != nil {
			return err
		}
		line := progressOn(s.stderr, read.size, s.cfg.Clock)
		sum, err := backfill.Run(ctx, backfill.Config{
			Events: host.Events(s.db, s.cfg.Clock, s.cfg.Log), OrgID: org.ID, Clock: s.cfg.Clock,
			Progress: func(sum backfill.Summary) {
				line.show(read.bytes.Load(), fmt.Sprintf("%d events, %d new", sum.Events, sum.New))
			},
		}, read)
		line.end()
		err = errors.Join(err, read.Close())
		if err != nil && sum.Lines == 0 {
			return err // there is nothing to sum up
		}
		if err = errors.Join(err, s.printIngested(org, sum)); err != nil {
			return err
		}
		switch {
		case sum.Failed > 0:
			return errReported
		case sum.Malformed > 0 && sum.Events == 0:
			return fmt.Errorf("no line of %s holds an event of Amazon SES: is it another file, or one event over several lines?", c.File)
		}
		return nil
	})
}

// orgOrOnly is the organization that is named, or the only one.
func (s *session) orgOrOnly(ctx context.Context, ref string) (core.Org, error) {
	if ref != "" {
		return s.org(ctx, ref)
	}
	ids, err := s.db.Orgs().OrgIDs(ctx)
	if err != nil {
		return core.Org{}, err
	}
	if len(ids) != 1 {
		return core.Org{}, fmt.Errorf("there are %d organizations: say with --org which one is meant", len(ids))
	}
	return s.db.Orgs().Org(ctx, ids[0])
}

// source is an organization, by reference or as the only one, and the file that is to
// be taken in for it.
func (s *session) source(ctx context.Context, p *program, ref, name string) (core.Org, *counted, error) {
	org, err := s.orgOrOnly(ctx, ref)
	if err != nil {
		return core.Org{}, nil, err
	}
	file, err := p.input(name)
	return org, file, err
}

// input opens a file, with its size when it has one.
func (p *program) input(name string) (*counted, error) {
	if name == "-" {
		return &counted{ReadCloser: io.NopCloser(p.stdin)}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder: name its files one at a time, or pipe them in", name)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &counted{ReadCloser: file, size: info.Size()}, nil
}

// counted counts what was read of a file. size is 0 when nobody knows it.
type counted struct {
	io.ReadCloser
	size  int64
	bytes atomic.Int64
}

// Read reads on.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.bytes.Add(int64(n))
	return n, err
}

func (s *session) printIngested(org core.Org, sum backfill.Summary) error {
	if s.json {
		return s.printJSON(ingestJSON{org.Slug, sum})
	}
	return s.printTable("", [][]string{
		{"organization", org.Slug},
		{"lines", strconv.Itoa(sum.Lines)},
		{"events", strconv.Itoa(sum.Events)},
		{"new", strconv.Itoa(sum.New)},
		{"duplicates", strconv.Itoa(sum.Duplicates)},
		{"malformed", lineCount(sum.Malformed, sum.MalformedLines)},
		{"failed", lineCount(sum.Failed, sum.FailedLines)},
	})
}

// lineCount is a count of lines with the numbers of the first.
func lineCount(count int, first []int) string {
	if count == 0 {
		return "0"
	}
	numbers := make([]string, len(first))
	for i, n := range first {
		numbers[i] = strconv.Itoa(n)
	}
	word := "line"
	if count > 1 {
		word = "lines"
	}
	text := fmt.Sprintf("%d (%s %s", count, word, strings.Join(numbers, ", "))
	if count > len(first) {
		text += ", ..."
	}
	return text + ")"
}
