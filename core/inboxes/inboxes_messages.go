package inboxes

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// MessagesIn has the inbox, the cursor and the wait of a poll.
type MessagesIn struct {
	ID    string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the inbox."`
	After int    `json:"after,omitempty" jsonschema:"minimum=0,maximum=9007199254740991,default=0" jsonschema_description:"Cursor of the previous answer. 0 returns all messages."`
	Wait  int    `json:"wait,omitempty" jsonschema:"minimum=0,maximum=25,default=0" jsonschema_description:"Seconds to wait for a message if there is none. The timeout of your client must be longer."`
	Match
}

func (x *Inboxes) inboxesMessages() core.Operation {
	return core.Declare(core.Op[MessagesIn, Arrived]{
		Name:  "inboxes_messages",
		Title: "Wait for messages of an inbox",
		Purpose: "Reads the messages of a temporary inbox after a cursor, oldest first. With `wait`, it waits up to 25 seconds for the first. " +
			"Returns the messages with their bodies, one-time codes and links, and links to their attachments. It does not mark messages as read: keep the cursor.",
		Example: `{"id": "` + exampleID + `", "wait": 20, "match_subject": "code"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Waits:   true,
		Scopes:  []core.Scope{core.InboxesView},
		Fails:   []core.Code{core.CodeNotFound, core.CodeInboxExpired},
		Do: func(ctx context.Context, c *core.Call, in MessagesIn) (Arrived, error) {
			find := func(ctx context.Context) (Inbox, error) { return x.visible(ctx, c.Principal, in.ID) }
			q := Query{After: in.After, Wait: time.Duration(in.Wait) * time.Second, Match: in.Match}
			return (&poll{x: x.Reader, q: q, find: find, ended: func(s Status) error { return errEnded(s) }}).run(ctx)
		},
	})
}
