package clamd_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/clamd"
	"github.com/mailhelm/mailhelm/core/inbound/scanning/scanningtest"
)

func scan(t *testing.T, c *clamd.Client, message string) (inbound.Finding, error) {
	t.Helper()
	return c.Scan(t.Context(), inbound.Envelope{}, strings.NewReader(message), int64(len(message)))
}

// withAttachment returns a message with an attachment.
func withAttachment(content string) string {
	return "From: a@example.com\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/plain\r\n\r\nHello\r\n" +
		"--b\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n" +
		"Content-Disposition: attachment; filename=a.com\r\n\r\n" +
		base64.StdEncoding.EncodeToString([]byte(content)) + "\r\n--b--\r\n"
}

// TestClamd judges messages by the real clamd, over both kinds of sockets.
func TestClamd(t *testing.T) {
	t.Parallel()
	server := scanningtest.StartClamd(t)
	pass := inbound.Finding{Verdict: inbound.Pass}
	marker := inbound.Finding{Verdict: inbound.Fail, Reason: scanningtest.MarkerName}
	eicar := inbound.Finding{Verdict: inbound.Fail, Reason: scanningtest.EICARName}
	for network, client := range map[string]*clamd.Client{
		"tcp": clamd.New("tcp", server.TCP), "unix": clamd.New("unix", server.Socket),
	} {
		for name, tc := range map[string]struct {
			message string
			want    inbound.Finding
		}{
			"empty":                {"", pass},
			"ordinary":             {"Subject: Hello\r\n\r\nHow are you?\r\n", pass},
			"attachment":           {withAttachment("harmless"), pass},
			"marker":               {"Subject: Hello\r\n\r\n" + scanningtest.MalwareMarker, marker},
			"marker in attachment": {withAttachment("zz" + scanningtest.MalwareMarker), marker},
			"EICAR":                {scanningtest.EICAR(), eicar},
			"EICAR in attachment":  {withAttachment(scanningtest.EICAR()), eicar},
			// The marker is in two chunks.
			"marker across chunks": {strings.Repeat("x", 64<<10-10) + scanningtest.MalwareMarker, marker},
			"largest":              {strings.Repeat("x", scanningtest.MaxStream-len(scanningtest.MalwareMarker)) + scanningtest.MalwareMarker, marker},
		} {
			t.Run(network+"/"+name, func(t *testing.T) {
				t.Parallel()
				got, err := scan(t, client, tc.message)
				if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		}
		t.Run(network+"/too large", func(t *testing.T) {
			t.Parallel()
			// On TCP, the answer can be lost with the reset of the connection: any error will do.
			got, err := scan(t, client, strings.Repeat("x", 16<<20))
			if err == nil || network == "unix" && !errors.Is(err, inbound.ErrTooLarge) {
				t.Errorf("%+v, %v, want %v", got, err, inbound.ErrTooLarge)
			}
		})
		t.Run(network+"/unreadable", func(t *testing.T) {
			t.Parallel()
			for _, fault := range []error{io.ErrClosedPipe, io.ErrUnexpectedEOF} {
				raw := io.MultiReader(strings.NewReader("Subject: Hello\r\n"), iotest.ErrReader(fault))
				if got, err := client.Scan(t.Context(), inbound.Envelope{}, raw, 100); !errors.Is(err, fault) {
					t.Errorf("%+v, %v, want %v", got, err, fault)
				}
			}
		})
		t.Run(network+"/ping", func(t *testing.T) {
			t.Parallel()
			if err := client.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// fake starts a server with a handler of connections in the place of clamd. The connection is
// closed when the handler ends.
func fake(t *testing.T, handler func(conn net.Conn)) *clamd.Client {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close() //nolint:errcheck // the client may have gone
				handler(conn)
			}()
		}
	}()
	return clamd.New("tcp", l.Addr().String())
}

// readStream reads a command, and the message of INSTREAM.
func readStream(conn net.Conn) (command, message string) {
	var text strings.Builder
	var b [1]byte
	for {
		if _, err := io.ReadFull(conn, b[:]); err != nil || b[0] == 0 {
			break
		}
		command += string(b[:])
	}
	for command == "zINSTREAM" {
		var length uint32
		if err := binary.Read(conn, binary.BigEndian, &length); err != nil || length == 0 {
			break
		}
		chunk := make([]byte, length)
		if _, err := io.ReadFull(conn, chunk); err != nil {
			break
		}
		text.Write(chunk)
	}
	return command, text.String()
}

// answering returns a client of a server that reads everything and gives one answer.
func answering(t *testing.T, answer string) *clamd.Client {
	t.Helper()
	return fake(t, func(conn net.Conn) {
		readStream(conn)
		_, _ = io.WriteString(conn, answer) // the client may have gone
	})
}

// TestStream checks that a message arrives as it is, whatever the sizes of its reads.
func TestStream(t *testing.T) {
	t.Parallel()
	messages := make(chan string, 1)
	client := fake(t, func(conn net.Conn) {
		command, message := readStream(conn)
		messages <- command + " " + message
		_, _ = io.WriteString(conn, "stream: OK\x00")
	})
	text := strings.Repeat("0123456789", 20_000)
	for name, raw := range map[string]io.Reader{
		"at once": strings.NewReader(text), "halves": iotest.HalfReader(strings.NewReader(text)),
		"end with data": iotest.DataErrReader(strings.NewReader(text)), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
	} {
		got, err := client.Scan(t.Context(), inbound.Envelope{}, raw, int64(len(text)))
		if message := <-messages; err != nil || got.Verdict != inbound.Pass || message != "zINSTREAM "+text {
			t.Errorf("%s: %+v, %v, %d bytes arrived", name, got, err, len(message))
		}
	}
}

// TestAnswers checks what answers mean, and that every other answer is an error.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]inbound.Finding{
		"stream: OK\x00":                                     {Verdict: inbound.Pass},
		"stream: OK\x00 and more":                            {Verdict: inbound.Pass},
		"stream: Win.Test\x1b[31m-1 FOUND FOUND\x00":         {Verdict: inbound.Fail, Reason: "Win.Test[31m-1 FOUND"},
		"stream: " + strings.Repeat("ü", 300) + " FOUND\x00": {Verdict: inbound.Fail, Reason: strings.Repeat("ü", 200)},
	} {
		got, err := scan(t, answering(t, answer), "raw")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", answer, err, diff)
		}
	}
	if _, err := scan(t, answering(t, "INSTREAM size limit exceeded. ERROR\x00"), "raw"); !errors.Is(err, inbound.ErrTooLarge) {
		t.Errorf("%v, want %v", err, inbound.ErrTooLarge)
	}
	for answer, says := range map[string]string{
		"":                    "closed after 0 bytes",
		"stream: OK":          "closed after 10 bytes",
		"stream: X FOUND":     "closed after 15 bytes",
		"\x00":                `the answer is ""`,
		"OK\x00":              `"OK"`,
		"X FOUND\x00":         `"X FOUND"`,
		"stream: ok\x00":      `"stream: ok"`,
		"stream: OK \x00":     `"stream: OK "`,
		"stream: OK\r\n\x00":  "",
		"UNKNOWN COMMAND\x00": `"UNKNOWN COMMAND"`,
		"stream: Can't allocate memory ERROR\x00":              "memory ERROR",
		strings.Repeat("x", 10<<20):                            "larger than",
		"stream: " + strings.Repeat("x", 1<<20) + " FOUND\x00": "larger than",
	} {
		client := answering(t, answer)
		got, err := scan(t, client, "raw")
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.50q: %+v, %v, want an error with %q", answer, got, err, says)
		}
		if err := client.Ping(t.Context()); err == nil {
			t.Errorf("%.50q: accepted as the answer to a ping", answer)
		}
	}
}

