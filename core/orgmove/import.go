package orgmove

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/mailhelm/mailhelm/core"
)

// Target stores an organization. It is hidden until Finish: credentials are refused, jobs leave it
// out, and it has another slug.
type Target interface {
	// Schema returns the version of the database's schema, and Tables the tables that an archive
	// has, in their order.
	Schema(ctx context.Context) (int64, error)
	Tables() []Table
	// Begin inserts the hidden organization. It removes what an import of it left that was
	// interrupted. It fails with core.CodeConflict if the installation has the organization, or
	// another one with the slug.
	Begin(ctx context.Context, a Arrival) error
	// Load inserts lines, each an array of the values of a table's columns. It returns the number
	// of lines. It fails with core.CodeValidationFailed for a line that has something else. It may
	// store the rows after it returned; a later call then returns the error.
	Load(ctx context.Context, table string, lines []byte) (int64, error)
	// Finish makes the organization visible, together with its members.
	Finish(ctx context.Context) ([]Joined, error)
	// Abandon removes what was loaded.
	Abandon(ctx context.Context) error
}

// ObjectTarget stores objects.
type ObjectTarget interface {
	Put(ctx context.Context, orgID, key string, body io.Reader, size int64) error
	// Clear deletes all objects of an organization.
	Clear(ctx context.Context, orgID string) error
}

// Arrival is an organization that is imported.
type Arrival struct {
	Header
	// Slug is its slug in this installation.
	Slug string
	// Join adds persons whom the installation knows by their address to the organization. Without
	// it they do not become members.
	Join bool
}

// Joined is a member of the organization, with the result for this installation.
type Joined struct {
	Email string `json:"email"`
	Role  string `json:"role"`
	// State is StateCreated, StateJoined or StateKnown.
	State string `json:"state"`
}

// The states of a Joined.
const (
	// StateCreated is the state of a person who is new in this installation and has no password yet.
	StateCreated = "created"
	// StateJoined is the state of a person whom the installation knew, and who is a member now.
	StateJoined = "joined"
	// StateKnown is the state of a person whom the installation knows, and who is no member.
	StateKnown = "not_joined"
)

// Import reads archives.
type Import struct {
	Target   Target
	Objects  ObjectTarget
	Clock    core.Clock
	Progress func(rows int64, note string)
	// Rollback bounds how long a failed import may take to remove what it stored.
	Rollback time.Duration
}

// Options are what an operator chooses for an import.
type Options struct {
	// Slug is the slug in this installation; "" for the one in the archive.
	Slug string
	// Join is that of [Arrival].
	Join bool
}

// Imported is the result of an import.
type Imported struct {
	Header   Header
	Slug     string
	Manifest Manifest
	People   []Joined
}

// Read imports an archive. The organization is not visible before all rows and objects are stored
// and their sums are those of the manifest. If Read fails, it removes what it stored. If its
// process is killed, nothing is visible, and the next Read of the archive begins anew.
//
// The archive is not trusted: it fails with core.CodeValidationFailed for one that is damaged, that
// another version wrote, or that has something unexpected, and with core.CodeConflict if the
// installation has the organization already.
func (i Import) Read(ctx context.Context, from io.Reader, identities []age.Identity, o Options) (Imported, error) {
	r, err := newReader(from, identities)
	if err != nil {
		return Imported{}, err
	}
	h, err := i.header(ctx, r)
	if err != nil {
		return Imported{}, err
	}
	arrival := Arrival{Header: h, Slug: h.Org.Slug, Join: o.Join}
	if o.Slug != "" {
		arrival.Slug = o.Slug
	}
	if err := i.Target.Begin(ctx, arrival); err != nil {
		return Imported{}, err
	}
	done := Imported{Header: h, Slug: arrival.Slug}
	err = i.Objects.Clear(ctx, h.Org.ID)
	if err == nil {
		done.Manifest, err = i.load(ctx, r, h)
	}
	if err == nil {
		done.People, err = i.Target.Finish(ctx)
	}
	if err == nil {
		return done, nil
	}
	// The context may have ended, which is no reason to leave rows behind.
	rollback, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.Rollback)
	defer cancel()
	return Imported{}, errors.Join(err, i.Objects.Clear(rollback, h.Org.ID), i.Target.Abandon(rollback))
}

