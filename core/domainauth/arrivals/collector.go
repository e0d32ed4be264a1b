package arrivals

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"regexp"
	"strconv"

	"github.com/google/uuid"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/parse"
	"github.com/mailhelm/mailhelm/core/objects"
)

const (
	// listPage is how many objects are listed and looked up at once.
	listPage = 1000
	// maxInMemory is the size of objects that are read into memory. Larger ones are read several
	// times. It is also the size of the largest mail.
	maxInMemory = 64 << 20
)

// Deposits lists and opens objects in the buckets of organizations; it is an [objects.Deposits].
type Deposits interface {
	List(ctx context.Context, orgID, bucket, prefix, after string, limit int) (all []objects.Deposited, next string, err error)
	Open(ctx context.Context, orgID, bucket, name string) (objects.Deposit, error)
}

// Collector reads reports that are in a bucket of an organization, for example because Amazon SES
// or another program put them there. It may run in several processes. All fields are required.
type Collector struct {
	Deposits Deposits
	Files    FileStore
	Queue    Queue
	Intake   Intake
	Clock    core.Clock
}

// FromBucket reads the objects whose names begin with a prefix: files with reports, or whole mails
// with such files. It stores an entry of the list of files for each, and leaves out objects that
// have one, unless they were replaced since. So it may be repeated, also after an interruption.
// read is called after each object that was read. It fails with core.CodeNotFound if the
// organization has no such bucket, and with objects.ErrUnavailable if the bucket does not answer.
func (c Collector) FromBucket(ctx context.Context, orgID, bucket, prefix string, read func(File)) error {
	for after := ""; ; {
		page, next, err := c.Deposits.List(ctx, orgID, bucket, prefix, after, listPage)
		if err != nil {
			return err
		}
		fresh, err := c.fresh(ctx, orgID, bucket, page)
		if err != nil {
			return err
		}
		for _, o := range fresh {
			f, err := c.read(ctx, orgID, bucket, o)
			if core.IsNotFound(err) { // it was deleted since it was listed
				continue
			}
			if err != nil {
				return err
			}
			read(f)
		}
		if next == "" {
			return nil
		}
		after = next
	}
}

// fresh returns the objects that have no entry.
func (c Collector) fresh(ctx context.Context, orgID, bucket string, page []objects.Deposited) ([]objects.Deposited, error) {
	ids := make([]string, len(page))
	for i, o := range page {
		ids[i] = depositID(bucket, o)
	}
	found, err := c.Files.KnownFiles(ctx, orgID, ids)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, id := range found {
		known[id] = true
	}
	var fresh []objects.Deposited
	for i, o := range page {
		if !known[ids[i]] {
			fresh = append(fresh, o)
		}
	}
	return fresh, nil
}

// depositID returns the id of the entry of an object. Some servers state no ETag, so the size is a
// part of it.
func depositID(bucket string, o objects.Deposited) string {
	sum := sha256.Sum256([]byte(bucket + "\n" + o.Name + "\n" + o.ETag + "\n" + strconv.FormatInt(o.Size, 10)))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8 (RFC 9562), variant 10
	return id.String()
}

// read reads an object, and stores its entry.
func (c Collector) read(ctx context.Context, orgID, bucket string, o objects.Deposited) (File, error) {
	now := c.Clock()
	f := File{OrgID: orgID, ID: depositID(bucket, o), Origin: Bucket, Name: shortText(o.Name), Size: o.Size, ReceivedAt: now, UpdatedAt: now}
	parts, err := c.parts(ctx, orgID, bucket, o.Name)
	problem := problemOf(err)
	if err != nil && problem == "" {
		return f, err
	}
	var found Found
	for _, open := range parts {
		part, err := c.Intake.Read(ctx, f, "", open)
		text := problemOf(err)
		if err != nil && text == "" {
			return f, err
		}
		found, problem = found.plus(part), cmp.Or(problem, text)
	}
	if f.Counts, err = countsOf(ctx, c.Queue, f, found); err != nil {
		return f, err
	}
	f.State, f.Problem = conclude(f.Counts, found.Unusable, problem)
	_, err = c.Files.AddFiles(ctx, orgID, []File{f})
	return f, err
}

func (f Found) plus(other Found) Found {
	f.Reports, f.Duplicates, f.TLSReports, f.Foreign = f.Reports+other.Reports, f.Duplicates+other.Duplicates, f.TLSReports+other.TLSReports, f.Foreign+other.Foreign
	f.Unusable += other.Unusable
	return f
}

// errEncrypted is the error for an object that a service encrypted before it stored it.
var errEncrypted = errors.New("domainauth: the object is encrypted")

// mailHeader matches the beginning of a mail: the name of a field, or the line of an mbox file.
var mailHeader = regexp.MustCompile(`^(From |[A-Za-z][A-Za-z0-9-]*:)`)

// parts returns what may be read of an object: the object itself, or the attachments of a mail.
func (c Collector) parts(ctx context.Context, orgID, bucket, name string) ([]func() (io.ReadCloser, error), error) {
	open := func() (io.ReadCloser, error) {
		d, err := c.Deposits.Open(ctx, orgID, bucket, name)
		if err == nil && d.Encrypted {
			return nil, errors.Join(errEncrypted, d.Body.Close())
		}
		return d.Body, err
	}
	body, err := open()
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(body, maxInMemory+1))
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	switch isMail, isLarge := mailHeader.Match(content), len(content) > maxInMemory; {
	case isMail && isLarge:
		return nil, report.ErrTooLarge
	case isMail:
		return partsOfMail(content), nil
	case isLarge:
		return []func() (io.ReadCloser, error){open}, nil
	}
	return []func() (io.ReadCloser, error){reading(content)}, nil
}

// partsOfMail returns the parts of a mail that may be reports; see partsOf.
func partsOfMail(raw []byte) []func() (io.ReadCloser, error) {
	content := parse.Bytes(raw, parse.DefaultLimits)
	var parts []func() (io.ReadCloser, error)
	for i := range content.Attachments {
		a := &content.Attachments[i]
		if len(parts) < maxParts && mayBeReport(inbound.File{Filename: a.Filename, ContentType: a.ContentType}) {
			parts = append(parts, func() (io.ReadCloser, error) { return io.NopCloser(a.Open()), nil })
		}
	}
	if len(parts) == 0 {
		parts = append(parts, reading(textOf(raw)))
	}
	return parts
}

func reading(content []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
}
