package contactimport_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/storage"
	contactimportstore "github.com/mailhelm/mailhelm/storage/contactimport"
)

// queue drops jobs: the tests run the worker.
type queue struct{}

func (queue) Enqueue(context.Context, jobs.Args) error             { return nil }
func (queue) EnqueueOnce(context.Context, jobs.Args) (bool, error) { return true, nil }

// desk is an organization with uploads. cut and cutPart are called before each part is stored, and
// partStored afterwards.
type desk struct {
	*contactstest.World
	*contactimport.Uploads
	cut        func() error
	cutPart    func(rows []json.RawMessage) error
	partStored func(rows []json.RawMessage)
	// killed is true if Import fails after it has stored a part.
	killed bool
	// checking is called before each part is checked, changed after each transaction.
	checking, changed func()
	// naming is called before the names of attributes are read.
	naming func()
	// by is the source of the changes of the latest part that was imported.
	by consent.Source
	mu sync.Mutex // for by
	// ended are the ids of processes that have ended. judging is called before a process is
	// looked up there.
	ended   map[string]bool
	judging func()
	// unknown is the error of looking up whether a process has ended, nil for none.
	unknown error
	// config has the configuration of Uploads, for a test that needs others.
	config contactimport.UploadConfig
}

// cutting is a bulk.Bulk whose Import fails when cut does.
type cutting struct {
	*bulk.Bulk
	d *desk
}

func (c cutting) Import(ctx context.Context, orgID string, by consent.Source, id string, rows []json.RawMessage) ([]bulk.Item, error) {
	if c.d.cut != nil {
		if err := c.d.cut(); err != nil {
			return nil, err
		}
	}
	if c.d.cutPart != nil {
		if err := c.d.cutPart(rows); err != nil {
			return nil, err
		}
	}
	c.d.mu.Lock()
	c.d.by = by
	c.d.mu.Unlock()
	items, err := c.Bulk.Import(ctx, orgID, by, id, rows)
	if err == nil && c.d.partStored != nil {
		c.d.partStored(rows)
	}
	if err == nil && c.d.killed {
		return nil, errors.New("killed")
	}
	return items, err
}

func (c cutting) TryImport(ctx context.Context, orgID string, rows []json.RawMessage) ([]bulk.Item, error) {
	if c.d.checking != nil {
		c.d.checking()
	}
	return c.Bulk.TryImport(ctx, orgID, rows)
}

func (c cutting) AttributeNames(ctx context.Context, orgID string) ([]string, error) {
	if c.d.naming != nil {
		c.d.naming()
	}
	return c.Bulk.AttributeNames(ctx, orgID)
}

// watched is a core.Transactor that calls d.changed after each transaction.
type watched struct {
	core.Transactor
	d *desk
}

func (w watched) InTx(ctx context.Context, f func(context.Context) error) error {
	err := w.Transactor.InTx(ctx, f)
	if w.d.changed != nil {
		w.d.changed()
	}
	return err
}

// process is a server process with an id. The field ended of its desk says which processes
// have ended.
type process struct {
	id string
	d  *desk
}

func (p process) ID() string { return p.id }

func (p process) HasEnded(_ context.Context, id string) (bool, error) {
	if p.d.judging != nil {
		p.d.judging()
	}
	return p.d.ended[id], p.d.unknown
}

// restart ends the process of the desk and begins another with the id.
func (d *desk) restart(id string) {
	d.ended[d.config.Processes.ID()] = true
	d.config.Processes = process{id, d}
	d.Uploads = contactimport.NewUploads(d.config)
}

func newDesk(t *testing.T, db *storage.DB) *desk {
	t.Helper()
	d := &desk{World: contactstest.New(t, db), ended: map[string]bool{}}
	direct := d.Bulk.Config
	direct.Queue = nil
	d.config = contactimport.UploadConfig{
		Store: contactimportstore.New(db.DB), Contacts: cutting{bulk.New(direct), d}, Transactor: watched{db, d}, Queue: queue{}, Processes: process{"first", d}, Orgs: db.Orgs().OrgIDs,
		Clock: d.World.Clock, Log: slog.New(slog.DiscardHandler),
	}
	d.Uploads = contactimport.NewUploads(d.config)
	return d
}

// uploader is the id of the person who uploads files.
const uploader = "0198c0de-0000-7000-8000-000000000001"

// starter is the id of the person who starts imports.
const starter = "0198c0de-0000-7000-8000-000000000002"

// receive uploads a file.
func (d *desk) receive(t *testing.T, text string) contactupload.Upload {
	t.Helper()
	up, err := d.Receive(t.Context(), d.Org.ID, uploader, "people.csv", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return up
}

// work runs the job of an upload and returns the upload afterwards.
func (d *desk) work(t *testing.T, id string) (contactupload.Upload, error) {
	t.Helper()
	failed := d.Worker().Work(t.Context(), contactimport.UploadArgs{OrgID: d.Org.ID, ID: id})
	up, err := d.Upload(t.Context(), d.Org.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	return up, failed
}

// checked uploads a file and checks it with the guessed columns.
func (d *desk) checked(t *testing.T, text string) contactupload.Upload {
	t.Helper()
	up := d.receive(t, text)
	if err := d.StartCheck(t.Context(), d.Org.ID, up.ID, up.Settings); err != nil {
		t.Fatal(err)
	}
	up, err := d.work(t, up.ID)
	if err != nil {
		t.Fatal(err)
	}
	return up
}
