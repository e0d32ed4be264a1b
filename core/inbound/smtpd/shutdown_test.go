package smtpd_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

// TestShutdownEndsIdleConnections checks that clients without a message in transfer get 421.
func TestShutdownEndsIdleConnections(t *testing.T) {
	t.Parallel()
	m := start(t, smtpd.Config{})
	idle, begun := m.connect(t), m.connect(t)
	begin(t, begun)
	if err := m.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := exchange(t, idle, 421, ""); !hasCode(text, "4.3.2") {
		t.Errorf("idle: %q", text)
	}
	exchange(t, begun, 421, "")
	closed(t, begun)
	if conn, err := net.Dial("tcp", m.addr); err == nil {
		_ = conn.Close()
		t.Error("the server still listens")
	}
	if err := m.Shutdown(t.Context()); err != nil {
		t.Errorf("second Shutdown: %v", err)
	}
}

// TestShutdownFinishesTransfers checks that messages in transfer are received before the
// server ends, and that their connections then get 421.
func TestShutdownFinishesTransfers(t *testing.T) {
	t.Parallel()
	reading := make(chan struct{}, 2)
	m := start(t, smtpd.Config{Intake: &inboundtest.Intake{Before: func(context.Context, inbound.Envelope) error {
		reading <- struct{}{}
		return nil
	}}})
	byData, byChunks := m.connect(t), m.connect(t)
	begin(t, byData)
	exchange(t, byData, 354, "DATA")
	begin(t, byChunks)
	sendRaw(t, byChunks, "BDAT 2\r\nab")
	exchange(t, byChunks, 250, "")
	<-reading
	<-reading
	idle := m.connect(t)
	ended := make(chan error, 1)
	go func() { ended <- m.Shutdown(t.Context()) }()
	exchange(t, idle, 421, "") // the server stops
	sendRaw(t, byData, "hello\r\n.\r\nNOOP\r\n")
	exchange(t, byData, 250, "")
	exchange(t, byData, 421, "")
	sendRaw(t, byChunks, "BDAT 2 LAST\r\ncd")
	exchange(t, byChunks, 250, "")
	exchange(t, byChunks, 421, "")
	if err := <-ended; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if n := len(m.intake.Received()); n != 2 {
		t.Errorf("%d messages were received, want 2", n)
	}
}

// TestShutdownIsBounded checks that a transfer and an intake that do not end are cut off, and
// that the context of the intake ends.
func TestShutdownIsBounded(t *testing.T) {
	t.Parallel()
	storing, canceled := make(chan struct{}), make(chan struct{})
	m := start(t, smtpd.Config{Intake: &inboundtest.Intake{After: func(ctx context.Context, _ inbound.Envelope) error {
		close(storing)
		<-ctx.Done()
		close(canceled)
		return ctx.Err()
	}}})
	transferring, stuck := m.connect(t), m.connect(t)
	begin(t, transferring)
	exchange(t, transferring, 354, "DATA")
	begin(t, stuck)
	exchange(t, stuck, 354, "DATA")
	sendRaw(t, stuck, ".\r\n")
	<-storing
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v, want that of the context", err)
	}
	<-canceled
	if code, _, err := stuck.ReadResponse(250); err == nil || code == 250 {
		t.Error("the message was accepted")
	}
	if n := len(m.intake.Received()); n != 0 {
		t.Errorf("%d messages were received", n)
	}
}