// header reads and checks the header.
func (i Import) header(ctx context.Context, r *reader) (Header, error) {
	var h Header
	name, size, err := r.next()
	if err != nil {
		return h, err
	}
	if name != headerName {
		return h, damaged("its first file is not " + headerName)
	}
	content, err := r.content(name, size, maxJSON)
	if err != nil {
		return h, err
	}
	// The version comes first: what another version wrote may have other fields.
	if json.Unmarshal(content, &h) != nil {
		return h, damaged(headerName + " is not as an export writes it")
	}
	schema, err := i.Target.Schema(ctx)
	if err != nil {
		return h, err
	}
	switch {
	case h.Format > Format || h.Format == Format && h.Schema > schema:
		return h, refused(fmt.Sprintf("The archive was written by a newer version of Mailhelm (%.40s).", h.Program), "Update this installation, then import the archive.")
	case h.Format < Format || h.Schema < schema:
		return h, refused(fmt.Sprintf("The archive was written by an older version of Mailhelm (%.40s).", h.Program), "Update the other installation, then export the organization again.")
	case !slices.EqualFunc(h.Tables, i.Target.Tables(), func(a, b Table) bool { return a.Name == b.Name && slices.Equal(a.Columns, b.Columns) }):
		return h, damaged("its tables are not those of this version")
	}
	return h, h.check()
}

// load reads the files after the header.
func (i Import) load(ctx context.Context, r *reader, h Header) (Manifest, error) {
	found := Manifest{}
	sums := newObjectSums()
	next := 0 // the index of the table whose rows follow
	current := newSum()
	part := 0
	end := func(until int) {
		for ; next < until; next++ {
			found.Tables = append(found.Tables, current.table(h.Tables[next].Name))
			current, part = newSum(), 0
		}
	}
	for {
		name, size, err := r.next()
		if err != nil {
			return found, err
		}
		switch {
		case strings.HasPrefix(name, rowsPrefix):
			table, _, _ := strings.Cut(name[len(rowsPrefix):], "/")
			at := slices.IndexFunc(h.Tables, func(t Table) bool { return t.Name == table })
			if at < next || sums.count > 0 {
				return found, damaged(fmt.Sprintf("%.200q is in the wrong place", name))
			}
			end(at)
			if part++; name != partName(table, part) {
				return found, damaged(fmt.Sprintf("%.200q stands where %q must be", name, partName(table, part)))
			}
			if err := i.part(ctx, r, name, table, size, current); err != nil {
				return found, err
			}
			i.Progress(found.Rows()+current.rows, table)
		case strings.HasPrefix(name, objectPrefix):
			end(len(h.Tables))
			if err := i.object(ctx, r, h.Org.ID, name[len(objectPrefix):], size, sums); err != nil {
				return found, err
			}
			i.Progress(found.Rows(), fmt.Sprintf("%d objects", sums.count))
		case name == manifestName:
			end(len(h.Tables))
			found.Objects = sums.sum()
			return found, i.check(r, size, found)
		default:
			return found, damaged(fmt.Sprintf("%.200q is none of its files", name))
		}
	}
}

// part loads a part of the rows of a table.
func (i Import) part(ctx context.Context, r *reader, name, table string, size int64, s *sum) error {
	content, err := r.content(name, size, maxPart)
	if err != nil {
		return err
	}
	if !bytes.HasSuffix(content, []byte("\n")) {
		return damaged(name + " does not end with a line")
	}
	s.hash.Write(content)
	n, err := i.Target.Load(ctx, table, content)
	s.rows += n
	return err
}

// object stores an object.
func (i Import) object(ctx context.Context, r *reader, orgID, key string, size int64, sums *objectSums) error {
	if !strings.HasPrefix(key, orgID+"/") {
		return damaged(fmt.Sprintf("the object %.300q belongs to another organization", key))
	}
	if size > maxObject {
		return damaged(fmt.Sprintf("the object %.300q has more than %d bytes", key, int64(maxObject)))
	}
	sums.begin(key, size)
	return i.Objects.Put(ctx, orgID, key, io.TeeReader(io.LimitReader(r.files, size), sums.hash), size)
}

// check compares the manifest with what was read.
func (i Import) check(r *reader, size int64, found Manifest) error {
	content, err := r.content(manifestName, size, maxJSON)
	if err != nil {
		return err
	}
	var stated Manifest
	if json.Unmarshal(content, &stated) != nil || len(stated.Tables) != len(found.Tables) {
		return damaged(manifestName + " is not as an export writes it")
	}
	for n, t := range found.Tables {
		if t != stated.Tables[n] {
			return damaged("the rows of " + t.Name + " are not those of the manifest")
		}
	}
	if found.Objects != stated.Objects {
		return damaged("the objects are not those of the manifest")
	}
	return r.end()
}
