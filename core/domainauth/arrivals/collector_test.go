package arrivals_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/s3"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// depot is a bucket of the organization on a real S3 server.
type depot struct {
	*enginetest.S3Server
	arrivals.Collector
	w *world
}

func newDepot(t *testing.T, w *world) *depot {
	t.Helper()
	d := &depot{S3Server: enginetest.S3(t), w: w}
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{7}, 32))
	must(t, err)
	buckets := w.db.MailBuckets(master)
	must(t, buckets.SaveBucket(t.Context(), w.org, objects.StoredBucket{ID: core.NewID(), InUse: true, CreatedAt: start, UpdatedAt: start, Bucket: objects.Bucket{
		Endpoint: d.URL, Region: enginetest.S3Region, Name: enginetest.S3Bucket, Prefix: "mailhelm/", PathStyle: true,
		AccessKeyID: enginetest.S3AccessKeyID, Secret: enginetest.S3Secret,
	}}))
	opener := s3.New(s3.Config{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Clock: core.SystemClock})
	t.Cleanup(opener.Close)
	store := w.db.ReportArrivals()
	d.Collector = arrivals.Collector{Deposits: objects.Deposits{Buckets: buckets, Opener: opener}, Files: store, Queue: store, Intake: w.intake, Clock: w.Now}
	return d
}

// put stores an object, as another program does.
func (d *depot) put(t *testing.T, name string, content []byte) {
	t.Helper()
	path := filepath.Join(d.Dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, content, 0o600))
}

// collect reads the objects with a prefix, and returns the names of those that were read.
func (d *depot) collect(t *testing.T, prefix string) []string {
	t.Helper()
	var names []string
	must(t, d.FromBucket(t.Context(), d.w.org, enginetest.S3Bucket, prefix, func(f arrivals.File) { names = append(names, f.Name) }))
	slices.Sort(names)
	return names
}

// TestReportsInABucket reads what programs put into the bucket of an organization. Each object must
// be read once, and again when it was replaced.
func TestReportsInABucket(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		d := newDepot(t, w)
		d.put(t, "reports/a.xml.gz", zipped(usual("1")))
		d.put(t, "reports/2026/b.zip", zipOf(t, usual("2"), usual("3")))
		d.put(t, "reports/copy.xml", []byte(usual("1")))
		d.put(t, "reports/mail", []byte(mail("anyone@attacker.example", gz(usual("4")))))
		d.put(t, "reports/whole", []byte(whole("anyone@attacker.example", "application/gzip", zipped(usual("5")))))
		d.put(t, "reports/letter", []byte(mail("ada@example.org")))
		d.put(t, "reports/other.xml", []byte(reportOf("6", "Reporter", "dmarc@reporter.example", "other.example")))
		d.put(t, "reports/cut.xml.gz", zipped(usual("7"))[:9])
		d.put(t, "elsewhere/x.xml", []byte(usual("8")))
		d.put(t, "mailhelm/"+objects.RawKey(w.org, core.NewID()), []byte(mail("dmarc@reporter.example", gz(usual("9")))))
		if got := d.collect(t, "reports/"); len(got) != 8 || got[0] != "reports/2026/b.zip" {
			t.Errorf("read %q", got)
		}
		if n := w.messages(); n != 5*7 {
			t.Errorf("%d messages are counted, want those of five reports", n)
		}
		byName := map[string]arrivals.File{}
		for _, f := range w.files() {
			byName[f.Name] = f
		}
		for name, want := range map[string]arrivals.File{
			"reports/a.xml.gz":   {State: arrivals.Read, Counts: one},
			"reports/2026/b.zip": {State: arrivals.Read, Counts: arrivals.Counts{Reports: 2}},
			"reports/copy.xml":   {State: arrivals.Read, Counts: arrivals.Counts{Duplicates: 1}},
			"reports/mail":       {State: arrivals.Read, Counts: one},
			"reports/whole":      {State: arrivals.Read, Counts: one},
			"reports/other.xml":  {State: arrivals.Read, Counts: arrivals.Counts{Foreign: 1}},
			"reports/letter":     {State: arrivals.Failed, Problem: "not a DMARC report"},
			"reports/cut.xml.gz": {State: arrivals.Failed, Problem: "damaged"},
		} {
			if got := byName[name]; got.State != want.State || got.Counts != want.Counts || !strings.Contains(got.Problem, want.Problem) || got.Origin != arrivals.Bucket || got.Size == 0 {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if got := d.collect(t, "reports/"); len(got) != 0 || w.messages() != 5*7 {
			t.Errorf("again: read %q, %d messages", got, w.messages())
		}
		d.put(t, "reports/cut.xml.gz", zipped(usual("7")))
		if got := d.collect(t, "reports/"); !slices.Equal(got, []string{"reports/cut.xml.gz"}) || w.messages() != 6*7 {
			t.Errorf("after one was replaced: read %q, %d messages", got, w.messages())
		}
		if got := d.collect(t, ""); !slices.Equal(got, []string{"elsewhere/x.xml"}) || w.messages() != 7*7 {
			t.Errorf("the whole bucket: read %q, %d messages; stored mail must be left out", got, w.messages())
		}
	})
}

