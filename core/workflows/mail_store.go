package workflows

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

// MailStore stores the messages of runs, beside the recipients of package handover. Except for
// OpenSends, every method sees only the given organization; all take part in the transaction of
// the context.
type MailStore interface {
	// AddMails stores messages and their recipients. It creates the sends that do not exist.
	AddMails(ctx context.Context, orgID string, mails []Mail, now time.Time) error
	// Mailed returns the times of the messages of workflows to contacts since the time, without
	// those that were filtered or failed, by contact.
	Mailed(ctx context.Context, orgID string, contactIDs []string, since time.Time) (map[string][]time.Time, error)
	// OpenSends returns up to limit sends of all organizations with messages without an
	// outcome, in random order.
	OpenSends(ctx context.Context, limit int) ([]OpenSend, error)
	// Send returns a send with the status of its workflow, and locks the workflow in a
	// transaction. It fails with core.CodeNotFound if there is none.
	Send(ctx context.Context, orgID, sendID string) (Send, error)
	// Recipients returns the contacts of messages as they are now, by the keys of the messages.
	// It skips contacts that were deleted.
	Recipients(ctx context.Context, orgID string, of Send, keys []string) (map[string]Recipient, error)
	// Settle stores the outcomes of up to limit messages of a send that have one. Their runs
	// continue at once, and failed and filtered ones get an event. It returns their number. It
	// runs in a transaction of its own.
	Settle(ctx context.Context, orgID, sendID string, now time.Time, limit int) (int, error)
	// Correct stores that messages were sent which are stored as failed, if their recipients
	// have been found to be sent since. Other messages stay as they are. Their runs have
	// continued at the failure, and their timelines keep it.
	Correct(ctx context.Context, orgID string, mails []MailRef) error
}

// MailRef names a message.
type MailRef struct{ SendID, Key string }

// Send is the messages of one send step of a version of a workflow.
type Send struct {
	ID, WorkflowID string
	Version        int
	Path           string
	Template       string
	Topic          string
	Transactional  bool
	// Status is that of the workflow. Only Send of [MailStore] sets it.
	Status Status
}

// Mail is a message of a run.
type Mail struct {
	// Key is the key of the recipient in package handover.
	Key       string
	Send      Send
	RunID     string
	ContactID string
	Email     string
}

// OpenSend names a send with messages without an outcome.
type OpenSend struct{ OrgID, SendID string }

// Recipient is the contact of a message as it is now.
type Recipient struct {
	ContactID, Email string
	// Attributes is a JSON object.
	Attributes json.RawMessage
	// Tier and Reason say why the contact must not get the message, "" if nothing is against
	// it.
	Tier   engine.Tier
	Reason engine.Reason
}

// SendID returns the id of the send of a step. It is the same for all runs of the version.
func SendID(workflowID string, version int, path string) string {
	return uuid.NewSHA1(sendSpace, fmt.Appendf(nil, "%s %d %s", workflowID, version, path)).String()
}

// sendSpace is the namespace of the ids of sends, see RFC 9562, section 5.5.
var sendSpace = uuid.MustParse("5a0f6a31-59a4-4c6e-9c36-6b6b5d0c4d1e")
