package smtpd

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
)

// TestLogHasNoClientAddress checks that the client's network address does not reach the log
// through an argument or an error of the SMTP library.
func TestLogHasNoClientAddress(t *testing.T) {
	t.Parallel()
	client := &net.TCPAddr{IP: net.IPv4(203, 0, 113, 7), Port: 40000}
	failed := fmt.Errorf("reading: %w", &net.OpError{Op: "read", Net: "tcp", Addr: client, Err: errors.New("i/o timeout")})
	var out bytes.Buffer
	log := &errorLog{slog.New(slog.NewTextHandler(&out, nil))}
	log.Printf("error handling %v: %s", client, failed)
	log.Println("error handling", client, failed)
	if text := out.String(); strings.Contains(text, "203.0.113.7") || strings.Count(text, "i/o timeout") != 2 || strings.Count(text, "client") != 2 {
		t.Errorf("the log has:\n%s", text)
	}
}