// TestEarlyAnswers checks that an answer before the end of the message does not count, except
// for the one about its size.
func TestEarlyAnswers(t *testing.T) {
	t.Parallel()
	message := strings.Repeat("x", 16<<20)
	for answer, want := range map[string]string{
		"stream: OK\x00":                          "before the end",
		"stream: X FOUND\x00":                     "before the end",
		"INSTREAM size limit exceeded. ERROR\x00": inbound.ErrTooLarge.Error(),
		"": "",
	} {
		scanned := make(chan struct{})
		client := fake(t, func(conn net.Conn) {
			_, _ = io.WriteString(conn, answer)
			if answer != "" {
				<-scanned // the connection stays open
			}
		})
		got, err := scan(t, client, message)
		close(scanned)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want an error with %q", answer, got, err, want)
		}
	}
}

// TestGone checks the errors without a server.
func TestGone(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, client := range []*clamd.Client{clamd.New("tcp", l.Addr().String()), clamd.New("unix", filepath.Join(t.TempDir(), "none"))} {
		if got, err := scan(t, client, "raw"); err == nil {
			t.Errorf("%+v, want an error", got)
		}
		if err := client.Ping(t.Context()); err == nil {
			t.Error("the ping was answered")
		}
	}
}

// TestScanEndsWithContext checks that a server that does not answer is left at the end of the
// context, while the message is sent and afterwards.
func TestScanEndsWithContext(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"after the message": 3, "in the message": 16 << 20} {
		arrived, released := make(chan struct{}), make(chan struct{})
		client := fake(t, func(net.Conn) {
			close(arrived)
			<-released
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		_, err := client.Scan(ctx, inbound.Envelope{}, strings.NewReader(strings.Repeat("x", size)), int64(size))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		close(released)
	}
}
