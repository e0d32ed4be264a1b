package tools_test

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/mailhelm/mailhelm/core"
)

// probes are test operations. All except unlistedOperation have the names of real tools.
// The endpoint treats each of them in a different way. The counters say how often an
// operation was executed.
type probes struct {
	upserts, archives, sends atomic.Int64
	entered                  chan struct{} // sent when contacts_set_list_membership begins
	// receives the context's error when the context of the blocking operation ends
	ended      chan error
	recipients atomic.Int64 // number of recipients of the broadcast
	text       atomic.Value // the note that contacts_lookup returns
}

func newProbes() *probes {
	p := &probes{entered: make(chan struct{}, 1), ended: make(chan error, 1)}
	p.recipients.Store(12)
	p.text.Store("plain")
	return p
}

type emailIn struct {
	Email string `json:"email" jsonschema:"format=email,maxLength=320" jsonschema_description:"Address."`
}

type contactOut struct {
	Email  string `json:"email"`
	Note   string `json:"note,omitempty"`
	Writes int64  `json:"writes"`
}

type nothingIn struct{}

type broadcastIn struct {
	ID string `json:"broadcast_id" jsonschema_description:"The broadcast."`
}

type broadcastOut struct {
	Status string `json:"status" jsonschema_description:"What became of it."`
}

type broadcastPreview struct {
	Recipients int64 `json:"recipients"`
}

func (p *probes) operations() []core.Operation {
	return []core.Operation{p.lookup(), p.upsert(), p.archive(), p.membership(), p.schema(), p.send(), p.unlistedOperation()}
}

// lookup returns a test operation with the name contacts_lookup that only reads.
func (p *probes) lookup() core.Operation {
	return core.Declare(core.Op[emailIn, contactOut]{
		Name: "contacts_lookup", Title: "Look a contact up", Purpose: "Reads.", Effect: core.Reads,
		Scopes: []core.Scope{core.ContactsView}, ArgumentScopes: map[string]core.Scope{"secret": core.MessagesUnmask},
		Do: func(_ context.Context, _ *core.Call, in emailIn) (contactOut, error) {
			if in.Email == "nobody@example.com" {
				return contactOut{}, core.NotFound("contact")
			}
			return contactOut{Email: in.Email, Note: p.text.Load().(string)}, nil
		},
	})
}

// upsert returns contacts_upsert as an operation that writes.
func (p *probes) upsert() core.Operation {
	return core.Declare(core.Op[emailIn, contactOut]{
		Name: "contacts_upsert", Title: "Upsert", Purpose: "Writes.", Effect: core.Writes,
		Scopes: []core.Scope{core.ContactsManage},
		Do: func(_ context.Context, _ *core.Call, in emailIn) (contactOut, error) {
			return contactOut{Email: in.Email, Writes: p.upserts.Add(1)}, nil
		},
	})
}

// archive returns a test operation contacts_archive that is declared as destructive.
func (p *probes) archive() core.Operation {
	return core.Declare(core.Op[emailIn, contactOut]{
		Name: "contacts_archive", Title: "Archive", Purpose: "Destroys.", Effect: core.Destroys,
		Scopes: []core.Scope{core.ContactsManage},
		Do: func(_ context.Context, _ *core.Call, in emailIn) (contactOut, error) {
			return contactOut{Email: in.Email, Writes: p.archives.Add(1)}, nil
		},
	})
}

// membership returns contacts_set_list_membership as an operation that blocks until its
// context ends.
func (p *probes) membership() core.Operation {
	return core.Declare(core.Op[nothingIn, contactOut]{
		Name: "contacts_set_list_membership", Title: "Block", Purpose: "Blocks.", Effect: core.Reads,
		Scopes: []core.Scope{core.ContactsManage, core.ListsView},
		Do: func(ctx context.Context, _ *core.Call, _ nothingIn) (contactOut, error) {
			p.entered <- struct{}{}
			<-ctx.Done()
			p.ended <- ctx.Err()
			return contactOut{}, ctx.Err()
		},
	})
}

// schema returns audience_get_schema as an operation that panics.
func (p *probes) schema() core.Operation {
	return core.Declare(core.Op[nothingIn, contactOut]{
		Name: "audience_get_schema", Title: "Panic", Purpose: "Panics.", Effect: core.Reads,
		Scopes: []core.Scope{core.AttributesView, core.TopicsView},
		Do: func(context.Context, *core.Call, nothingIn) (contactOut, error) {
			panic("secret of the inside")
		},
	})
}

// send returns the test operation broadcasts_send, which needs a confirmation and declares
// that it reaches people.
func (p *probes) send() core.Operation {
	return core.Declare(core.Op[broadcastIn, broadcastOut]{
		Name: "broadcasts_send", Title: "Send", Purpose: "Sends.", Effect: core.Destroys, ReachesPeople: true,
		Scopes: []core.Scope{core.BroadcastsManage},
		Confirm: func(context.Context, *core.Call, broadcastIn) (*core.Confirmation, error) {
			n := p.recipients.Load()
			return &core.Confirmation{Message: "This sends to " + strconv.FormatInt(n, 10) + " people.", Preview: broadcastPreview{n}}, nil
		},
		Do: func(context.Context, *core.Call, broadcastIn) (broadcastOut, error) {
			p.sends.Add(1)
			return broadcastOut{Status: "sending"}, nil
		},
	})
}

// unlistedOperation returns an operation whose name is not in [tools.Table], so that it
// must not be served as a tool.
func (p *probes) unlistedOperation() core.Operation {
	return core.Declare(core.Op[nothingIn, contactOut]{
		Name: "contacts_create", Purpose: "Only over REST.", Effect: core.Writes,
		Scopes: []core.Scope{core.ContactsManage},
		Do: func(context.Context, *core.Call, nothingIn) (contactOut, error) {
			return contactOut{}, nil
		},
	})
}
