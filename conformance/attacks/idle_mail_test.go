package attacks_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestIdleMailConnectionsKeepNoMailOut takes all 256 places of the mail server from eight
// networks, with clients that send nothing, a part of a command, or commands without a message.
// Mail of another network must arrive within seconds, and so must that of a client that had
// connected before.
func TestIdleMailConnectionsKeepNoMailOut(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	in := mintInbox(t, p, "")
	early := dialMail(t, p).begin(t)
	if code := early.deliver("a@acme.example", in.Address, "first"); code != 250 {
		t.Fatalf("before the connections: %d", code)
	}
	for n := range 256 {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(n%8)+1, 1)}, Timeout: 20 * time.Second}
		conn, err := from.DialContext(t.Context(), "tcp", p.SMTPAddr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // the test is over
		if _, err := io.WriteString(conn, []string{"", "EHL", "EHLO a\r\nMAIL FROM:<>\r\n"}[n%3]); err != nil {
			t.Fatal(err)
		}
	}
	late := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 100, 1)}}
	conn, err := late.DialContext(t.Context(), "tcp", p.SMTPAddr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the test is over
	if code := mailClientOf(t, conn).begin(t).deliver("a@acme.example", in.Address, "late"); code != 250 {
		t.Errorf("mail of another network: %d", code)
	}
	if code := early.deliver("a@acme.example", in.Address, "second"); code != 250 {
		t.Errorf("mail on the connection that delivered before: %d", code)
	}
	if got := subjects(t, p, in, 3); len(got) != 3 {
		t.Errorf("the inbox has %q", got)
	}
}
