package incoming

import (
	"context"
	"log/slog"
	"time"
)

// announceTime bounds one notice.
const announceTime = 5 * time.Second

// Accepted passes notices about accepted messages between the processes on a database.
type Accepted interface {
	// Announce tells the processes that process mail that there is some.
	Announce(ctx context.Context) error
	// Follow calls wake for each notice until ctx ends.
	Follow(ctx context.Context, wake func())
}

// announcer announces accepted messages in a process that does not process them. Messages that are
// accepted during one notice share the next.
type announcer struct {
	accepted Accepted
	pending  chan struct{}
	log      *slog.Logger
}

func newAnnouncer(accepted Accepted, log *slog.Logger) *announcer {
	return &announcer{accepted, make(chan struct{}, 1), log}
}

// wake lets follow announce. It does not block.
func (a *announcer) wake() {
	select {
	case a.pending <- struct{}{}:
	default: // a notice follows anyway
	}
}

// follow announces until ctx ends.
func (a *announcer) follow(ctx context.Context) {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.pending:
		}
		bounded, cancel := context.WithTimeout(ctx, announceTime)
		err := a.accepted.Announce(bounded)
		cancel()
		if err != nil && ctx.Err() == nil && !failing {
			a.log.WarnContext(ctx, "workers were not notified of received mail, and see it within a second", "error", err)
		}
		failing = err != nil
	}
}