// TestBucketFailures interrupts the reading of a bucket. What was counted must stay, and be counted
// once when it is read again.
func TestBucketFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	d := newDepot(t, w)
	if err := d.FromBucket(t.Context(), w.org, "another-bucket", "", nil); !core.IsNotFound(err) {
		t.Errorf("another bucket: %v", err)
	}
	if err := d.FromBucket(t.Context(), core.NewID(), enginetest.S3Bucket, "", nil); !core.IsNotFound(err) {
		t.Errorf("another organization: %v", err)
	}
	d.put(t, "a.xml", []byte(usual("1")))
	w.intake.fail = errors.New("the database does not answer")
	if err := d.FromBucket(t.Context(), w.org, enginetest.S3Bucket, "", nil); !errors.Is(err, w.intake.fail) || len(w.files()) != 0 {
		t.Errorf("the error is %v, with %d entries", err, len(w.files()))
	}
	w.intake.fail = nil
	if got := d.collect(t, ""); len(got) != 1 || w.messages() != 7 {
		t.Errorf("again: %q, %d messages", got, w.messages())
	}
	w.want(arrivals.Read, one, "")
	d.Stop()
	if err := d.FromBucket(t.Context(), w.org, enginetest.S3Bucket, "", nil); !errors.Is(err, objects.ErrUnavailable) {
		t.Errorf("without a server: %v", err)
	}
	d.Start(t)
}

// TestPartsOfMailFail reads a mail in a bucket, with one damaged part, while the database does
// not answer. The mail must be read again.
func TestPartsOfMailFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	store := w.db.ReportArrivals()
	cut := attachment{"cut.xml.gz", "application/gzip", zipped(usual("2"))[:9]}
	c := arrivals.Collector{Files: store, Queue: store, Intake: w.intake, Clock: w.Now, Deposits: memory{"mail": {mail("dmarc@reporter.example", cut, gz(usual("1"))), false}}}
	reads := 0
	w.intake.during = func(context.Context) {
		if reads++; reads == 2 {
			w.intake.fail = errors.New("the database does not answer")
		}
	}
	if err := c.FromBucket(t.Context(), w.org, "any", "", func(arrivals.File) {}); !errors.Is(err, w.intake.fail) || len(w.files()) != 0 {
		t.Errorf("the error is %v, with %d entries", err, len(w.files()))
	}
	w.intake.fail, w.intake.during = nil, nil
	must(t, c.FromBucket(t.Context(), w.org, "any", "", func(arrivals.File) {}))
	w.want(arrivals.Read, one, "damaged")
}

// TestLargeAndEncryptedObjects reads objects that a server of a test returns.
func TestLargeAndEncryptedObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	store := w.db.ReportArrivals()
	filler := "<!-- " + strings.Repeat("x", 1<<20) + " -->"
	large := strings.Replace(usual("1"), "</feedback>", strings.Repeat(filler, 65)+"</feedback>", 1)
	c := arrivals.Collector{Files: store, Queue: store, Intake: w.intake, Clock: w.Now, Deposits: memory{
		"encrypted": {usual("2"), true}, "large.xml": {large, false}, "large.eml": {"Subject: x\r\n\r\n" + strings.Repeat(" ", 65<<20), false}, "next.xml": {usual("3"), false},
	}}
	must(t, c.FromBucket(t.Context(), w.org, "any", "", func(arrivals.File) { w.Advance(time.Second) }))
	want := map[string]string{"encrypted": "encrypted by the service", "large.xml": "", "large.eml": "far larger", "next.xml": ""}
	for _, f := range w.files() {
		if problem, ok := want[f.Name]; !ok || (problem == "") != (f.State == arrivals.Read) || !strings.Contains(f.Problem, problem) {
			t.Errorf("%+v", f)
		}
		delete(want, f.Name)
	}
	if len(want) != 0 || w.messages() != 14 {
		t.Errorf("missing: %v; %d messages", want, w.messages())
	}
}

// memory has objects by their names, and lists one at a time.
type memory map[string]struct {
	content   string
	encrypted bool
}

func (m memory) List(_ context.Context, _, _, _, after string, _ int) ([]objects.Deposited, string, error) {
	names := slices.Sorted(maps.Keys(m))
	at, _ := slices.BinarySearch(names, after+"\x00")
	if at >= len(names) {
		return nil, "", nil
	}
	return []objects.Deposited{{Name: names[at], ETag: "1", Size: int64(len(m[names[at]].content))}}, names[at], nil
}

func (m memory) Open(_ context.Context, _, _, name string) (objects.Deposit, error) {
	o := m[name]
	return objects.Deposit{Body: io.NopCloser(strings.NewReader(o.content)), Size: int64(len(o.content)), Encrypted: o.encrypted}, nil
}
