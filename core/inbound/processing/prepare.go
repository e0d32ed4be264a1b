package processing

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/parse"
	"github.com/mailhelm/mailhelm/core/objects"
)

// prepare reads, judges and parses a message, and stores its bodies and attachments. A repeated
// call stores the same objects under the same keys.
func (p *Processor) prepare(ctx context.Context, store objects.Store, c *claimed) (*delivery, error) {
	t := c.Task
	weight := min(t.Envelope.Size, maxBytes)
	if err := p.memory.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	defer p.memory.Release(weight)
	raw, err := read(ctx, store, t)
	if err != nil {
		return nil, err
	}
	verdicts := p.verdicts(ctx, t.Envelope, raw)
	content := parse.Bytes(raw, parse.DefaultLimits)
	ready := &delivery{task: t}
	for i, routes := range byTarget(t.Envelope.Routes) {
		s := saver{ctx: ctx, store: store, orgID: t.OrgID, id: folderOf(t.RawKey, i), again: t.Attempts > 1}
		m := messageOf(t, content)
		m.Verdicts, m.RawKey = verdicts, t.RawKey
		if i > 0 {
			m.RawKey = s.put(objects.RawKey(t.OrgID, s.id), raw, "message/rfc822")
		}
		s.save(&m, content)
		if c.added = append(c.added, s.added...); s.err != nil {
			return nil, fmt.Errorf("inbound: store parts: %w", s.err)
		}
		if routes[0].Kind == inbound.ToInbox {
			m.Extracted = p.cfg.Extract(m)
		}
		ready.copies = append(ready.copies, inbound.Delivery{Message: m, Routes: routes})
	}
	return ready, nil
}

// folderOf returns the folder with the objects of the copy for a target: that of the message, or
// one beside it. Each target has objects of its own, because targets delete their messages at
// different times.
func folderOf(rawKey string, i int) string {
	folder := path.Base(path.Dir(rawKey))
	if i == 0 {
		return folder
	}
	return folder + "." + strconv.Itoa(i)
}

func (p *Processor) verdicts(ctx context.Context, e inbound.Envelope, raw []byte) inbound.Verdicts {
	if e.Judged != nil {
		return *e.Judged
	}
	return p.cfg.Judge(ctx, e, raw)
}

// messageOf returns the message without its bodies, attachments and verdicts.
func messageOf(t inbound.Task, c *parse.Content) inbound.Message {
	m := inbound.Message{
		ID: t.Envelope.ID, Sender: t.Envelope.Sender, ReceivedAt: t.Envelope.ReceivedAt, Size: t.Envelope.Size, StoreID: t.StoreID,
		To: addresses(c.To), Cc: addresses(c.Cc), ReplyTo: addresses(c.ReplyTo), Subject: c.Subject,
		HeaderID: c.HeaderMessageID, InReplyTo: c.InReplyTo, References: c.References,
	}
	if c.From != (parse.Address{}) {
		m.From = &inbound.Address{Address: c.From.Address, Name: c.From.Name}
	}
	for _, h := range c.Headers {
		if m.Date == "" && strings.EqualFold(h.Name, "Date") {
			m.Date = h.Value
		}
		m.Headers = append(m.Headers, inbound.Header{Name: h.Name, Value: h.Value})
	}
	for _, w := range c.Warnings {
		m.Warnings = append(m.Warnings, warningText(w))
	}
	return m
}

func warningText(w parse.Warning) string {
	if w.Detail == "" {
		return string(w.Code)
	}
	return string(w.Code) + ": " + w.Detail
}

func addresses(all []parse.Address) []inbound.Address {
	var converted []inbound.Address
	for _, a := range all {
		converted = append(converted, inbound.Address{Address: a.Address, Name: a.Name})
	}
	return converted
}

// saver stores objects of one copy until one fails, and keeps the first error.
type saver struct {
	ctx   context.Context //nolint:containedctx // it lives for one call of prepare
	store objects.Store
	orgID string
	id    string
	// again is true after an attempt that failed. Objects then replace those of the attempts
	// before, so that attempts do not fill the store.
	again bool
	// added has the keys of the objects that only this attempt knows: those of Store.Add that are
	// not the same for each attempt.
	added []string
	err   error
}

// save stores large bodies and all attachments, and notes in the message where they are.
func (s *saver) save(m *inbound.Message, c *parse.Content) {
	m.Text, m.TextKey = s.body(c.TextBody, objects.TextKey(s.orgID, s.id), "text/plain; charset=utf-8")
	m.HTML, m.HTMLKey = s.body(c.HTMLBody, objects.HTMLKey(s.orgID, s.id), "text/html; charset=utf-8")
	for i := range c.Attachments {
		a := &c.Attachments[i]
		file := inbound.File{
			Filename: a.Filename, ContentType: a.ContentType, ContentID: a.ContentID, Inline: a.Inline, Size: a.Size, Key: objects.AttachmentKey(s.orgID, s.id, i),
		}
		file.Key = s.attachment(file.Key, a)
		m.Attachments = append(m.Attachments, file)
	}
}

// body returns a short body itself, or the key of the object with a large one.
func (s *saver) body(text, key, contentType string) (inline, at string) {
	if len(text) <= inbound.MaxInline {
		return text, ""
	}
	return "", s.put(key, []byte(text), contentType)
}

// attachment stores an attachment and returns its key. A large one is not read into memory.
func (s *saver) attachment(key string, a *parse.Attachment) string {
	if a.Size > inbound.MaxInline {
		if s.err == nil {
			s.err = s.store.Put(s.ctx, key, a.Open(), a.Size, a.ContentType)
		}
		return key
	}
	content := make([]byte, a.Size)
	if _, err := io.ReadFull(a.Open(), content); err != nil && s.err == nil {
		s.err = err
	}
	return s.put(key, content, a.ContentType)
}

// put stores an object and returns its key.
func (s *saver) put(key string, content []byte, contentType string) string {
	switch {
	case s.err != nil:
	case s.again:
		s.err = s.store.Put(s.ctx, key, bytes.NewReader(content), int64(len(content)), contentType)
	default:
		at, err := s.store.Add(s.ctx, key, content, contentType)
		if s.err = err; err == nil && at != key {
			s.added = append(s.added, at)
			key = at
		}
	}
	return key
}
