package serve

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/senders"
)

// newVerifiedSenders returns the value that verifies the mailboxes of people. Its codes leave
// through the operator's mail server only.
func newVerifiedSenders(cfg config.Config, s *stores) *senders.Senders {
	return senders.New(senders.Config{
		Store: s.db.VerifiedSenders(), Starts: s.db.SenderStarts(), Transactor: s.db, Queue: s.queue, Letters: s.letters,
		Orgs: s.db.Orgs(), People: s.db.Users(), CodeKey: s.senderCodes, Clock: cfg.Clock,
	})
}
