package engine

import (
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// refusingServer listens on the loopback and answers each start of a PostgreSQL session
// with one message. It returns the host and port.
func refusingServer(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // at the end of the test
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			var size [4]byte
			if _, err := io.ReadFull(conn, size[:]); err == nil {
				_, _ = io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(size[:]))-4)
				_, _ = io.WriteString(conn, answer)
			}
			conn.Close() //nolint:errcheck // it has the answer
		}
	}()
	return l.Addr().String()
}

// refusal returns an ErrorResponse of PostgreSQL with a SQLSTATE.
func refusal(state string, words ...string) string {
	fields := "SFATAL\x00VFATAL\x00C" + state + "\x00Mrefused " + strings.Join(words, " ") + "\x00\x00"
	return "E" + string(binary.BigEndian.AppendUint32(nil, uint32(len(fields)+4))) + fields
}

func TestRefusedPostgresSaysWhatToCheck(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close() //nolint:errcheck // only its port is used
	for name, tc := range map[string]struct{ host, query, says string }{
		"nothing listens":  {closed.Addr().String(), "sslmode=disable", "PostgreSQL runs, that it listens on " + closed.Addr().String()},
		"wrong password":   {refusingServer(t, refusal("28P01")), "sslmode=disable", "the user or the password in the database URL"},
		"not admitted":     {refusingServer(t, refusal("28000")), "sslmode=disable", "pg_hba.conf"},
		"not encrypted":    {refusingServer(t, refusal("28000", "no pg_hba.conf entry for host, no encryption")), "sslmode=disable", "sslmode=require"},
		"missing database": {refusingServer(t, refusal("3D000")), "sslmode=disable", "create the database"},
		"no TLS":           {refusingServer(t, "N"), "sslmode=require", "sslmode=disable"},
		"too many":         {refusingServer(t, refusal("53300")), "sslmode=disable", "max_connections"},
		"another program":  {refusingServer(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), "sslmode=disable", "check"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := Open(t.Context(), Config{URL: "postgres://ann:hunter2@" + tc.host + "/mail?" + tc.query})
			if err == nil {
				t.Fatal(db.Close())
			}
			if !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want it to say %q", err, tc.says)
			}
		})
	}
}

// TestUntrustedCertificatesNameTheSetting checks the advice for a server whose certificate is not
// trusted.
func TestUntrustedCertificatesNameTheSetting(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		x509.UnknownAuthorityError{}, x509.HostnameError{Certificate: &x509.Certificate{}, Host: "db"}, x509.CertificateInvalidError{},
	} {
		if hint := refusalHint(fmt.Errorf("open: %w", err), "db:5432"); !strings.Contains(hint, "sslrootcert=FILE") || !strings.Contains(hint, "sslmode=require") {
			t.Errorf("%T: %s", err, hint)
		}
	}
}
