package demo

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/mailhelm/mailhelm/core/letters"
)

// mailbox shows the mail that the server sends to people, such as codes and links, in the
// terminal in which the demo runs. The demo has no mail server, and nothing leaves the machine.
type mailbox struct {
	mu  sync.Mutex
	out io.Writer
}

// Send prints a letter.
func (m *mailbox) Send(_ context.Context, l letters.Letter) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := fmt.Fprintf(m.out, "\n--- Mail of this server, not sent ---\nTo: %s\nSubject: %s\n\n%s---\n", l.To, l.Subject, l.Text)
	return err
}
