package parse_test

import (
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/parse"
)

// TestHostile reads every hostile message, and compares the result with what the sample
// states.
func TestHostile(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, s := range inboundtest.Hostile() {
		if names[s.Name] {
			t.Errorf("two samples are named %s", s.Name)
		}
		names[s.Name] = true
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			c, err := parse.Parse(s.Message, s.Message.Size(), parse.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			checkSample(t, c, s.Want)
			checkProperties(t, c, s.Message.Size(), parse.DefaultLimits)
		})
	}
	if len(names) < 100 {
		t.Errorf("%d samples, want 100", len(names))
	}
}

func checkSample(t *testing.T, c *parse.Content, want inboundtest.Want) {
	t.Helper()
	if c.From.Address != want.From || c.From.Name != want.FromName {
		t.Errorf("From is %q, want %q <%s>", c.From, want.FromName, want.From)
	}
	if c.Subject != want.Subject {
		t.Errorf("Subject is %.200q, want %.200q", c.Subject, want.Subject)
	}
	if c.Date.IsZero() != want.Undated {
		t.Errorf("Date is %s", c.Date)
	}
	for name, body := range map[string][2]string{"TextBody": {c.TextBody, want.Text}, "HTMLBody": {c.HTMLBody, want.HTML}} {
		if got, contained := body[0], body[1]; contained == "" && got != "" || !strings.Contains(got, contained) {
			t.Errorf("%s is %.200q, want %.200q in it", name, got, contained)
		}
	}
	var files []inboundtest.Attachment
	for _, a := range c.Attachments {
		files = append(files, inboundtest.Attachment{Filename: a.Filename, ContentType: a.ContentType, Size: a.Size, Inline: a.Inline})
	}
	if len(files) > 20 || want.AttachmentCount > 0 {
		if len(files) != want.AttachmentCount {
			t.Errorf("%d attachments, want %d", len(files), want.AttachmentCount)
		}
	} else if diff := cmp.Diff(want.Attachments, files); diff != "" {
		t.Errorf("attachments (want, got):\n%s", diff)
	}
	var codes []string
	for _, w := range c.Warnings {
		codes = append(codes, string(w.Code))
	}
	slices.Sort(codes)
	if diff := cmp.Diff(slices.Sorted(slices.Values(want.Warnings)), codes); diff != "" {
		t.Errorf("warnings (want, got):\n%s", diff)
	}
	if want.Not != "" {
		for _, s := range shownStrings(c) {
			if strings.Contains(s, want.Not) {
				t.Errorf("%.200q has %q", s, want.Not)
			}
		}
	}
}

// shownStrings returns every string of the content that is shown to people.
func shownStrings(c *parse.Content) []string {
	all := []string{c.Subject, c.HeaderMessageID, c.InReplyTo, c.TextBody, c.HTMLBody, c.From.Name, c.From.Address}
	for _, list := range [][]parse.Address{c.To, c.Cc, c.ReplyTo} {
		for _, a := range list {
			all = append(all, a.Name, a.Address)
		}
	}
	all = append(all, c.References...)
	for _, a := range c.Attachments {
		all = append(all, a.Filename, a.ContentID, a.ContentType)
	}
	return all
}

// checkProperties checks what holds for every message.
func checkProperties(t *testing.T, c *parse.Content, size int64, limits parse.Limits) {
	t.Helper()
	headers := 0
	all := shownStrings(c)
	for _, h := range c.Headers {
		headers += len(h.Name) + len(h.Value)
		all = append(all, h.Name, h.Value)
		if strings.ContainsAny(h.Value, "\r\n\x00") || len(h.Value) > limits.ValueBytes {
			t.Errorf("the value of %s has a line end or is too long: %.100q", h.Name, h.Value)
		}
	}
	for _, w := range c.Warnings {
		all = append(all, w.Detail)
	}
	for _, s := range all {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Errorf("not UTF-8, or with NUL: %.100q", s)
		}
	}
	if len(c.TextBody) > limits.BodyBytes || len(c.HTMLBody) > limits.BodyBytes {
		t.Errorf("bodies of %d and %d bytes", len(c.TextBody), len(c.HTMLBody))
	}
	if len(c.Headers) > limits.Headers || headers > limits.HeaderBytes+parseFieldName {
		t.Errorf("%d headers of %d bytes", len(c.Headers), headers)
	}
	if len(c.Attachments) > limits.Parts || len(c.To) > limits.Addresses || len(c.References) > 100 {
		t.Errorf("%d attachments, %d recipients, %d references", len(c.Attachments), len(c.To), len(c.References))
	}
	var total int64
	for i := range c.Attachments {
		a := &c.Attachments[i]
		total += a.Size
		if n, err := io.Copy(io.Discard, a.Open()); err != nil || n != a.Size {
			t.Errorf("attachment %q has %d bytes, Open returned %d, %v", a.Filename, a.Size, n, err)
		}
		if len(a.Filename) > 201 || strings.ContainsAny(a.Filename, "/\\\n") || a.Filename == ".." {
			t.Errorf("unsafe file name %q", a.Filename)
		}
	}
	if total > size {
		t.Errorf("attachments of %d bytes in a message of %d", total, size)
	}
	if !utf8.ValidString(c.Text()) {
		t.Error("the text of the HTML is not UTF-8")
	}
}

// parseFieldName is the length of the longest name of a field.
const parseFieldName = 256

// TestBounds reads every hostile message alone and measures memory and time. At most four
// times the size and 1 MiB are allocated, at most 48 MiB for a message of any size. At most
// 200 ns pass for each byte, and a second, which leaves room for a busy machine: what grows
// with the square of the size takes minutes.
//
//nolint:paralleltest // it measures memory and time
func TestBounds(t *testing.T) {
	for _, s := range inboundtest.Hostile() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		c, err := parse.Parse(s.Message, s.Message.Size(), parse.Limits{})
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		allocated := after.TotalAlloc - before.TotalAlloc
		size := uint64(s.Message.Size())
		if allowed := min(4*size+1<<20, 48<<20); allocated > allowed {
			t.Errorf("%s: %d bytes allocated for %d bytes, at most %d are allowed", s.Name, allocated, size, allowed)
		}
		if allowed := time.Second + 200*time.Duration(size); took > allowed {
			t.Errorf("%s: %s for %d bytes, at most %s are allowed", s.Name, took, size, allowed)
		}
		if testing.Verbose() {
			t.Logf("%-34s %9d bytes %9d allocated %12s %v", s.Name, size, allocated, took, c.Warnings)
		}
		runtime.KeepAlive(c)
	}
}
